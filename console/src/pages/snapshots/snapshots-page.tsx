import { Button, Text } from "@mantine/core";
import { IconCamera, IconPlus } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { InputOf } from "../../api.ts";
import { useListSearch } from "../../list-search.ts";
import { useOrganization } from "../../organization.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { ListError, Pager } from "../../parts/pager.tsx";
import { DateTime } from "../../parts/time.tsx";
import { operationQuery } from "../../queries.ts";
import { recordCount, type Snapshot, TYPES } from "./snapshot-words.ts";
import { TakeSnapshot } from "./take-snapshot.tsx";

/** Lists the snapshots. Members take them. */
export function Page() {
	const { organizationId, mayWrite } = useOrganization();
	const list = useListSearch();
	const [isTaking, setTaking] = useState(false);
	const snapshots = useQuery({
		...operationQuery("listSnapshots", {
			organization_id: organizationId,
			...list.input,
		} as InputOf<"listSnapshots">),
		placeholderData: keepPreviousData,
	});
	const rows = snapshots.data?.snapshots ?? [];
	const isEmpty =
		snapshots.isSuccess && rows.length === 0 && !list.search.cursor;
	const take = mayWrite && (
		<Button
			leftSection={<IconPlus size={16} aria-hidden />}
			onClick={() => setTaking(true)}
		>
			Take a snapshot
		</Button>
	);
	return (
		<>
			<PageHeader
				title="Snapshots"
				isWide
				description="What the registers and the devices said at a moment. Nothing changes a snapshot."
				actions={!isEmpty && take}
			/>
			{snapshots.isPending && <RowsSkeleton />}
			{snapshots.isError && (
				<ListError
					error={snapshots.error}
					onRetry={snapshots.refetch}
					list={list}
				/>
			)}
			{isEmpty && (
				<EmptyState
					title="No snapshots yet"
					icon={<IconCamera size={32} aria-hidden />}
					actions={take}
				>
					Take one before an audit or at the end of a quarter. It keeps the
					records as they are, and shows later what has changed since.
				</EmptyState>
			)}
			{rows.length > 0 && (
				<>
					<DataTable
						label="Snapshots"
						columns={COLUMNS}
						rows={rows}
						list={list}
						isStale={snapshots.isPlaceholderData}
					/>
					{snapshots.isSuccess && (
						<Pager list={list} page={snapshots.data} shown={rows.length} />
					)}
				</>
			)}
			{isTaking && <TakeSnapshot onClose={() => setTaking(false)} />}
		</>
	);
}

const COLUMNS: readonly Column<Snapshot>[] = [
	{
		id: "name",
		header: "Snapshot",
		width: 320,
		cell: (snapshot) => (
			<>
				<TextLink
					to="/o/$org/snapshots/$id"
					params={{ org: snapshot.organization_id, id: snapshot.id }}
					size="sm"
					fw={500}
					className="data-table-link"
					style={{ overflowWrap: "anywhere" }}
				>
					{snapshot.name}
				</TextLink>
				{snapshot.description && (
					<Text size="xs" c="dimmed" lineClamp={2}>
						{snapshot.description}
					</Text>
				)}
			</>
		),
	},
	{
		id: "type",
		header: "Contains",
		cell: (snapshot) => (
			<>
				<Text size="sm">{TYPES[snapshot.type]}</Text>
				<Text size="xs" c="dimmed">
					{recordCount(snapshot) === 1
						? "1 record"
						: `${recordCount(snapshot).toLocaleString()} records`}
				</Text>
			</>
		),
	},
	{
		id: "taken",
		header: "Taken",
		sort: "created_at",
		cell: ({ taken_at }) => <DateTime value={taken_at} />,
	},
	{ id: "by", header: "By", cell: ({ taken_by }) => taken_by },
];
