import { Button, Group, Stack, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { SecretOnce } from "../../parts/copy-field.tsx";
import { saveFile } from "../../save-file.ts";

/** Shows the recovery codes as the last step of a dialog. They cannot be shown again. */
export function RecoveryCodes({
	email,
	codes,
	onDone,
}: {
	email: string;
	codes: readonly string[];
	onDone: () => void;
}) {
	const download = () =>
		saveFile(
			"assay-recovery-codes.txt",
			new Blob(
				[
					`Recovery codes for ${email} at ${location.origin}. Each code signs in once, with the password, instead of the second factor.\n\n${codes.join("\n")}\n`,
				],
				{ type: "text/plain" },
			),
		);
	return (
		<Stack>
			<Text size="sm">
				Each code signs you in once when you do not have your second factor.
				Keep the codes with your passwords, not on the same phone.
			</Text>
			<SecretOnce label="Recovery codes" value={codes} />
			<Group justify="flex-end">
				<Button
					variant="default"
					leftSection={<IconDownload size={16} aria-hidden />}
					onClick={download}
				>
					Download
				</Button>
				<Button onClick={onDone}>I have saved them</Button>
			</Group>
		</Stack>
	);
}
