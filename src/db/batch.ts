import {
	busy,
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
	/** While a new item would wait longer than this, it is refused in the same way. */
	maxWaitMs?: number;
	/** What has waited longer than this all the same is refused as well: it is not stored. */
	maxAgeMs?: number;
}

/**
 * A caller gives up after 30 s, and asks again: what is accepted must be answered well before,
 * or an overloaded service would work on nothing but answers that nobody waits for. Refused at
 * once, it costs next to nothing and comes back when there is time.
 */
const MAX_WAIT_MS = 1_000;
/** For what was taken because the database was quicker then. */
const MAX_AGE_MS = 2_000;
const SWEEP_MS = 500;
/** How much the latest batch counts in the time that batches take. */
const NEWEST = 0.2;

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
	/** True while a new item would be refused: to be asked before anything is done for it. */
	isFull(): boolean;
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
	/** What a batch took lately from its departure to its end. */
	#travelMs = 0;
	#sweeper: NodeJS.Timeout | undefined;
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
		const since = performance.now();
		if (this.#isFullFor(bytes, since)) {
			this.#refused++;
			return Promise.reject(busy());
		}
		if (itemQueued.hasSubscribers) itemQueued.publish(item);
		return new Promise((resolve, reject) => {
			const key = this.#options.key(item);
			this.#waiting.push({ item, key, bytes, since, resolve, reject });
			this.#waitingBytes += bytes;
			this.#schedule();
		});
	}

	/** Whoever is turned away by this answer counts as refused. */
	isFull(): boolean {
		if (this.#waiting.length === 0) return false;
		const isFull = this.#isFullFor(1, performance.now());
		if (isFull) this.#refused++;
		return isFull;
	}

	#isFullFor(bytes: number, now: number): boolean {
		const { maxWaitingRows, maxWaitingBytes } = this.#options;
		const { maxWaitMs = MAX_WAIT_MS } = this.#options;
		return (
			this.#waiting.length >= maxWaitingRows ||
			this.#waitingBytes + bytes > maxWaitingBytes ||
			now - (this.#waiting[0]?.since ?? now) > maxWaitMs ||
			this.#expectedMs() > maxWaitMs
		);
	}

	/** How long what waits now will take, by what batches took lately. */
	#expectedMs(): number {
		const { maxBatchRows, maxBatchBytes, maxInFlight } = this.#options;
		const batches = Math.max(
			this.#waiting.length / maxBatchRows,
			this.#waitingBytes / maxBatchBytes,
		);
		return (batches / maxInFlight) * this.#travelMs;
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
		if (this.#inFlight >= this.#options.maxInFlight) {
			this.#sweepLater();
			return;
		}
		if (this.#isScheduled) return;
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
			this.#sweepLater();
			this.#tellIdle();
			return false;
		}
		this.#waitingBytes -= bytes;
		this.#waiting = [...held, ...this.#waiting.slice(taken)];
		batch.sort((a, b) => (a.key < b.key ? -1 : 1));
		const departed = performance.now();
		this.#inFlight++;
		this.#batches++;
		this.#batchedRows += batch.length;
		void this.#travel(batch).finally(() => {
			this.#inFlight--;
			const tookMs = performance.now() - departed;
			this.#travelMs += (tookMs - this.#travelMs) * NEWEST;
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
			reject(busy());
		}
	}

	/** No batch may come back for long, as from a silent database: what waits is refused in time. */
	#sweepLater(): void {
		if (this.#sweeper || this.#waiting.length === 0) return;
		this.#sweeper = setTimeout(() => {
			this.#sweeper = undefined;
			this.#refuseOld();
			this.#tellIdle();
			this.#sweepLater();
		}, SWEEP_MS);
		this.#sweeper.unref();
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
