import { Anchor, Group, Modal, Select, Table, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { OutputOf } from "../../api.ts";
import { describeKind, fieldOf } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { clearButton } from "../../parts/clear-button.ts";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { BY_EXCEPTION } from "../../parts/devices/device-words.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { fieldLabel } from "../../parts/field-labels.ts";
import { filterWidth } from "../../parts/filter-width.ts";
import { inWords, nounOf } from "../../parts/names-in-words.ts";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { FieldValue } from "../../parts/records/field-value.tsx";
import { PlainValue } from "../../parts/records/plain-value.tsx";
import type { Names } from "../../parts/records/record-names.ts";
import { shownFields } from "../../parts/records/undecided.ts";
import { capitalized } from "../../parts/records/use-kind.ts";
import { operationQuery } from "../../queries.ts";
import { findRegisterKind } from "../../register-kinds.ts";
import { isMeaningful } from "../../register-layouts.ts";
import { PageButtons } from "../registers/page-buttons.tsx";
import {
	isByExceptionThen,
	kindLabel,
	type Snapshot,
	type SnapshotKind,
} from "./snapshot-words.ts";

const TYPING_MS = 200;
const PAGE = 50;

type Kept = OutputOf<"listSnapshotRecords">["snapshot_records"][number];

/** Lists the records of a snapshot by name, and shows each with all fields as they were. */
export function SnapshotRecords({ snapshot }: { snapshot: Snapshot }) {
	const [kind, setKind] = useState<string | null>(null);
	const [words, setWords] = useState("");
	const [cursors, setCursors] = useState<string[]>([]);
	const [opened, setOpened] = useState<Kept | null>(null);
	const [query] = useDebouncedValue(words.trim(), TYPING_MS);
	const records = useQuery({
		...operationQuery("listSnapshotRecords", {
			snapshot_id: snapshot.id,
			size: PAGE,
			...(kind && { kind: kind as SnapshotKind }),
			...(query && { query }),
			cursor: cursors.at(-1) ?? null,
		}),
		placeholderData: keepPreviousData,
	});
	const kinds = Object.keys(snapshot.counts);
	const rows = records.data?.snapshot_records ?? [];
	if (kinds.length === 0) {
		return (
			<EmptyState title="No records">
				There were none when the snapshot was taken.
			</EmptyState>
		);
	}
	return (
		<>
			<Group align="flex-end" mb="md" gap="sm">
				<TextInput
					type="search"
					label="Find"
					placeholder="Words from the name"
					maxLength={200}
					leftSection={<IconSearch size={16} aria-hidden />}
					value={words}
					onChange={({ currentTarget }) => {
						setWords(currentTarget.value);
						setCursors([]);
					}}
					flex="1 1 220px"
					maw={360}
				/>
				{kinds.length > 1 && (
					<Select
						label="Among"
						placeholder="All records"
						clearable
						clearButtonProps={clearButton("All records")}
						data={kinds.map((value) => ({
							value,
							label: `${kindLabel(value)} (${snapshot.counts[value]?.toLocaleString()})`,
						}))}
						value={kind}
						onChange={(value) => {
							setKind(value);
							setCursors([]);
						}}
						{...filterWidth(240)}
					/>
				)}
			</Group>
			{records.isError ? (
				<ErrorState error={records.error} onRetry={() => records.refetch()} />
			) : records.isPending ? (
				<RowsSkeleton />
			) : rows.length === 0 ? (
				<EmptyState title="Nothing matches">Use fewer words.</EmptyState>
			) : (
				<DataTable
					label="Records of the snapshot"
					columns={columnsOf(setOpened)}
					rows={rows}
					isStale={records.isPlaceholderData}
				/>
			)}
			<PageButtons
				cursors={cursors}
				onChange={setCursors}
				next={records.data?.next_cursor ?? null}
			/>
			{opened && (
				<Modal
					opened
					onClose={() => setOpened(null)}
					title={nameOf(opened)}
					size="xl"
					closeButtonProps={{ "aria-label": "Close" }}
				>
					<RecordThen record={opened} />
				</Modal>
			)}
		</>
	);
}

const nameOf = ({ name, kind }: Kept) => name || `Unnamed ${nounOf(kind)}`;

const columnsOf = (open: (record: Kept) => void): readonly Column<Kept>[] => [
	{
		id: "name",
		header: "Name",
		width: "50%",
		cell: (record) => (
			<Anchor
				component="button"
				type="button"
				size="sm"
				ta="left"
				onClick={() => open(record)}
				style={{ overflowWrap: "anywhere" }}
			>
				{nameOf(record)}
			</Anchor>
		),
	},
	{ id: "kind", header: "Kind", cell: ({ kind }) => capitalized(nounOf(kind)) },
	{
		id: "owner",
		header: "Owner",
		cell: ({ fields }) =>
			String(fields.owner_name ?? fields.assigned_to_name ?? "–"),
	},
];

/** Fields that say where the record is stored, and names that are shown with their ids. */
const HIDDEN = /^id$|^is_undecided$|_names?$/;

function RecordThen({ record: { kind, fields: kept } }: { record: Kept }) {
	const fields = shownFields(kind, kept);
	const { organizationId } = useOrganization();
	const known = findRegisterKind(kind);
	const described = known && describeKind(known.kind);
	const names = namesIn(fields);
	const order = described?.fields.map(({ name }) => name) ?? [];
	const placeOf = (name: string) =>
		order.includes(name) ? order.indexOf(name) : order.length;
	const shown = Object.entries(fields)
		.sort(([one], [other]) => placeOf(one) - placeOf(other))
		.filter(
			([name, value]) =>
				(!HIDDEN.test(name) || name === "full_name" || fieldIn(name)) &&
				value !== null &&
				value !== "" &&
				!(Array.isArray(value) && value.length === 0) &&
				isMeaningful(name, fields),
		);
	function fieldIn(name: string) {
		return described && fieldOf(described, name);
	}
	return (
		<Table
			layout="fixed"
			style={{ overflowWrap: "anywhere" }}
			styles={{ td: { verticalAlign: "top" }, th: { verticalAlign: "top" } }}
		>
			<Table.Tbody>
				{shown.map(([name, value]) => {
					const field = fieldIn(name);
					return (
						<Table.Tr key={name}>
							<Table.Th scope="row" w="30%" fw={500}>
								{field?.label ??
									fieldLabel(kind, name) ??
									inWords(name.replace(/_ids?$/, ""))}
							</Table.Th>
							<Table.Td>
								{name === "compliance" && isByExceptionThen(fields) ? (
									BY_EXCEPTION.label
								) : field ? (
									<FieldValue
										field={field}
										value={value}
										names={names}
										organizationId={organizationId}
									/>
								) : (
									<PlainValue value={value} names={names} />
								)}
							</Table.Td>
						</Table.Tr>
					);
				})}
			</Table.Tbody>
		</Table>
	);
}

/** Returns the names that the snapshot keeps beside the ids of other records. */
function namesIn(fields: Kept["fields"]): Names {
	const names = new Map<string, string | null>();
	for (const [field, value] of Object.entries(fields)) {
		const ids = [value].flat();
		const shown = [fields[field.replace(/_id(s?)$/, "_name$1")]].flat();
		if (!/_ids?$/.test(field)) continue;
		ids.forEach((id, at) => {
			if (typeof id === "string") names.set(id, String(shown[at] ?? id));
		});
	}
	return names;
}
