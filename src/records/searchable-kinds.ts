import { type IdKind, parseId } from "../id.ts";
import { recordKinds } from "../registers/all.ts";

/** A kind of record as links and search see it: a table whose rows have a name. */
export interface NamedKind {
	kind: IdKind;
	table: string;
	/** SQL of the name of a row `t`, which may be null. */
	name: string;
	/** SQL of how far it is, for the kinds that have a status or a state. */
	status: string | undefined;
}

/** Every kind that searchRecords looks through: the registers and the devices. */
export const namedKinds: readonly NamedKind[] = [
	...recordKinds.map(({ kind, table, title, fields }) => {
		const status = ["status", "state"].find((name) => name in fields);
		return {
			kind,
			table,
			name: title ? `t.${title}` : "null::text",
			status: status && `t.${status}`,
		};
	}),
	{
		kind: "device",
		table: "devices",
		name: "coalesce(t.name, t.hostname)",
		status: "t.status",
	},
];

/** The kind that the id is of, if `kinds` has it. */
export function namedKindOf(
	kinds: readonly NamedKind[],
	id: string,
): NamedKind | undefined {
	const kind = parseId(id)?.kind;
	return kinds.find((known) => known.kind === kind);
}
