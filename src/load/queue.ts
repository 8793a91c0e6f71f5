import type { AppError } from "../errors.ts";

/** The current load of a queue, and counts since the start. */
export interface QueueLoad {
	/** Number of waiting items. */
	rows: number;
	bytes: number;
	/** Number of batches that the database is processing. */
	inFlight: number;
	/**
	 * Counts since the start: batches, the rows in them, and rows that were turned away because the
	 * queue was full.
	 */
	batches: number;
	batchedRows: number;
	refused: number;
}

export interface Queue {
	load(): QueueLoad;
	/**
	 * Returns true while a new item would be turned away. Ask this before doing any work for an item.
	 */
	isFull(): boolean;
	/** Returns the error for an item that the queue turns away. It says what the cause is. */
	whyFull(): AppError;
}
