import {
	AppError,
	isDatabaseUnavailable,
	isTransactionConflict,
} from "../errors.ts";
import { batchWork, itemQueued } from "../tracing/channels.ts";

export interface BatchOptions<Item, Result> {
	/** What its items are, for traces. */
	name?: string;
	/** Items with equal keys never travel together nor at the same time. */
	key: (item: Item) => string;
	/** One statement for all `items`, which are sorted by key; gives their results in the same order. */
	run: (items: Item[]) => Promise<Result[]>;
	/** What an item costs in memory; the limits named …Bytes count it. */
	bytes: (item: Item) => number;
	maxBatchRows: number;
	maxBatchBytes: number;
	maxInFlight: number;
	/** What may wait for a place; beyond either an item is refused with service_unavailable. */
	maxWaitingRows: number;
	maxWaitingBytes: number;
	/** While something has waited longer than this, new items are refused in the same way. */
	maxWaitMs?: number;
	/** What has waited longer than this when its turn comes is refused as well: it is not stored. */
	maxAgeMs?: number;
}

/**
 * A caller gives up after 30 s, and asks again: what is accepted must be answered well before,
 * or an overloaded service would work on nothing but answers that nobody waits for.
 */
const MAX_WAIT_MS = 4_000;
/** A crowd that arrives in one moment finds an empty queue: all of it is taken, not all of it kept. */
const MAX_AGE_MS = 8_000;

const FULL = "the service is receiving more than it can store; try again later";

/** What a queue holds and has done. */
export interface QueueLoad {
	/** That wait. */
	rows: number;
	bytes: number;
	/** Batches that travel. */
	inFlight: number;
	/** Since the start: batches, rows in them, and rows refused because it was full. */
	batches: number;
	batchedRows: number;
	refused: number;
}

export interface Queue {
	load(): QueueLoad;
}

interface Waiting<Item, Result> {
	item: Item;
	key: string;
	bytes: number;
	/** On performance.now()'s clock. */
	since: number;
	resolve: (result: Result) => void;
	reject: (error: unknown) => void;
}

/**
 * Gathers items that arrive together into one statement. A batch leaves as soon as
 * one of `maxInFlight` places is free, so a lone item waits for nothing and a crowd
 * travels in large groups; `add` resolves after the batch has committed. Sorted
 * rows, and one key never in two batches at once, keep batches from deadlocking.
 * When a batch fails for another reason than an absent database, its halves go again
 * on their own, so that in the end a bad row fails alone.
 */
export class Batcher<Item, Result> implements Queue {
	readonly #options: BatchOptions<Item, Result>;
	#waiting: Waiting<Item, Result>[] = [];
	#waitingBytes = 0;
	readonly #keysInFlight = new Set<string>();
	#inFlight = 0;
	#isScheduled = false;
	#whenIdle: (() => void)[] = [];
	#batches = 0;
	#batchedRows = 0;
	#refused = 0;

	constructor(options: BatchOptions<Item, Result>) {
		this.#options = options;
	}

	/** The result of `item`. Rejects with service_unavailable when the queue is full or the database away. */
	add(item: Item): Promise<Result> {
		const bytes = this.#options.bytes(item);
		const { maxWaitingRows, maxWaitingBytes, maxWaitMs } = this.#options;
		const since = performance.now();
		const oldest = this.#waiting[0]?.since ?? since;
		if (
			this.#waiting.length >= maxWaitingRows ||
			this.#waitingBytes + bytes > maxWaitingBytes ||
			since - oldest > (maxWaitMs ?? MAX_WAIT_MS)
		) {
			this.#refused++;
			return Promise.reject(new AppError("service_unavailable", FULL));
		}
		if (itemQueued.hasSubscribers) itemQueued.publish(item);
		return new Promise((resolve, reject) => {
			const key = this.#options.key(item);
			this.#waiting.push({ item, key, bytes, since, resolve, reject });
			this.#waitingBytes += bytes;
			this.#schedule();
		});
	}

