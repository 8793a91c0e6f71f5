import { Group, SegmentedControl, Spoiler, Stack, Text } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { OutputOf } from "../../api.ts";
import { describeKind, fieldOf } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { checkLabel } from "../../parts/devices/check-label.ts";
import {
	CHECK_STATES,
	type CheckState,
} from "../../parts/devices/device-words.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { fieldLabel } from "../../parts/field-labels.ts";
import { inWords, nounOf } from "../../parts/names-in-words.ts";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { changedParts } from "../../parts/records/changed-parts.ts";
import { PlainValue } from "../../parts/records/plain-value.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import {
	type Names,
	useRecordNames,
} from "../../parts/records/record-names.ts";
import { shownChanges } from "../../parts/records/undecided.ts";
import { capitalized } from "../../parts/records/use-kind.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { operationQuery } from "../../queries.ts";
import { findRegisterKind } from "../../register-kinds.ts";
import { PageButtons } from "../registers/page-buttons.tsx";
import type { Snapshot } from "./snapshot-words.ts";

const PAGE = 50;
const ID = /^[\w-]{32}$/;
/** A higher cell folds. About five lines are shown. */
const MAX_HEIGHT = 110;

type Difference = OutputOf<"listSnapshotDifferences">["differences"][number];
type Change = Difference["change"];

const CHANGES: Record<
	Change,
	{ label: string; tone: "good" | "active" | "bad" }
> = {
	ADDED: { label: "Added", tone: "good" },
	CHANGED: { label: "Changed", tone: "active" },
	REMOVED: { label: "Removed", tone: "bad" },
};

/** Lists what was added, changed and removed since the snapshot was taken. */
export function SinceThen({ snapshot }: { snapshot: Snapshot }) {
	const { organizationId } = useOrganization();
	const [change, setChange] = useState<Change | "">("");
	const [cursors, setCursors] = useState<string[]>([]);
	const found = useQuery({
		...operationQuery("listSnapshotDifferences", {
			snapshot_id: snapshot.id,
			size: PAGE,
			...(change && { change }),
			cursor: cursors.at(-1) ?? null,
		}),
		placeholderData: keepPreviousData,
	});
	const rows = found.data?.differences ?? [];
	const names = useRecordNames(organizationId, idsIn(rows));
	if (found.isPending) return <RowsSkeleton />;
	if (found.isError) {
		return <ErrorState error={found.error} onRetry={() => found.refetch()} />;
	}
	const { counts } = found.data;
	const total = counts.ADDED + counts.CHANGED + counts.REMOVED;
	if (total === 0) {
		return (
			<EmptyState title="Nothing has changed">
				Every record is as it was when the snapshot was taken.
			</EmptyState>
		);
	}
	return (
		<Stack gap="md">
			<Group>
				<SegmentedControl
					aria-label="Changes"
					value={change}
					onChange={(value) => {
						setChange(value as Change | "");
						setCursors([]);
					}}
					data={[
						{ value: "", label: `All (${total.toLocaleString()})` },
						...Object.entries(CHANGES).map(([value, { label }]) => ({
							value,
							label: `${label} (${counts[value as Change].toLocaleString()})`,
						})),
					]}
				/>
			</Group>
			{rows.length === 0 ? (
				<Text c="dimmed">None.</Text>
			) : (
				<DataTable
					label="Changes since the snapshot"
					columns={columnsOf(organizationId, names)}
					rows={rows}
					isStale={found.isPlaceholderData}
				/>
			)}
			<PageButtons
				cursors={cursors}
				onChange={setCursors}
				next={found.data.next_cursor}
			/>
		</Stack>
	);
}

const columnsOf = (
	organizationId: string,
	names: Names,
): readonly Column<Difference>[] => [
	{
		id: "name",
		header: "Record",
		width: "35%",
		cell: ({ id, kind, name, change }) => (
			<>
				{change === "REMOVED" ? (
					<Text size="sm">{name || "Unnamed"}</Text>
				) : (
					<RecordLink organizationId={organizationId} kind={kind} id={id}>
						{name || "Unnamed"}
					</RecordLink>
				)}
				<Text size="xs" c="dimmed">
					{capitalized(nounOf(kind))}
				</Text>
			</>
		),
	},
	{
		id: "change",
		header: "Change",
		width: 120,
		cell: ({ change }) => <StatusBadge {...CHANGES[change]} />,
	},
	{
		id: "fields",
		header: "What differs",
		cell: ({ kind, fields }) => (
			<Spoiler
				maxHeight={MAX_HEIGHT}
				showLabel="Show all"
				hideLabel="Show less"
			>
				<Stack gap={4}>
					{Object.entries(shownChanges(kind, fields)).map(([name, ends]) => (
						<Text key={name} size="sm" component="div">
							<Text span inherit c="dimmed">
								{labelOf(kind, name)}:{" "}
							</Text>
							<Ends name={name} ends={ends} names={names} />
						</Text>
					))}
				</Stack>
			</Spoiler>
		),
	},
];

/** Shows what differs. Of a list, such as a device's checks, it shows only the parts that do. */
function Ends({
	name,
	ends: { before, after },
	names,
}: {
	name: string;
	ends: { before?: unknown; after?: unknown };
	names: Names;
}) {
	const parts = changedParts(before, after);
	if (!parts) {
		return (
			<>
				<End value={before} names={names} /> →{" "}
				<End value={after} names={names} />
			</>
		);
	}
	if (parts.length === 0) return "in another order";
	return parts.map((part) => {
		const isAdded = part.before === undefined;
		const [was, is] = [part.before, part.after].map((value) => (
			<End
				key={String(value)}
				value={name === "checks" ? stateLabel(value) : value}
				names={names}
			/>
		));
		return (
			<div key={part.name ?? JSON.stringify(part)}>
				{part.name !== undefined ? (
					<>
						{name === "checks" ? checkLabel(part.name) : inWords(part.name)}:{" "}
						{was} → {is}
					</>
				) : part.before !== undefined && part.after !== undefined ? (
					<>
						{was} → {is}
					</>
				) : (
					<>
						{isAdded ? "added " : "removed "}
						{isAdded ? is : was}
					</>
				)}
			</div>
		);
	});
}

const stateLabel = (state: unknown) =>
	CHECK_STATES[state as CheckState] ?? state;

function End({ value, names }: { value: unknown; names: Names }) {
	const isNothing =
		(value ?? "") === "" || (Array.isArray(value) && value.length === 0);
	return isNothing ? "nothing" : <PlainValue value={value} names={names} />;
}

function labelOf(kind: string, name: string): string {
	const known = findRegisterKind(kind);
	const field = known && fieldOf(describeKind(known.kind), name);
	return (
		field?.label ??
		fieldLabel(kind, name) ??
		inWords(name.replace(/_(ids?)$/, ""))
	);
}

function idsIn(rows: readonly Difference[]): string[] {
	return rows
		.flatMap(({ fields }) => Object.values(fields))
		.flatMap(
			({ before, after }) => changedParts(before, after) ?? { before, after },
		)
		.flatMap(({ before, after }) => [before, after])
		.filter((one): one is string => typeof one === "string" && ID.test(one))
		.slice(0, 200);
}
