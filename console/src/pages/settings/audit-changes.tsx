import { Table, Text } from "@mantine/core";
import { describeKind, fieldOf } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import type { Entry } from "../../parts/audit-actions/audit-actions.ts";
import { linkUserIds } from "../../parts/audit-actions/by-link.ts";
import { checkLabel } from "../../parts/devices/check-label.ts";
import { fieldLabel } from "../../parts/field-labels.ts";
import { inWords } from "../../parts/names-in-words.ts";
import { changedEnds } from "../../parts/records/changed-parts.ts";
import { FieldValue } from "../../parts/records/field-value.tsx";
import { idsIn } from "../../parts/records/ids-in.ts";
import { isLinkedEnd } from "../../parts/records/linked-end.ts";
import { PlainValue } from "../../parts/records/plain-value.tsx";
import { LinkedRecord } from "../../parts/records/record-link.tsx";
import {
	type Names,
	useRecordNames,
} from "../../parts/records/record-names.ts";
import { shownChanges } from "../../parts/records/undecided.ts";
import { ROLES, type Role } from "../../parts/roles.tsx";
import { findRegisterKind } from "../../register-kinds.ts";
import { type Ends, endsOf } from "./audit-filter-choices.tsx";
import { valueInWords } from "./audit-values.ts";

/**
 * Lists the changed fields, each with its value before and after the change. Shows only the added
 * and the removed elements of a list.
 */
export function AuditChanges({ entry }: { entry: Entry }) {
	const { organizationId } = useOrganization();
	const changes = shownEndsOf(entry);
	const names = useRecordNames(organizationId, [
		...changes.flatMap(([name, ends]) =>
			idsIn(name, [ends.before, ends.after]),
		),
		...linkUserIds([entry]),
	]);
	if (changes.length === 0) {
		return (
			<Text size="sm" c="dimmed">
				{entry.outcome === "REFUSED"
					? "Nothing changed: the role did not allow it."
					: "No fields are recorded for this."}
			</Text>
		);
	}
	const hasBefore = changes.some(([, ends]) => "before" in ends);
	const hasAfter = changes.some(([, ends]) => "after" in ends);
	const label = labelsOf(entry);
	const rows = changes.map(([name, { before, after }]) => ({
		name,
		...(isLinkedEnd(after)
			? { before, after, unchanged: 0 }
			: changedEnds(before, after)),
	}));
	return (
		<Table
			withTableBorder
			layout="fixed"
			style={{ overflowWrap: "anywhere" }}
			styles={{ td: { verticalAlign: "top" }, th: { verticalAlign: "top" } }}
		>
			<Table.Thead>
				<Table.Tr>
					<Table.Th scope="col" w="30%">
						Field
					</Table.Th>
					{hasBefore && <Table.Th scope="col">Before</Table.Th>}
					{hasAfter && <Table.Th scope="col">After</Table.Th>}
				</Table.Tr>
			</Table.Thead>
			<Table.Tbody>
				{rows.map(({ name, before, after, unchanged }) => (
					<Table.Tr key={name}>
						<Table.Th scope="row" fw={500}>
							{label(name)}
							{unchanged > 0 && (
								<Text size="xs" c="dimmed">
									{unchanged.toLocaleString()} unchanged
								</Text>
							)}
						</Table.Th>
						{hasBefore && (
							<Table.Td>
								<End entry={entry} name={name} names={names} value={before} />
							</Table.Td>
						)}
						{hasAfter && (
							<Table.Td>
								<End entry={entry} name={name} names={names} value={after} />
							</Table.Td>
						)}
					</Table.Tr>
				))}
			</Table.Tbody>
		</Table>
	);
}

/** Returns the changed fields of an entry as people see them, without those that stayed empty. */
export function shownEndsOf(entry: Entry): [string, Ends][] {
	const all = Object.fromEntries(endsOf(entry));
	return Object.entries(shownChanges(entry.record_kind, all)).filter(
		([, { before, after }]) => !isEmpty(before) || !isEmpty(after),
	);
}

/** Returns a function that gives the label of a field of the entry's record. */
export function labelsOf({ record_kind }: Entry): (name: string) => string {
	const kind = record_kind && findRegisterKind(record_kind);
	const description = kind && describeKind(kind.kind);
	return (name) =>
		(description && fieldOf(description, name)?.label) ||
		fieldLabel(record_kind, name, checkLabel) ||
		// An entry of an earlier version may have other fields.
		inWords(name.replace(/_ids?$/, ""));
}

function End({
	entry,
	name,
	value,
	names,
}: {
	entry: Entry;
	name: string;
	value: unknown;
	names: Names;
}) {
	const { organizationId } = useOrganization();
	if (isEmpty(value)) {
		return (
			<Text span inherit c="dimmed" aria-label="Empty">
				–
			</Text>
		);
	}
	if (isLinkedEnd(value)) {
		return (
			<LinkedRecord end={value} organizationId={organizationId} names={names} />
		);
	}
	const kind = entry.record_kind && findRegisterKind(entry.record_kind);
	const field = kind && fieldOf(describeKind(kind.kind), name);
	if (field)
		return (
			<FieldValue
				field={field}
				value={value}
				names={names}
				organizationId={organizationId}
			/>
		);
	const role = name === "role" && ROLES[value as Role];
	if (role) return role.label;
	const words = valueInWords(entry.record_kind, name, value);
	return <PlainValue value={words} names={names} />;
}

function isEmpty(value: unknown): boolean {
	return (
		value === null ||
		value === undefined ||
		value === "" ||
		(typeof value === "object" && Object.keys(value).length === 0)
	);
}
