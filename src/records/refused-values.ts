import type { PoolClient } from "pg";
import { badFields, type FieldIssue } from "../errors.ts";
import type { AnyRecordKind } from "./kind.ts";
import type { Values } from "./values.ts";

/** Values that somebody wants to store in a new record, or in the existing record `before`. */
export interface Wanted {
	before?: Values;
	values: Values;
}

/**
 * Returns the values that nobody may store beside the other records, or beside the earlier ones of
 * the same call. The issue says which field is wrong and why. The number of statements does not
 * depend on the number of records. A rule notes in `taken` what only one record may have.
 */
export type FindRefused = (
	client: PoolClient,
	organizationId: string,
	wanted: readonly Wanted[],
	taken: Set<string>,
) => Promise<Map<Values, FieldIssue>>;

/** Returns the values that may not be stored. A call with several parts gives each the same `taken`. */
export async function findRefused(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	wanted: readonly Wanted[],
	taken = new Set<string>(),
): Promise<ReadonlyMap<Values, FieldIssue>> {
	if (!kind.refused || wanted.length === 0) return new Map();
	return kind.refused(client, organizationId, wanted, taken);
}

/** Throws bad_request if the values may not be stored. */
export async function requireAccepted(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	wanted: Wanted,
): Promise<void> {
	const refused = await findRefused(client, kind, organizationId, [wanted]);
	const issue = refused.get(wanted.values);
	if (issue) throw badFields([issue]);
}
