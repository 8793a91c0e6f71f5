import { Client, type ClientConfig } from "pg";
import { sessionOf } from "../db/server-sessions.ts";
import { MAIL_DAYS } from "../mail/kept-mails.ts";
import { IDEMPOTENCY_HOURS } from "../records/idempotency.ts";

/**
 * Number of rows that are deleted at a time. The number is small, so that nobody waits long for one
 * of these rows.
 */
const BATCH_SIZE = 5_000;

/**
 * Number of days for which administrators can see that an invitation was not accepted. The audit
 * log keeps that information forever.
 */
export const INVITATION_DAYS_AFTER = 30;

/** Number of days for which an expired link to a person's devices can still mail a new one. */
const LINK_DAYS_AFTER = 90;

/** Number of days after its last sign-in for which a browser of a user is remembered. */
const SIGN_IN_PLACE_DAYS = 400;

/** Number of days for which the use of an emergency account is remembered. No session is so old. */
const EMERGENCY_DAYS = 40;

/**
 * The condition for rows that are no longer of use, by table. Every table has an index for its
 * condition.
 */
const OVER: Record<string, string> = {
	sessions: "expires_at < now()",
	verifications: "expires_at < now()",
	account_links: "expires_at < now()",
	my_devices_links: `expires_at < now() - interval '${LINK_DAYS_AFTER} days'`,
	sign_in_failures: "ends_at < now()",
	sign_in_places: `last_at < now() - interval '${SIGN_IN_PLACE_DAYS} days'`,
	emergency_sign_ins: `used_at < now() - interval '${EMERGENCY_DAYS} days'`,
	idempotency_keys: `created_at < now() - interval '${IDEMPOTENCY_HOURS} hours'`,
	events: "handled_at < now() - interval '7 days'",
	notification_messages: `created_at < now() - interval '${MAIL_DAYS} days'`,
	webhook_deliveries: `created_at < now() - interval '${MAIL_DAYS} days'`,
	mails: `created_at < now() - interval '${MAIL_DAYS} days'`,
	// An app that never came back for its first secret.
	api_tokens:
		"id in (select token_id from connected_apps where connected_at is null and code_ends_at < now() - interval '1 day')",
	oauth_clients: "used_at is null and known_at < now() - interval '1 day'",
	invitations: `least(expires_at, accepted_at, revoked_at) < now() - interval '${INVITATION_DAYS_AFTER} days'`,
};

/**
 * Deletes rows that signing in and joining leave behind. These are expired sessions and links, old
 * mails, events and deliveries, values of finished sign-ins, and invitations a month after they
 * were accepted, revoked or expired. None of them can be used again, and the audit log says what
 * was done with them. Rows that are in use at this moment are left for the next call. Returns the
 * number of deleted rows of each table. Rejects after the running batch if `signal` aborts.
 */
export async function removeLeftovers(
	ownerConnection: ClientConfig,
	signal?: AbortSignal,
): Promise<Record<string, number>> {
	const client = new Client({
		...ownerConnection,
		application_name: "assay leftovers",
		connectionTimeoutMillis: 5_000,
		query_timeout: 15_000,
	});
	// The connection may be lost between two queries. Without a listener, this event would then end
	// the process.
	client.on("error", () => {});
	const removed: Record<string, number> = {};
	try {
		await client.connect();
		// Row-level security hides these rows from the owner of the tables, so the connection acts as
		// assay_identity.
		await client.query(
			sessionOf("identity", {
				lock_timeout: "1s",
				statement_timeout: "10s",
				timezone: "UTC",
			}),
		);
		for (const [table, condition] of Object.entries(OVER)) {
			const count = await deleteBatches(client, table, condition, signal);
			if (count > 0) removed[table] = count;
		}
	} finally {
		await client.end().catch(() => {});
	}
	return removed;
}

async function deleteBatches(
	client: Client,
	table: string,
	condition: string,
	signal?: AbortSignal,
): Promise<number> {
	let deleted = 0;
	for (let last = BATCH_SIZE; last === BATCH_SIZE; deleted += last) {
		signal?.throwIfAborted();
		const { rowCount } = await client.query(`
			delete from ${table} where ctid = any (array(
				select ctid from ${table} where ${condition} limit ${BATCH_SIZE} for update skip locked
			))`);
		last = rowCount ?? 0;
	}
	return deleted;
}
