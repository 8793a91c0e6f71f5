import type { PoolClient } from "pg";
import { textArray } from "./array.ts";

/**
 * Waits until no other transaction holds the lock of any of these names, and holds these locks until
 * this transaction ends. A name says what is done and for whom, such as "webhooks" and the id of the
 * organization. Several locks are always taken in the order of their names, so transactions do not
 * wait for each other in a circle.
 *
 * A later statement sees what the transactions before it have committed. A statement that takes the
 * lock itself would not, because PostgreSQL chooses what it sees before it waits.
 */
export async function takeTransactionLocks(
	client: PoolClient,
	...names: string[]
): Promise<void> {
	// PostgreSQL sorts before it calls the function, because the function is volatile.
	await client.query(
		`select pg_advisory_xact_lock(hashtextextended(t.name, 0))
		from unnest($1::text[]) t (name) order by t.name`,
		[textArray(names)],
	);
}