	/** Resolves when nothing waits and nothing is in flight. */
	idle(): Promise<void> {
		if (this.#waiting.length === 0 && this.#inFlight === 0) {
			return Promise.resolve();
		}
		return new Promise((resolve) => this.#whenIdle.push(resolve));
	}

	load(): QueueLoad {
		return {
			rows: this.#waiting.length,
			bytes: this.#waitingBytes,
			inFlight: this.#inFlight,
			batches: this.#batches,
			batchedRows: this.#batchedRows,
			refused: this.#refused,
		};
	}

	/** Departs after the event loop's present round, whose other requests come along. */
	#schedule(): void {
		if (this.#isScheduled || this.#inFlight >= this.#options.maxInFlight) {
			return;
		}
		this.#isScheduled = true;
		setImmediate(() => {
			this.#isScheduled = false;
			while (this.#inFlight < this.#options.maxInFlight && this.#depart()) {}
		});
	}

	/** Sends what may travel now; false when nothing may. */
	#depart(): boolean {
		this.#refuseOld();
		const batch: Waiting<Item, Result>[] = [];
		const held: Waiting<Item, Result>[] = [];
		let taken = 0;
		let bytes = 0;
		for (const entry of this.#waiting) {
			if (batch.length === this.#options.maxBatchRows) break;
			if (batch.length > 0 && bytes + entry.bytes > this.#options.maxBatchBytes)
				break;
			taken++;
			if (this.#keysInFlight.has(entry.key)) {
				held.push(entry);
			} else {
				this.#keysInFlight.add(entry.key);
				batch.push(entry);
				bytes += entry.bytes;
			}
		}
		if (batch.length === 0) {
			this.#tellIdle();
			return false;
		}
		this.#waitingBytes -= bytes;
		this.#waiting = [...held, ...this.#waiting.slice(taken)];
		batch.sort((a, b) => (a.key < b.key ? -1 : 1));
		this.#inFlight++;
		this.#batches++;
		this.#batchedRows += batch.length;
		void this.#travel(batch).finally(() => {
			this.#inFlight--;
			for (const entry of batch) this.#keysInFlight.delete(entry.key);
			if (this.#waiting.length > 0) this.#schedule();
			else this.#tellIdle();
		});
		return true;
	}

	#tellIdle(): void {
		if (this.#waiting.length > 0 || this.#inFlight > 0) return;
		for (const resolve of this.#whenIdle.splice(0)) resolve();
	}

	/** The oldest are the first, but for those held back for their key, which stay in their order. */
	#refuseOld(): void {
		const { maxAgeMs = MAX_AGE_MS } = this.#options;
		const before = performance.now() - maxAgeMs;
		const young = this.#waiting.findIndex(({ since }) => since >= before);
		const old = this.#waiting.splice(0, young < 0 ? Infinity : young);
		for (const { bytes, reject } of old) {
			this.#waitingBytes -= bytes;
			this.#refused++;
			reject(new AppError("service_unavailable", FULL));
		}
	}

	async #travel(batch: Waiting<Item, Result>[]): Promise<void> {
		try {
			const items = batch.map((entry) => entry.item);
			const { run, name = "items" } = this.#options;
			const results = await (batchWork.hasSubscribers
				? batchWork.tracePromise(() => run(items), { name, items })
				: run(items));
			if (results.length !== batch.length) {
				throw new Error(`${results.length} results for ${batch.length} items`);
			}
			// By index: an item without a result is a hole in the array, which forEach would skip.
			batch.forEach((entry, index) => {
				entry.resolve(results[index] as Result);
			});
		} catch (error) {
			const isAway =
				isDatabaseUnavailable(error) && !isTransactionConflict(error);
			if (batch.length === 1 || isAway) {
				for (const entry of batch) entry.reject(error);
				return;
			}
			const middle = batch.length >> 1;
			await this.#travel(batch.slice(0, middle));
			await this.#travel(batch.slice(middle));
		}
	}
}
