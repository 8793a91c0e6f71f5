import { Stack, Text } from "@mantine/core";
import { SecretOnce } from "../../parts/copy-field.tsx";
import { type SaveOnce, SaveOnceButtons } from "../../parts/save-once.tsx";
import { saveFile } from "../../save-file.ts";

/** Shows the recovery codes as the last step of a dialog. They cannot be shown again. */
export function RecoveryCodes({
	email,
	codes,
	once,
}: {
	email: string;
	codes: readonly string[];
	once: SaveOnce;
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
			<SaveOnceButtons
				secrets="codes"
				consequence="Nobody can show them again. You would have to make new ones."
				once={once}
				save={{ label: "Download", onClick: download }}
			/>
		</Stack>
	);
}
