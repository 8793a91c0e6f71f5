import type { PoolClient } from "pg";
import { badFields } from "../errors.ts";
import type { AnyRecordKind } from "./kind.ts";
import type { Values } from "./values.ts";

/**
 * Returns what compares two reference ids. In a search for a record, upper and lower case make no
 * difference.
 */
export const referenceKey = (referenceId: unknown): string =>
	String(referenceId).toLowerCase();

/**
 * Returns the record that has each of these reference ids, in any case, by their keys. Records from
 * earlier versions may have the same key. Then it is the one whose reference id is spelled as given,
 * or else any of them. Leaves out the record `exceptId`.
 */
export async function findHolders(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	referenceIds: readonly string[],
	exceptId?: string,
): Promise<ReadonlyMap<string, string>> {
	if (!kind.referencePrefix || referenceIds.length === 0) return new Map();
	const { rows } = await client.query<{ reference_id: string; id: string }>({
		name: `holders.${kind.kind}`,
		text: `select g.reference_id, t.id
			from unnest($2::text[]) g (reference_id)
			join ${kind.table} t on t.organization_id = $1
				and t.reference_id_key = sort_key(g.reference_id)
				and lower(t.reference_id) = lower(g.reference_id)
			where t.id is distinct from $3
			order by t.reference_id = g.reference_id`,
		values: [organizationId, referenceIds, exceptId ?? null],
	});
	return new Map(
		rows.map(({ reference_id, id }) => [referenceKey(reference_id), id]),
	);
}

/** Throws bad_request if another record than `ownId` has the reference id in the values. */
export async function requireFreeReferenceId(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	{ reference_id }: Values,
	ownId?: string,
): Promise<void> {
	if (typeof reference_id !== "string") return;
	const given = [reference_id];
	const holders = await findHolders(client, kind, organizationId, given, ownId);
	if (holders.size > 0) throw takenReferenceId(kind);
}

export const takenReferenceId = (kind: AnyRecordKind) =>
	badFields([
		{
			field: "reference_id",
			message: `is already used by another ${kind.noun}; choose another, or leave it out to get the next free one`,
		},
	]);
