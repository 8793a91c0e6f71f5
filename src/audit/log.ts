import type { Pool, PoolClient, QueryConfig } from "pg";
import { retriedTransaction, transaction } from "../db/pool.ts";
import { setOrganization } from "../db/transaction-settings.ts";
import { parseId } from "../id.ts";
import type { Change } from "../operation.ts";
import type { Principal } from "../principal.ts";
import type { AuditEvent } from "./events.ts";

/**
 * Largest number of entries that one statement writes. An import has thousands of entries, and
 * writing this many takes much less than the time limit of a statement.
 */
const AT_ONCE = 1000;

/**
 * Adds the changes of an operation or event to the audit log of each organization concerned, in the
 * client's transaction. The entries are visible with the commit. The sealer numbers them
 * afterwards.
 */
export async function appendChanges(
	client: PoolClient,
	principal: Principal,
	by: { name: string } | AuditEvent,
	organizationId: string,
	changes: Change[],
): Promise<void> {
	const statements = changeStatements(principal, by, organizationId, changes);
	for (const statement of statements) await client.query(statement);
}

/** Returns the statements of `appendChanges`, to be run in this order. */
export function changeStatements(
	principal: Principal,
	by: { name: string } | AuditEvent,
	organizationId: string,
	changes: Change[],
): QueryConfig[] {
	if (changes.length === 0) return [];
	const operation = typeof by === "string" ? by : by.name;
	const byOrganization = Map.groupBy(
		changes,
		(change) => change.organizationId ?? organizationId,
	);
	const additions = [...byOrganization].flatMap(([id, changes]) => {
		const entries = changes.map((change) => ({
			...actorOf(principal),
			operation,
			record_kind: change.kind,
			record_id: change.id,
			record_name: change.name,
			changes: change.fields,
			import_id: change.importId,
		}));
		const parts = Math.ceil(entries.length / AT_ONCE);
		return Array.from({ length: parts }, (_, part): Addition => {
			const from = part * AT_ONCE;
			return [id, entries.slice(from, from + AT_ONCE)];
		});
	});
	const isOfOthers =
		organizationId !== "" && additions.some(([id]) => id !== organizationId);
	// The database accepts only entries of the transaction's own organization, or of any organization
	// if the transaction has none. Some changes concern other organizations, such as revoking a token
	// that reaches several. For these, the transaction's organization is cleared.
	const statements = isOfOthers ? [{ text: setOrganization("") }] : [];
	// A user may have many organizations, so one statement writes the entries of several of them.
	for (let from = 0, to = 0; from < additions.length; from = to) {
		let count = 0;
		while (to < additions.length && (to === from || count < AT_ONCE)) {
			count += additions[to++]?.[1].length ?? 0;
		}
		statements.push(appendStatement(additions.slice(from, to)));
	}
	if (isOfOthers) statements.push({ text: setOrganization(organizationId) });
	return statements;
}

/** A call that the role of the user or the scope of the API token did not permit. */
export interface RejectedCall {
	principal: Principal;
	operation: string;
	organizationId: string;
	recordId: string | null;
}

/**
 * Adds an entry that says that the caller's role did not permit an operation. `further` is the
 * number of rejections that one entry stands for (see rejected-calls.ts).
 */
export async function appendRejection(
	pool: Pool,
	{ principal, operation, organizationId, recordId }: RejectedCall,
	further?: number,
): Promise<void> {
	const entry = {
		...actorOf(principal),
		operation,
		outcome: "REFUSED",
		record_kind: recordId && parseId(recordId)?.kind,
		record_id: recordId,
		...(further && { changes: { further_rejections: { after: further } } }),
	};
	await retriedTransaction(pool, { organizationId }, (client) =>
		append(client, [[organizationId, [entry]]]),
	);
}

/**
 * An event of a user's account. It concerns no record of an organization, but it is recorded for
 * each of the user's organizations.
 */
export interface AccountEvent {
	operation: AuditEvent;
	outcome: "DONE" | "REFUSED";
	user: { id: string; name: string };
	/** Details of the event. They must never contain secrets. */
	fields: Change["fields"];
}

/** Adds an event to the audit log of each of the user's organizations. */
export async function appendAccountEvent(
	pool: Pool,
	principal: Principal,
	event: AccountEvent,
	organizationIds: readonly string[],
): Promise<void> {
	await transaction(pool, {}, async (client) => {
		const entry = {
			...actorOf(principal),
			operation: event.operation,
			outcome: event.outcome,
			record_kind: "user",
			record_id: event.user.id,
			record_name: event.user.name,
			changes: event.fields,
		};
		await append(
			client,
			organizationIds.map((id): Addition => [id, [entry]]),
		);
	});
}

/** An organization and the entries that are added to its log. */
type Addition = [organizationId: string, entries: object[]];

async function append(
	client: PoolClient,
	additions: Addition[],
): Promise<void> {
	await client.query(appendStatement(additions));
}

function appendStatement(additions: Addition[]): QueryConfig {
	// One JSON text needs no escaping. In an array, each quote and backslash of the entries would be
	// escaped again, which could block the event loop for 300 ms.
	return {
		name: "audit_append",
		text: "select audit_append(a ->> 0, a -> 1) from jsonb_array_elements($1::jsonb) a",
		values: [JSON.stringify(additions)],
	};
}

function actorOf(principal: Principal): object {
	return {
		actor_kind: principal.kind,
		actor_id: principal.userId,
		actor_name: principal.name,
		token_id: principal.token?.id,
		token_name: principal.token?.name,
		client: principal.client,
		address: principal.address,
	};
}
