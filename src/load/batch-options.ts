import type { AppError } from "../errors.ts";

export interface BatchOptions<Item, Result> {
	/** Name of the items in traces. */
	name?: string;
	/**
	 * Returns the key of an item. Items with equal keys are never in one batch, nor in two batches at
	 * the same time.
	 */
	key: (item: Item) => string;
	/**
	 * Runs one statement for all `items`, which are sorted by key. Returns their results in the same
	 * order. If a result is an AppError, only that item fails.
	 */
	run: (items: Item[]) => Promise<(Result | AppError)[]>;
	/** Returns the memory that an item takes. The limits with names that end in …Bytes count it. */
	bytes: (item: Item) => number;
	maxBatchRows: number;
	maxBatchBytes: number;
	maxInFlight: number;
	/**
	 * Shortest time from the start of a batch to that of the next one. The default is 0. Items that
	 * fill a batch do not wait for it. docs/decisions/0071 says why batches keep a distance.
	 */
	minIntervalMs?: number;
	/**
	 * Limits of waiting items. When one of the two limits is reached, a new item is rejected with
	 * service_unavailable.
	 */
	maxWaitingRows: number;
	maxWaitingBytes: number;
	/**
	 * Limit of items that wait behind another item with their key. When it is reached, only items
	 * with that key are rejected. The default is no limit.
	 */
	maxHeldPerKey?: number;
	/**
	 * Longest expected wait of a new item. If the item would wait longer, it is rejected with
	 * service_unavailable.
	 */
	maxWaitMs?: number;
	/**
	 * Longest actual wait of an accepted item. An item that has waited longer is rejected with
	 * service_unavailable and not stored.
	 */
	maxAgeMs?: number;
}
