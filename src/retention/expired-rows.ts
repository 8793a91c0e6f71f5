import { Client, type ClientConfig } from "pg";
import { IDENTITY_ROLE } from "../db/pool.ts";
import { sessionOf } from "../db/session.ts";
import { WINDOW } from "../sign-in/sign-in-throttle.ts";

/** Rows deleted at a time, so that nobody waits long for one of them. */
const BATCH_SIZE = 5_000;

/** For so long administrators see that an invitation was not taken; the audit log has it for ever. */
export const INVITATION_DAYS_AFTER = 30;

/** What is good for nothing any more, table by table. All have an index to find it by. */
const OVER: Record<string, string> = {
	sessions: "expires_at < now()",
	verifications: "expires_at < now()",
	account_links: "expires_at < now()",
	sign_in_failures: `since < now() - interval '${WINDOW}'`,
	invitations: `least(expires_at, accepted_at, revoked_at) < now() - interval '${INVITATION_DAYS_AFTER} days'`,
};

/**
 * Deletes what signing in and joining leave behind: sessions and links that have expired, values of
 * sign-ins that are over, invitations a month after they were accepted, revoked or have expired. Nothing of it can be
 * used again, and what was done with it is in the audit log. Gives how many rows of each table.
 * Rows that somebody is just using are left for the next time.
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
	// Unheard, a connection lost between two queries would end the process.
	client.on("error", () => {});
	const removed: Record<string, number> = {};
	try {
		await client.connect();
		// The tables' owner sees none of their rows.
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
