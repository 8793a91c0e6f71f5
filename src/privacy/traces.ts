import type { PoolClient } from "pg";
import { namedKinds } from "../records/searchable-kinds.ts";
import { recordKinds } from "../registers/all.ts";

/** A record, in the form in which an export or a report names it. */
export interface Trace {
	kind: string;
	id: string;
	name: string | null;
}

/**
 * Returns the random part of an id as twelve hexadecimal digits. These digits reveal nothing about
 * the person.
 */
export function shortId(id: string): string {
	return Buffer.from(id, "base64url").toString("hex", 18);
}

/**
 * Columns that contain the id of a person, such as owner_id and assigned_to_id, with the kind of
 * their records.
 */
const OWNED = [
	...recordKinds.flatMap(({ kind, fields }) =>
		Object.entries(fields)
			.filter(([, { reference, join }]) => reference === "people" && !join)
			.map(([column]) => ({ kind, column })),
	),
	{ kind: "device" as const, column: "owner_id" },
	{ kind: "device" as const, column: "claimed_owner_id" },
];

/**
 * Lists the records and devices that a person owns, and the records that are assigned to the
 * person.
 */
export async function readOwned(
	client: PoolClient,
	organizationId: string,
	personId: string,
): Promise<(Trace & { as: string })[]> {
	const selects = OWNED.flatMap(({ kind, column }) => {
		const known = namedKinds.find((named) => named.kind === kind);
		return known
			? `select '${kind}' as kind, t.id::text, ${known.nameOf("t")} as name, '${column}' as as
			from ${known.table} t where t.organization_id = $1 and t.${column} = $2`
			: [];
	});
	const { rows } = await client.query<Trace & { as: string }>(
		`${selects.join(" union all ")} order by kind, id`,
		[organizationId, personId],
	);
	return rows;
}

/**
 * Counts audit entries that contain one of `texts` anywhere, for example in the description of a
 * risk.
 */
export async function countEntriesWith(
	client: PoolClient,
	organizationId: string,
	texts: readonly string[],
): Promise<number> {
	const { rows } = await client.query<{ count: number }>(
		`select count(*)::integer as count from audit_entries e
		where e.organization_id = $1 and search_fold(concat_ws(' ',
			e.actor_name, e.token_name, e.client, e.record_name, e.changes::text
		)) like any (array(select search_pattern(w) from unnest($2::text[]) w))`,
		[organizationId, texts],
	);
	return rows[0]?.count ?? 0;
}

/** Counts earlier states of records that contain one of `texts` anywhere. */
export async function countVersionsWith(
	client: PoolClient,
	organizationId: string,
	texts: readonly string[],
): Promise<number> {
	const { rows } = await client.query<{ count: number }>(
		`select count(*)::integer as count from record_versions v
		where v.organization_id = $1
			and search_fold(v.fields::text) like any (array(select search_pattern(w) from unnest($2::text[]) w))`,
		[organizationId, texts],
	);
	return rows[0]?.count ?? 0;
}
