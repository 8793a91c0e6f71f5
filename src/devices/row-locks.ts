import type { Pool, PoolClient } from "pg";
import { byteaArray } from "../db/array.ts";
import { transaction } from "../db/pool.ts";
import { isLockTimeout } from "../db/sqlstate.ts";
import { type AppError, overloaded } from "../errors.ts";
import type { KeyHash } from "./authentication.ts";

/** How long batches ask for the locks first, after one that met a lock. */
const WARY_MS = 5_000;

/**
 * Makes of `store`, one statement for a batch of devices, one that leaves out those whose rows
 * somebody keeps locked: each of these alone is service_unavailable. Asking for the locks first
 * would cost every batch, so it is done only for a while after one had to wait too long: the
 * device that it waited for comes again.
 */
export function leaveOutLockedDevices<
	Item extends { keyHash: KeyHash },
	Result,
>(
	pool: Pool,
	what: "heartbeats" | "reports",
	store: (db: Pool | PoolClient, items: Item[]) => Promise<Result[]>,
): (items: Item[]) => Promise<(Result | AppError)[]> {
	let waryUntil = 0;

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
					"the device is busy: another change of it is under way; try again later",
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
		if (performance.now() < waryUntil) return storeFree(items);
		try {
			return await store(pool, items);
		} catch (error) {
			if (!isLockTimeout(error)) throw error;
			waryUntil = performance.now() + WARY_MS;
			return storeFree(items);
		}
	};
}
