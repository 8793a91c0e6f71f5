import { Alert, Button, Group, Stack, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { CopyField } from "../../parts/copy-field.tsx";
import { saveFile } from "../../save-file.ts";

/** The last step of a dialog: the codes, which nobody can show again. */
export function RecoveryCodes({
	email,
	codes,
	onDone,
}: {
	email: string;
	codes: readonly string[];
	onDone: () => void;
}) {
	const text = codes.join("\n");
	const download = () =>
		saveFile(
			"assay-recovery-codes.txt",
			new Blob(
				[
					`Recovery codes for ${email} at ${location.origin}. Each signs in once in place of the authenticator's code.\n\n${text}\n`,
				],
				{ type: "text/plain" },
			),
		);
	return (
		<Stack>
			<Text size="sm">
				Each of these codes signs you in once when the authenticator is not at
				hand. Keep them where you keep passwords, not on the same phone.
			</Text>
			<Alert color="yellow" variant="outline" title="Keep them now">
				They are shown once; nobody can show them again.
			</Alert>
			<CopyField label="Recovery codes" value={text} />
			<Group justify="flex-end">
				<Button
					variant="default"
					leftSection={<IconDownload size={16} aria-hidden />}
					onClick={download}
				>
					Download
				</Button>
				<Button onClick={onDone}>I have kept them</Button>
			</Group>
		</Stack>
	);
}
