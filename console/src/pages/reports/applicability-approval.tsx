import {
	Alert,
	Button,
	Group,
	Paper,
	Select,
	Stack,
	Text,
	Textarea,
} from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime } from "../../parts/time.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import {
	approvedParts,
	undecidedInWords,
	unjustifiedInWords,
} from "./read-applicability.ts";
import styles from "./reports.module.css";

type Statement = OutputOf<"getStatementOfApplicability">;

/**
 * Shows who approved the statement of a framework, and whether it has changed since. Members approve
 * it, and everybody can open an earlier version.
 */
export function ApplicabilityApproval({
	framework,
	version,
	onVersion,
}: {
	framework: string;
	version: number | undefined;
	onVersion: (version: number | undefined) => void;
}) {
	const { mayWrite } = useOrganization();
	const [isApproving, setApproving] = useState(false);
	const statement = useQuery(
		operationQuery("getStatementOfApplicability", {
			framework_id: framework,
			size: 1,
			...(version !== undefined && { version_number: version }),
		}),
	);
	const approvals = useQuery(
		operationQuery("listStatementApprovals", { framework_id: framework }),
	);
	if (statement.isError) return null;
	if (!statement.data) return null;
	const { approval, is_changed: isChanged, controls, sha256 } = statement.data;
	const versions = approvals.data?.approvals ?? [];
	return (
		<Paper withBorder p="md" mb="lg" component="section" aria-label="Approval">
			<Group justify="space-between" align="flex-end" gap="md">
				<Stack gap={4}>
					{approval ? (
						<>
							<Group gap="xs">
								<ApprovalBadge {...statement.data} />
								<Text size="sm" fw={500}>
									Version {approval.version_number}
								</Text>
							</Group>
							<Text size="sm" c="dimmed">
								Approved by {approval.approved_by},{" "}
								<DateTime value={approval.approved_at} />
								{approval.note && `. ${approval.note}`}
							</Text>
							{version === undefined && !isChanged && (
								<Text size="sm" c="dimmed" maw={720}>
									{approvedParts(statement.data)}
								</Text>
							)}
						</>
					) : (
						<>
							<StatusBadge tone="neutral" label="Not approved" />
							<Text size="sm" c="dimmed">
								Nobody has approved this statement yet.
							</Text>
						</>
					)}
					<Unjustified
						statement={statement.data}
						advises={mayWrite && version === undefined}
					/>
					<Undecided
						statement={statement.data}
						advises={mayWrite && version === undefined}
					/>
				</Stack>
				<Group gap="sm" align="flex-end" className={styles.choices ?? ""}>
					{versions.length > 0 && (
						<Select
							label="Version"
							allowDeselect={false}
							w={200}
							data={[
								{ value: "", label: "As it is now" },
								...versions.map(({ version_number: number }) => ({
									value: String(number),
									label: `Version ${number}`,
								})),
							]}
							value={version === undefined ? "" : String(version)}
							onChange={(chosen) =>
								onVersion(chosen ? Number(chosen) : undefined)
							}
						/>
					)}
					{mayWrite &&
						version === undefined &&
						isChanged &&
						controls.length > 0 && (
							<Button onClick={() => setApproving(true)}>Approve …</Button>
						)}
				</Group>
			</Group>
			{isApproving && (
				<Approve
					framework={framework}
					sha256={sha256}
					statement={statement.data}
					next={(approval?.version_number ?? 0) + 1}
					onClose={() => setApproving(false)}
				/>
			)}
		</Paper>
	);
}

function Approve({
	framework,
	sha256,
	statement,
	next,
	onClose,
}: {
	framework: string;
	sha256: string;
	statement: Statement;
	next: number;
	onClose: () => void;
}) {
	useReturnFocus();
	const [note, setNote] = useState("");
	const approving = useMutation({
		mutationFn: () =>
			call("approveStatementOfApplicability", {
				framework_id: framework,
				sha256,
				note: note.trim() || null,
			}),
		onSuccess: async () => {
			onClose();
			await forgetReadings();
		},
	});
	return (
		<Dialog opened onClose={onClose} title="Approve the statement">
			<form
				onSubmit={(event) => {
					event.preventDefault();
					approving.mutate();
				}}
			>
				<Stack gap="sm">
					{approving.isError && (
						<ErrorState error={approving.error} title="Not approved" />
					)}
					<Text size="sm">
						Your approval makes version {next}. It keeps which controls apply,
						why others do not, and what is linked to each. Later changes do not
						touch it.
					</Text>
					<Unjustified statement={statement} advises />
					<Undecided statement={statement} advises />
					<Textarea
						label="What is new (optional)"
						data-autofocus
						autosize
						minRows={2}
						maxRows={8}
						maxLength={5000}
						value={note}
						onChange={({ currentTarget }) => setNote(currentTarget.value)}
					/>
					<Group justify="flex-end">
						<Button variant="default" onClick={onClose}>
							Cancel
						</Button>
						<Button type="submit" loading={approving.isPending}>
							Approve
						</Button>
					</Group>
				</Stack>
			</form>
		</Dialog>
	);
}

/** Says how many controls have no justification, and advises members how to give one. */
function Unjustified({
	statement,
	advises,
}: {
	statement: Statement;
	advises: boolean;
}) {
	const title = unjustifiedInWords(statement);
	if (!title) return null;
	return (
		<Alert color="orange" variant="outline" p="xs" maw={720} title={title}>
			The column Justification of the table shows “–” for such a control.
			{advises &&
				" Write down why it applies or does not, or link a risk or an obligation to it."}
		</Alert>
	);
}

/** Says how many controls only undecided risks justify, and leads members to these risks. */
function Undecided({
	statement,
	advises,
}: {
	statement: Statement;
	advises: boolean;
}) {
	const { organizationId } = useOrganization();
	const title = undecidedInWords(statement);
	if (!title) return null;
	return (
		<Alert color="orange" variant="outline" p="xs" maw={720} title={title}>
			The column Justification of the table says “not decided” after such a
			risk.
			{advises && (
				<>
					{" "}
					<TextLink
						to="/o/$org/r/$kind"
						params={{ org: organizationId, kind: "risk" }}
						search={{ is_undecided: true }}
						underline="always"
						inherit
					>
						Decide about the suggested risks
					</TextLink>
					, or write down why the control applies.
				</>
			)}
		</Alert>
	);
}

function ApprovalBadge({
	is_changed: isChanged,
	changed_risks: changedRisks,
}: Statement) {
	if (isChanged) {
		return <StatusBadge tone="warning" label="Changed since approval" />;
	}
	return changedRisks > 0 ? (
		<StatusBadge tone="warning" label="Other risks since approval" />
	) : (
		<StatusBadge tone="good" label="Approved" />
	);
}
