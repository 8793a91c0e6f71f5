import { Button, Checkbox, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, call } from "../../api.ts";
import { DownloadFrame } from "../../parts/download-frame.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FIELD_LABELS } from "../../parts/field-labels.ts";

/** Lets an administrator download the organization as one file. */
export function ExportOrganization({
	organization: { id },
}: {
	organization: { id: string };
}) {
	const [hasFiles, setHasFiles] = useState(true);
	const [hasReports, setHasReports] = useState(true);
	const [recipient, setRecipient] = useState("");
	const [refusal, setRefusal] = useState<ApiError>();
	const exporting = useMutation({
		mutationFn: () =>
			call("exportOrganization", {
				organization_id: id,
				...(recipient.trim() && { recipient: recipient.trim() }),
				leaves_out: [
					...(hasFiles ? [] : (["files"] as const)),
					...(hasReports ? [] : (["reports"] as const)),
				],
			}),
		onMutate: () => setRefusal(undefined),
	});
	const error = exporting.error ?? refusal;
	const wrongKey =
		error instanceof ApiError &&
		error.fields.find(({ field }) => field === "recipient");
	return (
		<Stack>
			<Text size="sm">
				Save the organization in one file. The people who run another
				installation of Assay can import it there with its registers, documents,
				devices, history and audit log. Passwords, tokens and keys are not in
				the file, so devices enroll again, and members are invited again.
			</Text>
			<Text size="sm">
				Without a public key below, the file is not encrypted, and everybody who
				has it can read it. Its checksum shows damage, but not who wrote the
				file. Send it to the other installation in a way that both sides trust.
			</Text>
			{error && !wrongKey && (
				<ErrorState error={error} title="Nothing was exported" />
			)}
			<Checkbox
				label="With the files of evidence"
				checked={hasFiles}
				onChange={(event) => setHasFiles(event.currentTarget.checked)}
			/>
			<Checkbox
				label="With the raw reports of devices"
				description="They may be most of the file. Without them, the history of every check is still complete."
				checked={hasReports}
				onChange={(event) => setHasReports(event.currentTarget.checked)}
			/>
			<TextInput
				label={FIELD_LABELS.organization.encrypted_for}
				description="A key of age, such as age1…, from the person who imports the file. Optional."
				value={recipient}
				onChange={(event) => setRecipient(event.currentTarget.value)}
				error={wrongKey ? `It ${wrongKey.message}` : undefined}
				autoComplete="off"
				spellCheck={false}
			/>
			{exporting.isSuccess && (
				<DownloadFrame
					path={exporting.data.download_path}
					title="Download of the organization"
					onRefused={setRefusal}
				/>
			)}
			<Group justify="space-between">
				<Text size="sm" c="dimmed" role="status">
					{exporting.isSuccess &&
						!refusal &&
						"The download has begun. The audit log says that you exported the organization."}
				</Text>
				<Button
					variant="default"
					loading={exporting.isPending}
					onClick={() => exporting.mutate()}
				>
					Export the organization
				</Button>
			</Group>
		</Stack>
	);
}
