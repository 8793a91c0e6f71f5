import type { Pool, PoolClient } from "pg";
import { byteaArray } from "../db/array.ts";
import { transaction } from "../db/pool.ts";
import { isLockTimeout } from "../db/sqlstate.ts";
import { type AppError, overloaded } from "../errors.ts";
import type { KeyHash } from "./authentication.ts";

/** Time for which batches check the locks first after one of them had to wait for a lock. */
const CHECK_LOCKS_MS = 5_000;

/**
 * Returns a `store` that skips devices whose rows another transaction has locked. These devices get
 * service_unavailable, and the rest of the batch is stored. Checking the locks first would slow
 * down every batch. Batches therefore do it only for a while after one of them waited too long,
 * because the device that it waited for will retry.
 */
export function leaveOutLockedDevices<
	Item extends { keyHash: KeyHash },
	Result,
>(
	pool: Pool,
	what: "heartbeats" | "reports",
	store: (db: Pool | PoolClient, items: Item[]) => Promise<Result[]>,
): (items: Item[]) => Promise<(Result | AppError)[]> {
	let checkLocksUntil = 0;

	const storeFree = (items: Item[]) =>
		transaction(pool, {}, async (client) => {
			const { rows } = await client.query<{ ordinal: number }>({
				name: "agent_lock",
				text: "select ordinal from agent_lock($1, $2) ordinal",
				values: [
					byteaArray(items.map(({ keyHash }) => keyHash)),
					what === "reports",
				],
			});
			const results = new Array<Result | AppError>(items.length);
			for (const { ordinal } of rows) {
				results[ordinal - 1] = overloaded(
					"another change of the device is in progress; retry later",
				);
			}
			const free = items.flatMap((item, index) =>
				index in results ? [] : [{ item, index }],
			);
			if (free.length === 0) return results;
			const stored = await store(
				client,
				free.map(({ item }) => item),
			);
			free.forEach(({ index }, position) => {
				results[index] = stored[position] as Result;
			});
			return results;
		});

	return async (items) => {
		if (performance.now() < checkLocksUntil) return storeFree(items);
		try {
			return await store(pool, items);
		} catch (error) {
			if (!isLockTimeout(error)) throw error;
			checkLocksUntil = performance.now() + CHECK_LOCKS_MS;
			return storeFree(items);
		}
	};
}
