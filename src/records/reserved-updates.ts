import type { PoolClient } from "pg";
import { AppError, type FieldIssue } from "../errors.ts";
import type { Context } from "../operation.ts";
import { type Membership, roleReaches } from "../principal.ts";
import type { AnyRecordKind } from "./kind.ts";
import type { Values } from "./values.ts";

/** A record, and the values that somebody wants to store in it. */
export interface RecordUpdate {
	before: Values;
	values: Values;
}

/**
 * Returns the updates that only an administrator may make. The issue says which field and why. The
 * number of statements does not depend on the number of updates.
 */
export type FindReserved = (
	client: PoolClient,
	organizationId: string,
	updates: readonly RecordUpdate[],
) => Promise<Map<RecordUpdate, FieldIssue>>;

/** Returns the updates that the member may not make, because only an administrator may. */
export async function findReserved<Update extends RecordUpdate>(
	client: PoolClient,
	membership: Membership,
	kind: AnyRecordKind,
	updates: readonly Update[],
): Promise<ReadonlyMap<RecordUpdate, FieldIssue>> {
	if (!kind.reserved || roleReaches(membership.role, "admin")) return new Map();
	return kind.reserved(client, membership.organizationId, updates);
}

/** Throws forbidden if only an administrator may make the update and the caller is none. */
export async function requireUnreserved(
	{ client, membership }: Context,
	kind: AnyRecordKind,
	update: RecordUpdate,
): Promise<void> {
	const reserved = await findReserved(client, membership, kind, [update]);
	const issue = reserved.get(update);
	if (!issue) return;
	throw new AppError(
		"forbidden",
		`permission denied: ${issue.field}: ${issue.message}`,
	);
}
