import { Button, Checkbox, Group, Stack, Text, TextInput } from "@mantine/core";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, call } from "../api.ts";
import { useOrganization } from "../organization.ts";
import { todayHere } from "./days.ts";
import { Dialog } from "./dialog.tsx";
import { DownloadFrame } from "./download-frame.tsx";
import { ErrorState } from "./error-state.tsx";

/** The record of an audit, as far as its package needs it. */
interface Audit {
	id: string;
	valid_from: string | null;
	valid_until: string | null;
}

/** Lets an administrator download the package of an audit, or of a period, for an auditor. */
export function AuditPackage({
	audit,
	onClose,
}: {
	audit?: Audit;
	onClose: () => void;
}) {
	const { organizationId } = useOrganization();
	const today = todayHere();
	// A certificate is valid for years to come, and the package shows what has been.
	const end = [audit?.valid_until ?? today, today].sort()[0] ?? today;
	const [from, setFrom] = useState(
		[audit?.valid_from ?? `${end.slice(0, 4)}-01-01`, end].sort()[0] ?? end,
	);
	const [until, setUntil] = useState(end);
	const [hasFiles, setHasFiles] = useState(true);
	const [refusal, setRefusal] = useState<ApiError>();
	const exporting = useMutation({
		mutationFn: () =>
			call("exportAuditPackage", {
				organization_id: organizationId,
				...(audit && { audit_id: audit.id }),
				from,
				until,
				with_files: hasFiles,
			}),
		onMutate: () => setRefusal(undefined),
	});
	const error = exporting.error ?? refusal;
	const issueOf = (name: string) => {
		const issue =
			error instanceof ApiError &&
			error.fields?.find(({ field }) => field === name);
		return issue ? `It ${issue.message}` : undefined;
	};
	const isInField = issueOf("from") ?? issueOf("until");
	return (
		<Dialog opened onClose={onClose} title="Audit package" size="lg">
			<form
				noValidate
				onSubmit={(event) => {
					event.preventDefault();
					if (!exporting.isPending) exporting.mutate();
				}}
			>
				<Stack>
					<Text size="sm">
						Save one ZIP file for an auditor: the registers,{" "}
						{audit
							? "the statement of applicability of the audit’s framework"
							: "the statements of applicability"}
						, documents with approvals and signatures, evidence, devices, and
						the audit log of the period. It has a README, and a digest of each
						file.
					</Text>
					<Text size="sm">
						The file is not encrypted, and it names people. Send it to the
						auditor in a way that both sides trust.
					</Text>
					{error && !isInField && (
						<ErrorState error={error} title="No package was made" />
					)}
					<Group grow align="flex-start">
						<TextInput
							type="date"
							label="First day"
							data-autofocus
							value={from}
							error={issueOf("from")}
							onChange={(event) => setFrom(event.currentTarget.value)}
						/>
						<TextInput
							type="date"
							label="Last day"
							value={until}
							error={issueOf("until")}
							onChange={(event) => setUntil(event.currentTarget.value)}
						/>
					</Group>
					<Checkbox
						label="With the files of evidence"
						description="Without them, the package still has their names and digests."
						checked={hasFiles}
						onChange={(event) => setHasFiles(event.currentTarget.checked)}
					/>
					{exporting.isSuccess && (
						<DownloadFrame
							path={exporting.data.download_path}
							title="Download of the audit package"
							onRefused={setRefusal}
						/>
					)}
					<Text size="sm" c="dimmed" role="status">
						{exporting.isSuccess &&
							!refusal &&
							"The download has begun. The audit log says that you made the package."}
					</Text>
					<Group justify="flex-end">
						<Button variant="default" onClick={onClose}>
							Close
						</Button>
						<Button type="submit" loading={exporting.isPending}>
							Make the package
						</Button>
					</Group>
				</Stack>
			</form>
		</Dialog>
	);
}
