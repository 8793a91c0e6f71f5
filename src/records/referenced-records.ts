import type { PoolClient } from "pg";
import { z } from "zod";
import { recordKinds } from "../registers/all.ts";
import { namedKinds } from "./searchable-kinds.ts";

export const referencedRecord = z.object({
	field: z.string().describe("The field that names it, such as vendor_ids"),
	id: z.string(),
	kind: z.string(),
	name: z.string().nullable(),
	status: z.string().nullable(),
});

type Named = z.output<typeof referencedRecord>;

/** A select statement for the records that a field of the record $2 names. */
interface Reference {
	kind: string;
	sql: string;
}

const references: readonly Reference[] = [
	...recordKinds.flatMap(({ kind, table, fields }) =>
		Object.entries(fields).flatMap(([field, { reference, join }]) => {
			if (!reference) return [];
			const from = join ? `${join.table} t` : `${table} t`;
			const [own, named] = join
				? [`t.${kind}_id`, `t.${join.column}`]
				: ["t.id", `t.${field}`];
			return [{ kind, sql: select(field, reference, from, own, named) }];
		}),
	),
	{
		kind: "device",
		sql: select("owner_id", "people", "devices t", "t.id", "t.owner_id"),
	},
];

function select(
	field: string,
	kind: string,
	from: string,
	own: string,
	named: string,
): string {
	const target = namedKinds.find((other) => other.kind === kind);
	if (!target) throw new Error(`${field} names no kind of record`);
	const status = target.status?.replace(/^t\./, "n.") ?? "null";
	return `
		select '${field}' as field, '${kind}' as kind, n.id::text as id,
			left(${target.nameOf("n")}, 1000) as name, ${status}::text as status
		from ${from}
		join ${target.table} n on n.organization_id = t.organization_id and n.id = ${named}
		where t.organization_id = $1 and ${own} = $2`;
}

/** Returns the records that a record names in its fields, such as its owner or its vendors. */
export async function readReferencedRecords(
	client: PoolClient,
	organizationId: string,
	{ id, kind }: { id: string; kind: string },
): Promise<Named[]> {
	const texts = references
		.filter((reference) => reference.kind === kind)
		.map(({ sql }) => sql);
	if (texts.length === 0) return [];
	const { rows } = await client.query<Named>({
		name: `named_records.${kind}`,
		text: `${texts.join(" union all ")} order by field, name, id`,
		values: [organizationId, id],
	});
	return rows;
}
