import type { PoolClient } from "pg";
import { takeTransactionLocks } from "./transaction-locks.ts";

/** A maximum number of rows. */
export interface Limit {
	/** Names what is limited and for whom. A transaction that adds such a row takes this lock. */
	lock: string;
	/** The rows that count: a table and a condition, whose parameters are `values`. */
	from: string;
	values: readonly unknown[];
	max: number;
	/** Makes the error for a row too many. */
	error: () => Error;
}

/**
 * Throws the limit's error if there is no room for one more row. The caller adds the row in the same
 * transaction. Transactions that add rows at the same time follow each other, so together they do
 * not exceed the limit either.
 *
 * Call this just before the row is added, and after locking other rows, so that transactions do not
 * wait for each other in a circle.
 */
export async function enforceLimit(
	client: PoolClient,
	limit: Limit,
): Promise<void> {
	await takeTransactionLocks(client, limit.lock);
	await rejectAtLimit(client, limit);
}

/**
 * Throws the limit's error if there is no room for one more row now. Unless this transaction holds
 * the lock already, others may add a row meanwhile.
 */
export async function rejectAtLimit(
	client: PoolClient,
	{ from, values, max, error }: Omit<Limit, "lock">,
): Promise<void> {
	const { rows } = await client.query<{ count: number }>(
		`select count(*)::int as count from ${from}`,
		[...values],
	);
	if ((rows[0]?.count ?? 0) >= max) throw error();
}
