import { Button, Checkbox, Group, Stack, Text } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api.ts";
import { ErrorState } from "../../parts/error-state.tsx";

/** Lets an administrator download the organization as one file. */
export function ExportOrganization({
	organization: { id },
}: {
	organization: { id: string };
}) {
	const [hasFiles, setHasFiles] = useState(true);
	const [hasReports, setHasReports] = useState(true);
	const exporting = useMutation({
		mutationFn: () =>
			call("exportOrganization", {
				organization_id: id,
				leaves_out: [
					...(hasFiles ? [] : (["files"] as const)),
					...(hasReports ? [] : (["reports"] as const)),
				],
			}),
		onSuccess: ({ download_path }) => {
			// The browser writes the file to the disk as it arrives.
			const link = document.createElement("a");
			link.href = download_path;
			link.download = "";
			link.click();
		},
	});
	return (
		<Stack>
			<Text size="sm">
				Save the organization in one file. Whoever runs another installation of
				Assay can import it there with its registers, documents, devices,
				history and audit log. Passwords, tokens and keys are not in the file,
				so devices enroll anew, and members are invited again. Keep the file as
				carefully as the organization.
			</Text>
			{exporting.error && (
				<ErrorState error={exporting.error} title="Nothing was exported" />
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
			<Group justify="space-between">
				<Text size="sm" c="dimmed" role="status">
					{exporting.isSuccess &&
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
