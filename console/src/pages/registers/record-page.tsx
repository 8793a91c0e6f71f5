import { Stack, Tabs, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { ApiError } from "../../api.ts";
import type { KindDescription } from "../../kind-description.ts";
import { type AnyRecord, titleOf } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { formatDay } from "../../parts/days.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState, NotFoundPage } from "../../parts/error-state.tsx";
import { LeftOutInPast } from "../../parts/left-out-in-past.tsx";
import { TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageSkeleton, RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { CommentsPanel } from "../../parts/records/comments-panel.tsx";
import { EvidenceFile } from "../../parts/records/evidence-file.tsx";
import { EvidencePanel } from "../../parts/records/evidence-panel.tsx";
import { LinksPanel } from "../../parts/records/links-panel.tsx";
import {
	recordQuery,
	updateRecord,
} from "../../parts/records/register-calls.ts";
import { savedValues } from "../../parts/records/undecided.ts";
import { capitalized, useKind } from "../../parts/records/use-kind.ts";
import { RelativeTime } from "../../parts/time.tsx";
import { usePast } from "../../past.ts";
import { forgetReadings, queryClient } from "../../queries.ts";
import { findRegisterKind } from "../../register-kinds.ts";
import { listOf } from "../../remembered-lists.ts";
import { ControlChecks } from "./control-checks.tsx";
import { ControlCoverage } from "./control-coverage.tsx";
import { conflictsOf, useConflictQuestion } from "./edit-conflicts.tsx";
import { toChanges, toFormValues } from "./form-values.ts";
import { FrameworkCoverage } from "./framework-coverage.tsx";
import { MeasureCheck } from "./measure-check.tsx";
import { NonconformityDevices } from "./nonconformity-devices.tsx";
import { RecordActions, RecordState } from "./record-actions.tsx";
import { RecordDetails } from "./record-details.tsx";
import { RecordForm } from "./record-form.tsx";
import { RecordHistory } from "./record-history.tsx";
import { WhereUsed } from "./uses.tsx";
import { VendorReviews } from "./vendor-reviews.tsx";

/** Only this page of this register reads Markdown, so its code is loaded with it. */
const DocumentText = lazy(() => import("./documents/document-text.tsx"));

/** What the page of a record has only in the present, by the kind of the record. */
const LEFT_OUT: Record<string, string> = {
	evidence: "the comments, and the file if the evidence was deleted since",
	nonconformity: "which of its devices failed, and the comments",
	people: "the person's devices and the comments",
	vendor: "the reviews and the comments",
};

/** Shows a record of a register, or its form, with its links, comments and history. */
export function Page() {
	const kind = useKind();
	const { id = "" } = useParams({ strict: false });
	const { edit }: { edit?: true } = useSearch({ strict: false });
	const { mayWrite } = useOrganization();
	const { day } = usePast();
	const record = useQuery(recordQuery(kind, id));
	if (record.isPending) return <PageSkeleton />;
	const { data, error } = record;
	// Saving reads the record again. If that fails, the form keeps what was typed and says why.
	if (edit && mayWrite && data)
		return <Edit key={id} kind={kind} record={data} />;
	// The record was deleted or belongs to another organization, or part of the address is missing.
	if (error instanceof ApiError && [400, 404].includes(error.status)) {
		return day ? <NotThere day={day} /> : <NotFoundPage />;
	}
	if (!data)
		return <ErrorState error={error} onRetry={() => record.refetch()} />;
	return <Read key={id} kind={kind} record={data} />;
}

/** Shown for a record that did not exist on the past day that the page shows. */
function NotThere({ day }: { day: string }) {
	return (
		<>
			<PageHeader title="Not found" />
			<EmptyState title={`There was no such record on ${formatDay(day)}`}>
				It may have been added later. Go back to now to see it.
			</EmptyState>
		</>
	);
}

interface OfRecord {
	kind: KindDescription;
	record: AnyRecord;
}

function Read({ kind, record }: OfRecord) {
	const { organizationId, day } = useOrganization();
	const { tab = "overview" }: { tab?: string } = useSearch({ strict: false });
	const navigate = useNavigate();
	const { id } = record;
	const address = {
		to: "/o/$org/r/$kind/$id",
		params: { org: organizationId, kind: kind.kind, id },
	} as const;
	const overview = (
		<Stack>
			{kind.kind === "control" && <ControlCoverage control={record} />}
			<RecordDetails
				kind={kind}
				record={record}
				organizationId={organizationId}
			/>
			{kind.kind === "framework" && (
				<FrameworkCoverage organizationId={organizationId} frameworkId={id} />
			)}
			{kind.kind === "measure" && <MeasureCheck measure={record} />}
			{kind.kind === "control" && <ControlChecks control={record} />}
			{kind.kind === "nonconformity" && !day && (
				<NonconformityDevices id={id} />
			)}
			{kind.kind === "evidence" && <EvidenceFile evidence={record} />}
			{kind.kind === "document" && (
				<Suspense fallback={<RowsSkeleton rows={5} />}>
					<DocumentText document={record} />
				</Suspense>
			)}
			{kind.kind === "vendor" && !day && <VendorReviews vendor={record} />}
			<EvidencePanel kind={kind.kind} id={id} />
			<LinksPanel organizationId={organizationId} kind={kind.kind} id={id} />
			<WhereUsed kind={kind.kind} id={id} organizationId={organizationId} />
			{day ? (
				<LeftOutInPast>{LEFT_OUT[kind.kind] ?? "the comments"}</LeftOutInPast>
			) : (
				<CommentsPanel id={id} />
			)}
			<Text size="sm" c="dimmed">
				Added <RelativeTime value={record.created_at} />, last changed{" "}
				<RelativeTime value={record.updated_at} />
			</Text>
		</Stack>
	);
	return (
		<>
			<PageHeader
				parent={<ToList kind={kind} organizationId={organizationId} />}
				title={titleOf(kind, record)}
				description={<RecordState kind={kind} record={record} />}
				actions={<RecordActions kind={kind} record={record} />}
			/>
			<Tabs
				value={tab}
				keepMounted={false}
				onChange={(chosen) =>
					navigate({
						...address,
						search: chosen === "history" ? { tab: chosen } : {},
					})
				}
			>
				<Tabs.List mb="md">
					<Tabs.Tab value="overview">Overview</Tabs.Tab>
					<Tabs.Tab value="history">History</Tabs.Tab>
				</Tabs.List>
				<Tabs.Panel value="overview">{overview}</Tabs.Panel>
				<Tabs.Panel value="history">
					<RecordHistory
						kind={kind}
						record={record}
						organizationId={organizationId}
					/>
				</Tabs.Panel>
			</Tabs>
		</>
	);
}

function Edit({ kind, record: latest }: OfRecord) {
	// The record as it was when the user began to edit. Saving compares with it and does not undo
	// what other users have changed since.
	const [record] = useState(latest);
	const { organizationId } = useOrganization();
	const navigate = useNavigate();
	const { ask, dialog } = useConflictQuestion(kind, organizationId);
	const read = () =>
		navigate({
			to: "/o/$org/r/$kind/$id",
			params: { org: organizationId, kind: kind.kind, id: record.id },
			replace: true,
		});
	return (
		<>
			<PageHeader title={`Edit ${titleOf(kind, record)}`} />
			<RecordForm
				kind={kind}
				organizationId={organizationId}
				initial={toFormValues(kind, record)}
				id={record.id}
				action="Save the changes"
				onSave={async (values, leave) => {
					const changes = toChanges(kind, values, record);
					let began = record;
					while (Object.keys(changes).length > 0) {
						const latest = await queryClient.fetchQuery({
							...recordQuery(kind, record.id),
							staleTime: 0,
						});
						const fields = conflictsOf(kind, changes, began, latest);
						if (fields.length > 0) {
							const mine = await ask({ fields, mine: changes, latest });
							if (!mine) return;
							for (const { name } of fields) {
								if (!mine.includes(name)) delete changes[name];
							}
							began = latest;
							if (Object.keys(changes).length === 0) break;
						}
						const after = await updateRecord(kind, record.id, {
							...savedValues(changes, latest),
							if_updated_at: latest.updated_at,
						}).catch(unlessConflict);
						// Somebody else has saved the record since it was read, so the form compares again.
						if (after === "conflict") continue;
						queryClient.setQueryData(
							recordQuery(kind, record.id).queryKey,
							after,
						);
						notifications.show({ message: `${capitalized(kind.noun)} saved` });
						break;
					}
					leave();
					void forgetReadings();
					await read();
				}}
				onCancel={read}
			/>
			{dialog}
		</>
	);
}

function unlessConflict(error: unknown): "conflict" {
	if (error instanceof ApiError && error.code === "conflict") return "conflict";
	throw error;
}

function ToList({
	kind: { kind, nouns },
	organizationId,
}: {
	kind: KindDescription;
	organizationId: string;
}) {
	return (
		<TextLink {...listOf(organizationId, kind)} inherit>
			{findRegisterKind(kind)?.label ?? nouns}
		</TextLink>
	);
}
