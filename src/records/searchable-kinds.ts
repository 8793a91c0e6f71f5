import { type IdKind, parseId } from "../id.ts";
import { recordKinds } from "../registers/all.ts";
import { besideSql, DEVICE_BESIDE } from "./beside-name.ts";
import { nameSql } from "./record-name.ts";

/**
 * A kind of record that can be linked or found by a search. It is a table whose rows have a name.
 */
export interface NamedKind {
	kind: IdKind;
	table: string;
	/** Returns SQL for the name of a row with this alias. The name may be null. */
	nameOf: (row: string) => string;
	/** SQL for the status or state of a row `t`. Undefined if the kind has none. */
	status: string | undefined;
}

/** A kind of record whose rows of the same name can be told apart. */
export interface DistinctKind extends NamedKind {
	/** SQL for an object of the values that tell rows `t` of the same name apart. */
	beside: string;
}

/** Every kind that searchRecords searches: all registers, and devices. */
export const namedKinds: readonly DistinctKind[] = [
	...recordKinds.map((definition): DistinctKind => {
		const { kind, table, fields } = definition;
		const status = ["status", "state"].find((name) => name in fields);
		return {
			kind,
			table,
			nameOf: (row) => nameSql(definition, row),
			status: status && `t.${status}`,
			beside: besideSql(definition),
		};
	}),
	{
		kind: "device",
		table: "devices",
		nameOf: (row) => `coalesce(${row}.name, ${row}.hostname)`,
		status: "t.status",
		beside: DEVICE_BESIDE,
	},
];

/** Returns the kind that the id belongs to, or undefined if `kinds` does not contain it. */
export function namedKindOf(
	kinds: readonly NamedKind[],
	id: string,
): NamedKind | undefined {
	const kind = parseId(id)?.kind;
	return kinds.find((known) => known.kind === kind);
}
