import { Anchor, Button, Code, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { InputOf } from "../../api.ts";
import { useListSearch } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import {
	type Entry,
	titleOf,
} from "../../parts/audit-actions/audit-actions.ts";
import { linkUserIds } from "../../parts/audit-actions/by-link.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FilterBar } from "../../parts/filter-bar.tsx";
import { TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { ListError, Pager } from "../../parts/pager.tsx";
import { ExportButton } from "../../parts/records/export-button.tsx";
import {
	type Names,
	useRecordNames,
} from "../../parts/records/record-names.ts";
import { ASK_FOR_AUDIT_LOG } from "../../parts/roles.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime } from "../../parts/time.tsx";
import { operationQuery } from "../../queries.ts";
import { labelsOf, shownEndsOf } from "./audit-changes.tsx";
import { AuditEntry } from "./audit-entry.tsx";
import { Actor } from "./audit-filter-choices.tsx";
import { AuditFilters } from "./audit-filters.tsx";
import { AuditRecord } from "./audit-record.tsx";
import { LeftOutEntries, withoutImported } from "./left-out-entries.tsx";
import { VerifyLog } from "./verify-log.tsx";

type Row = Entry & { id: string };

/** Lists the entries of the audit log, with filters and the check of its seals. */
export function Page() {
	const { mayReadAuditLog } = useOrganization();
	if (mayReadAuditLog) return <AuditLog />;
	return (
		<>
			<PageHeader title="Audit log" />
			<EmptyState title="You cannot read the audit log">
				{ASK_FOR_AUDIT_LOG} A record's page shows under History what changed and
				who changed it.
			</EmptyState>
		</>
	);
}

function AuditLog() {
	const { organizationId } = useOrganization();
	const list = useListSearch();
	// The log has only one order, so an order in the address is ignored.
	const { order_by: _, ...input } = list.input;
	const filtered = {
		organization_id: organizationId,
		...(input.filter ? { filter: input.filter } : {}),
	};
	const log = useQuery({
		...operationQuery("listAuditLog", {
			organization_id: organizationId,
			...input,
			filter: withoutImported(input.filter),
		} as InputOf<"listAuditLog">),
		placeholderData: keepPreviousData,
		// An entry gets its number, by which it is opened, within a second.
		refetchInterval: ({ state }) =>
			state.data?.audit_entries.some(({ sequence }) => sequence === null)
				? 1000
				: false,
	});
	const nothing = Object.fromEntries(
		["q", ...Object.keys(list.filters)].map((name) => [name, undefined]),
	);
	const rows = (log.data?.audit_entries ?? []).map((entry, index) => ({
		...entry,
		id: String(entry.sequence ?? `unsealed ${index}`),
	}));
	const { entry: number } = list.search;
	const shown = rows.find(({ sequence }) => sequence === number);
	// If somebody shared the address, the entry may have moved to another page of the list, so it is
	// loaded separately.
	const alone = useQuery({
		...operationQuery("listAuditLog", {
			organization_id: organizationId,
			filter: { sequence: number },
		}),
		enabled: number !== undefined && !log.isPending && !shown,
	});
	const opened =
		number === undefined ? undefined : (shown ?? alone.data?.audit_entries[0]);
	const names = useRecordNames(
		organizationId,
		linkUserIds(opened ? [...rows, opened] : rows),
	);
	return (
		<>
			<PageHeader
				title="Audit log"
				isWide
				description="Who did what and when, newest first. Entries cannot be changed or removed."
				actions={
					<>
						<VerifyLog onOpen={list.openEntry} />
						<ExportButton operation="listAuditLog" input={filtered} />
					</>
				}
			/>
			<FilterBar list={list} label="Search the audit log">
				<AuditFilters list={list} rows={rows} names={names} />
			</FilterBar>
			{log.isPending && <RowsSkeleton />}
			{log.isError && (
				<ListError error={log.error} onRetry={log.refetch} list={list} />
			)}
			{log.isSuccess && rows.length === 0 && (
				<EmptyState
					title={
						list.hasFilters ? "No entry matches" : "Nothing has happened yet"
					}
					actions={
						list.hasFilters && (
							<Button variant="default" onClick={() => list.clearFilters()}>
								Show all entries
							</Button>
						)
					}
				>
					{list.hasFilters
						? "Remove a filter or choose a longer period."
						: "Every change in the organization will be listed here."}
				</EmptyState>
			)}
			{rows.length > 0 && (
				<DataTable
					label="Audit log"
					columns={columnsWith(list.openEntry, names)}
					rows={rows}
					isStale={log.isPlaceholderData}
				/>
			)}
			{log.isSuccess && rows.length > 0 && (
				<Pager list={list} page={log.data} shown={rows.length} />
			)}
			{log.isSuccess && <LeftOutEntries list={list} />}
			<Text size="xs" c="dimmed" mt="lg" component="div">
				Every entry contains a hash of itself and of the entry before it, so a
				changed, missing or added entry is detected. “Verify” checks the log
				here, and <Code>assay audit verify</Code> checks it on the server.{" "}
				<Code>assay audit export</Code> writes the entries as JSON Lines, which{" "}
				<TextLink
					to="/help/$page"
					params={{ page: "audit-log" }}
					hash="export-the-log"
					inherit
					underline="always"
				>
					anybody can check without Assay
				</TextLink>
				.
			</Text>
			{opened && (
				<AuditEntry
					entry={opened}
					names={names}
					onClose={() => list.openEntry(undefined)}
					onFilter={(filter) =>
						list.setFilters({ ...nothing, ...filter, entry: undefined })
					}
				/>
			)}
		</>
	);
}

const columnsWith = (
	open: (sequence: number) => void,
	names: Names,
): Column<Row>[] => [
	{
		id: "at",
		header: "When",
		width: 200,
		cell: ({ at }) => <DateTime value={at} to="seconds" />,
	},
	{
		id: "actor",
		header: "Who",
		width: 200,
		cell: (entry) => <Actor entry={entry} names={names} />,
	},
	{
		id: "action",
		header: "Action",
		width: 170,
		cell: (entry) => (
			<>
				<EntryLink entry={entry} open={open} />
				{entry.outcome === "REFUSED" && (
					<div>
						<StatusBadge tone="bad" label="Denied" />
					</div>
				)}
			</>
		),
	},
	{
		id: "record",
		header: "Record",
		width: 190,
		cell: (entry) => <AuditRecord entry={entry} />,
	},
	{
		id: "fields",
		header: "Fields",
		cell: (entry) => (
			<Text size="xs" c="dimmed" lineClamp={2}>
				{shownEndsOf(entry)
					.map(([name]) => labelsOf(entry)(name))
					.join(", ")}
			</Text>
		),
	},
];

function EntryLink({
	entry,
	open,
}: {
	entry: Entry;
	open: (sequence: number) => void;
}) {
	const { sequence } = entry;
	if (sequence === null) {
		return (
			<Text size="sm" fw={500}>
				{titleOf(entry)}
			</Text>
		);
	}
	return (
		<Anchor
			component="button"
			type="button"
			className="data-table-link"
			size="sm"
			fw={500}
			ta="left"
			aria-haspopup="dialog"
			onClick={() => open(sequence)}
		>
			{titleOf(entry)}
		</Anchor>
	);
}
