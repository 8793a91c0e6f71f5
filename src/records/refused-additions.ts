import type { PoolClient } from "pg";
import { badFields, type FieldIssue } from "../errors.ts";
import type { AnyRecordKind } from "./kind.ts";
import type { Values } from "./values.ts";

/**
 * Returns the new records that nobody may add beside the existing ones. The issue says which field
 * is wrong and why. The number of statements does not depend on the number of records.
 */
export type FindRefused = (
	client: PoolClient,
	organizationId: string,
	added: readonly Values[],
) => Promise<Map<Values, FieldIssue>>;

/** Returns the new records that may not be added, by their values. */
export async function findRefused(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	added: readonly Values[],
): Promise<ReadonlyMap<Values, FieldIssue>> {
	if (!kind.refused || added.length === 0) return new Map();
	return kind.refused(client, organizationId, added);
}

/** Throws bad_request if the new record may not be added. */
export async function requireAddable(
	client: PoolClient,
	kind: AnyRecordKind,
	organizationId: string,
	values: Values,
): Promise<void> {
	const refused = await findRefused(client, kind, organizationId, [values]);
	const issue = refused.get(values);
	if (issue) throw badFields([issue]);
}
