import { Client, type ClientConfig } from "pg";
import { IDENTITY_ROLE } from "../db/pool.ts";
import { sessionOf } from "../db/session.ts";

/** Number of rows deleted at a time. It is small so that nobody waits long for one of them. */
const BATCH_SIZE = 5_000;

/**
 * Administrators can see for this many days that an invitation was not accepted. The audit log
 * keeps it for ever.
 */
export const INVITATION_DAYS_AFTER = 30;

/** The condition for useless rows, by table. Each table has an index for it. */
const OVER: Record<string, string> = {
	sessions: "expires_at < now()",
	verifications: "expires_at < now()",
	account_links: "expires_at < now()",
	sign_in_failures: "ends_at < now()",
	invitations: `least(expires_at, accepted_at, revoked_at) < now() - interval '${INVITATION_DAYS_AFTER} days'`,
};

/**
 * Deletes what signing in and joining leave behind: expired sessions and links, values of finished
 * sign-ins, and invitations a month after they were accepted, revoked or expired. None of it can be
 * used again, and the audit log says what was done with it. Returns the number of deleted rows by
 * table. Rows that are in use at this moment are left for the next time.
 */
export async function removeLeftovers(
	ownerConnection: ClientConfig,
): Promise<Record<string, number>> {
	const client = new Client({
		...ownerConnection,
		application_name: "assay leftovers",
		connectionTimeoutMillis: 5_000,
		query_timeout: 15_000,
	});
	// Without a listener, a connection that is lost between two queries would end the process.
	client.on("error", () => {});
	const removed: Record<string, number> = {};
	try {
		await client.connect();
		// Row-level security hides these rows from the tables' owner.
		await client.query(
			sessionOf(IDENTITY_ROLE, {
				lock_timeout: "1s",
				statement_timeout: "10s",
				timezone: "UTC",
			}),
		);
		for (const [table, condition] of Object.entries(OVER)) {
			const count = await deleteBatches(client, table, condition);
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
): Promise<number> {
	let deleted = 0;
	for (let last = BATCH_SIZE; last === BATCH_SIZE; deleted += last) {
		const { rowCount } = await client.query(`
			delete from ${table} where ctid = any (array(
				select ctid from ${table} where ${condition} limit ${BATCH_SIZE} for update skip locked
			))`);
		last = rowCount ?? 0;
	}
	return deleted;
}
