import type { PoolClient } from "pg";
import { z } from "zod";
import { notFound } from "../invoke.ts";
import { namedKindOf, namedKinds } from "../records/searchable-kinds.ts";

/** Id of a record that people can comment on and watch: of any register, or a device. */
export const recordId = () =>
	z
		.string()
		.refine(
			(text) => namedKindOf(namedKinds, text) !== undefined,
			"must be the id of a record of a register or of a device",
		)
		.describe("Id of the record, of any register, or of a device");

export interface NamedRecord {
	id: string;
	kind: string;
	name: string | null;
}

/**
 * Returns the record. A lock keeps others from deleting it before the end of the transaction.
 * Throws not_found if there is none.
 */
export async function requireRecord(
	client: PoolClient,
	organizationId: string,
	id: string,
	lock: "" | "for key share" = "",
): Promise<NamedRecord> {
	const named = namedKindOf(namedKinds, id);
	if (!named) throw notFound(id);
	const { rows } = await client.query<NamedRecord>(
		`select t.id, $3 as kind, left(${named.nameOf("t")}, 1000) as name
		from ${named.table} t where t.organization_id = $1 and t.id = $2 ${lock}`,
		[organizationId, id, named.kind],
	);
	if (!rows[0]) throw notFound(id);
	return rows[0];
}
