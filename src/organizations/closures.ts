import type { PoolClient } from "pg";
import { appendChanges } from "../audit/log.ts";
import { takeTransactionLocks } from "../db/transaction-locks.ts";
import { AppError } from "../errors.ts";
import type { Principal } from "../principal.ts";
import { GRACE_DAYS } from "./days.ts";
import { requireOrganization } from "./organization-store.ts";
import { dayIn } from "./time-zone.ts";

/** Longest reason why an organization is closed, in characters. */
export const MAX_REASON = 500;

export interface Closure {
	name: string;
	/** Time zone in which the day of the deletion is told. */
	time_zone: string;
	/** SUSPENDED ends with a command. DELETION ends with the deletion, or with a command before it. */
	kind: "SUSPENDED" | "DELETION";
	reason: string;
	/** The service deletes the organization after this time, in RFC 3339. Null if suspended. */
	delete_after: string | null;
	/** True if the time of grace is over. The deletion may have begun. */
	is_due: boolean;
}

/** Returns the sentence for everybody who is turned away. */
export function closureMessage({
	name,
	time_zone,
	reason,
	delete_after,
}: Omit<Closure, "is_due" | "kind">): string {
	return delete_after === null
		? `${name} is suspended: ${reason}`
		: `${name} is closed and will be deleted on ${dayIn(time_zone, delete_after)}; the people who run this service can restore it until then. Reason: ${reason}`;
}

/** The 403 for a call about a closed organization. */
export function closedOrganization(message: string): AppError {
	return new AppError("forbidden", message);
}

/**
 * Throws forbidden if the transaction's organization is closed. For doors without a principal, such
 * as mailed links.
 */
export async function requireOpenOrganization(
	client: PoolClient,
	organizationId: string,
): Promise<void> {
	const closure = await readClosure(client, organizationId);
	if (closure) throw closedOrganization(closureMessage(closure));
}

/** Returns the closure of the transaction's organization, if there is one. */
export async function readClosure(
	client: PoolClient,
	organizationId: string,
): Promise<Closure | undefined> {
	const { rows } = await client.query<Closure>(
		`select o.name, o.time_zone, c.kind, c.reason, c.delete_after,
			coalesce(c.delete_after <= now(), false) as is_due
		from organization_closures c join organizations o on o.id = c.organization_id
		where c.organization_id = $1`,
		[organizationId],
	);
	return rows[0];
}

/**
 * Suspends the transaction's organization, or changes the reason. Throws conflict if it waits for its
 * deletion.
 */
export async function suspendOrganization(
	client: PoolClient,
	principal: Principal,
	organizationId: string,
	reason: string,
): Promise<Closure> {
	const before = await lockClosure(client, organizationId);
	if (before?.kind === "DELETION") {
		throw new AppError(
			"conflict",
			`${closureMessage(before)}; restore it first`,
		);
	}
	return close(client, principal, organizationId, "suspendOrganization", {
		kind: "SUSPENDED",
		reason,
	});
}

/**
 * Closes the transaction's organization at once, and lets the service delete it after GRACE_DAYS. A
 * second call changes the reason and not the time.
 */
export async function planDeletion(
	client: PoolClient,
	principal: Principal,
	organizationId: string,
	reason: string,
): Promise<Closure> {
	await lockClosure(client, organizationId);
	return close(client, principal, organizationId, "deleteOrganization", {
		kind: "DELETION",
		reason,
	});
}

/**
 * Opens the transaction's organization again. Throws conflict if it is not closed, or closed for the
 * other reason.
 */
export async function openOrganization(
	client: PoolClient,
	principal: Principal,
	organizationId: string,
	kind: Closure["kind"],
): Promise<Closure> {
	const before = await lockClosure(client, organizationId);
	if (!before || before.kind !== kind) {
		throw new AppError(
			"conflict",
			before
				? `this command is for another state: ${closureMessage(before)}`
				: `the organization is not ${kind === "SUSPENDED" ? "suspended" : "waiting for its deletion"}`,
		);
	}
	if (before.is_due) {
		throw new AppError(
			"conflict",
			`the time of grace of ${before.name} ended on ${before.delete_after}, and its deletion may have begun; restore a backup into another database instead`,
		);
	}
	await client.query(
		"delete from organization_closures where organization_id = $1",
		[organizationId],
	);
	const operation =
		kind === "SUSPENDED" ? "resumeOrganization" : "restoreOrganization";
	await appendChanges(client, principal, operation, organizationId, [
		{
			kind: "organization",
			id: organizationId,
			name: before.name,
			fields: { closure: { before: kind } },
			organizationId,
		},
	]);
	return before;
}

async function close(
	client: PoolClient,
	principal: Principal,
	organizationId: string,
	operation: "suspendOrganization" | "deleteOrganization",
	{ kind, reason }: Pick<Closure, "kind" | "reason">,
): Promise<Closure> {
	await client.query(
		`insert into organization_closures as c (organization_id, kind, reason, delete_after)
		values ($1, $2, $3, case when $2 = 'DELETION' then now() + $4 * interval '1 day' end)
		on conflict (organization_id) do update set
			kind = excluded.kind, reason = excluded.reason,
			delete_after = coalesce(c.delete_after, excluded.delete_after)`,
		[organizationId, kind, reason, GRACE_DAYS],
	);
	const closure = await readClosure(client, organizationId);
	if (!closure)
		throw new Error("the closure cannot be read after it was stored");
	await appendChanges(client, principal, operation, organizationId, [
		{
			kind: "organization",
			id: organizationId,
			name: closure.name,
			fields: { closure: { after: kind }, reason: { after: reason } },
			organizationId,
		},
	]);
	return closure;
}

/** Locks the organization, so that two changes follow each other. Throws not_found without one. */
async function lockClosure(
	client: PoolClient,
	organizationId: string,
): Promise<Closure | undefined> {
	await requireOrganization(client, organizationId);
	await takeTransactionLocks(client, `closure ${organizationId}`);
	return readClosure(client, organizationId);
}
