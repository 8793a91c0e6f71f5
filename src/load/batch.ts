import { isTransactionConflict } from "../db/sqlstate.ts";
import {
	AppError,
	isDatabaseUnavailable,
	overloaded,
	SLOW_DATABASE,
} from "../errors.ts";
import { batchWork, itemQueued } from "../tracing/channels.ts";
import type { BatchOptions } from "./batch-options.ts";
import type { Queue, QueueLoad } from "./queue.ts";

/**
 * Longest expected wait of a new item. A caller gives up after 30 s and retries, so an accepted
 * item must be answered well before that. Otherwise an overloaded service would only produce
 * answers that nobody waits for. Turning an item away immediately costs next to nothing, and the
 * item comes back later.
 */
const MAX_WAIT_MS = 1_000;
/** Longest actual wait. It applies to items that were accepted while the database was faster. */
const MAX_AGE_MS = 2_000;
const SWEEP_MS = 500;
/** A batch takes milliseconds, and under load a few hundred. */
const STUCK_MS = 1_000;
/** Weight of the latest batch in the mean duration of batches. */
const LATEST_WEIGHT = 0.2;

interface Waiting<Item, Result> {
	item: Item;
	key: string;
	bytes: number;
	/** Time at which the item arrived, as performance.now() measures it. */
	since: number;
	/** Time at which the item became ready. From then on, no other item with its key held it back. */
	readySince: number;
	resolve: (result: Result) => void;
	reject: (error: unknown) => void;
}

/**
 * Gathers items that arrive together into one statement.
 *
 * A batch starts as soon as one of `maxInFlight` places is free, but at least `minIntervalMs` after
 * the one before it. A single item therefore does not wait, and many items go in large groups. `add`
 * resolves after the batch has committed. The rows of a batch are sorted, and one key is never in two
 * batches at once, so batches cannot deadlock.
 *
 * An item that waits for its key is kept apart. It does not make the queue look full, and no batch
 * examines it, so many items with one key cost the others nothing.
 *
 * When a batch fails although the database can be reached, its two halves are sent again
 * separately. In the end, a bad row fails alone.
 */
export class Batcher<Item, Result> implements Queue {
	readonly #options: BatchOptions<Item, Result>;
	/**
	 * Items that may go into the next batch, ordered by `readySince`. There is at most one for each
	 * key.
	 */
	#ready: Waiting<Item, Result>[] = [];
	/**
	 * Keys of items that are ready or in a running batch. The value lists the items that wait behind
	 * them.
	 */
	readonly #held = new Map<string, Waiting<Item, Result>[] | undefined>();
	#heldRows = 0;
	#heldBytes = 0;
	/** Memory of ready and held items, in bytes. */
	#waitingBytes = 0;
	#inFlight = 0;
	readonly #running = new Set<{ startedAt: number }>();
	#isScheduled = false;
	/** Runs until `minIntervalMs` after the start of the latest batch, if items wait for that. */
	#pause: NodeJS.Timeout | undefined;
	#lastStartedAt = Number.NEGATIVE_INFINITY;
	/**
	 * Mean duration of recent successful batches. A failed batch says nothing about the duration of
	 * the next.
	 */
	#meanMs = 0;
	#sweeper: NodeJS.Timeout | undefined;
	#whenIdle: (() => void)[] = [];
	#batches = 0;
	#batchedRows = 0;
	#refused = 0;

	constructor(options: BatchOptions<Item, Result>) {
		this.#options = options;
	}

	/**
	 * Stores `item` and resolves to its result. Rejects with service_unavailable if the queue is full
	 * or the database cannot be reached.
	 */
	add(item: Item): Promise<Result> {
		const bytes = this.#options.bytes(item);
		const since = performance.now();
		const key = this.#options.key(item);
		const { maxHeldPerKey = Infinity } = this.#options;
		const behind = this.#held.get(key)?.length ?? 0;
		if (this.#isFullFor(bytes, since) || behind >= maxHeldPerKey) {
			this.#refused++;
			return Promise.reject(this.whyFull());
		}
		if (itemQueued.hasSubscribers) itemQueued.publish(item);
		return new Promise((resolve, reject) => {
			const readySince = since;
			this.#wait({ item, key, bytes, since, readySince, resolve, reject });
			this.#schedule();
		});
	}

	#wait(entry: Waiting<Item, Result>): void {
		this.#waitingBytes += entry.bytes;
		if (!this.#held.has(entry.key)) {
			this.#held.set(entry.key, undefined);
			this.#ready.push(entry);
			return;
		}
		this.#heldRows++;
		this.#heldBytes += entry.bytes;
		const behind = this.#held.get(entry.key);
		if (behind) behind.push(entry);
		else this.#held.set(entry.key, [entry]);
	}

	/** Ends the current item with this key. The next item with the same key becomes ready. */
	#release(key: string): void {
		const next = this.#held.get(key)?.shift();
		if (!next) {
			this.#held.delete(key);
			return;
		}
		this.#heldRows--;
		this.#heldBytes -= next.bytes;
		next.readySince = performance.now();
		this.#ready.push(next);
	}

	/**
	 * Returns true while a new item would be turned away, and then also counts one item as turned
	 * away.
	 */
	isFull(): boolean {
		if (this.#ready.length === 0 && this.#heldRows === 0) return false;
		const isFull = this.#isFullFor(1, performance.now());
		if (isFull) this.#refused++;
		return isFull;
	}

	/** A batch that runs for long shows that the database does not answer, whatever the load. */
	whyFull(): AppError {
		const now = performance.now();
		const isStuck = [...this.#running].some(
			({ startedAt }) => now - startedAt > STUCK_MS,
		);
		return isStuck ? overloaded(SLOW_DATABASE) : overloaded();
	}

	#isFullFor(bytes: number, now: number): boolean {
		const { maxWaitingRows, maxWaitingBytes } = this.#options;
		const { maxWaitMs = MAX_WAIT_MS } = this.#options;
		return (
			this.#ready.length + this.#heldRows >= maxWaitingRows ||
			this.#waitingBytes + bytes > maxWaitingBytes ||
			this.#isLate(now, maxWaitMs) ||
			this.#expectedMs() > maxWaitMs
		);
	}

	/**
	 * Returns true if the oldest item has waited too long. A batch that starts after this turn of the
	 * event loop is not late: its items have waited for the processor and not for the database.
	 */
	#isLate(now: number, maxWaitMs: number): boolean {
		if (this.#isScheduled) return false;
		return now - (this.#ready[0]?.readySince ?? now) > maxWaitMs;
	}

	/**
	 * Returns how long the items that are ready now are expected to take, judging by recent batches.
	 */
	#expectedMs(): number {
		const { maxBatchRows, maxBatchBytes, maxInFlight } = this.#options;
		const batches = Math.max(
			this.#ready.length / maxBatchRows,
			(this.#waitingBytes - this.#heldBytes) / maxBatchBytes,
		);
		return (batches / maxInFlight) * this.#meanMs;
	}

	/** Resolves when no item waits and no batch is running. */
	idle(): Promise<void> {
		if (this.#isIdle()) return Promise.resolve();
		return new Promise((resolve) => this.#whenIdle.push(resolve));
	}

	load(): QueueLoad {
		return {
			rows: this.#ready.length + this.#heldRows,
			bytes: this.#waitingBytes,
			inFlight: this.#inFlight,
			batches: this.#batches,
			batchedRows: this.#batchedRows,
			refused: this.#refused,
		};
	}

	/** Starts a batch as soon as a place is free and the latest one began long enough ago. */
	#schedule(): void {
		const { maxInFlight, maxBatchRows, minIntervalMs = 0 } = this.#options;
		if (this.#inFlight >= maxInFlight) {
			this.#sweepLater();
			return;
		}
		if (this.#isScheduled) return;
		const pauseMs = this.#lastStartedAt + minIntervalMs - performance.now();
		if (pauseMs > 0 && this.#ready.length < maxBatchRows) {
			this.#pause ??= setTimeout(() => this.#startSoon(), pauseMs);
		} else this.#startSoon();
	}

	/**
	 * Starts a batch after the current turn of the event loop, so that it includes other requests
	 * that arrive in this turn.
	 */
	#startSoon(): void {
		clearTimeout(this.#pause);
		this.#pause = undefined;
		this.#isScheduled = true;
		setImmediate(() => {
			this.#isScheduled = false;
			while (
				this.#inFlight < this.#options.maxInFlight &&
				this.#startBatch()
			) {}
		});
	}

	/** Starts a batch with the items that are ready. Returns false if there is none. */
	#startBatch(): boolean {
		const batch: Waiting<Item, Result>[] = [];
		const startedAt = performance.now();
		let taken = 0;
		let bytes = 0;
		// Rejecting an item may make the next item with its key ready. That item is added at the end,
		// so this loop examines it too.
		for (; taken < this.#ready.length; taken++) {
			const entry = this.#ready[taken] as Waiting<Item, Result>;
			if (batch.length === this.#options.maxBatchRows) break;
			if (batch.length > 0 && bytes + entry.bytes > this.#options.maxBatchBytes)
				break;
			if (this.#isExpired(entry, startedAt)) {
				this.#reject(entry);
				this.#release(entry.key);
				continue;
			}
			batch.push(entry);
			bytes += entry.bytes;
		}
		this.#ready = this.#ready.slice(taken);
		if (batch.length === 0) {
			this.#sweepLater();
			this.#tellIdle();
			return false;
		}
		this.#waitingBytes -= bytes;
		batch.sort((a, b) => (a.key < b.key ? -1 : 1));
		this.#lastStartedAt = startedAt;
		const running = { startedAt };
		this.#running.add(running);
		this.#inFlight++;
		this.#batches++;
		this.#batchedRows += batch.length;
		void this.#runBatch(batch).finally(() => {
			this.#inFlight--;
			this.#running.delete(running);
			for (const entry of batch) this.#release(entry.key);
			if (this.#ready.length > 0) this.#schedule();
			else this.#tellIdle();
		});
		return true;
	}

	#isIdle(): boolean {
		// A held item always has a key that is ready or in a running batch, so the held items need no
		// check.
		return this.#ready.length === 0 && this.#inFlight === 0;
	}

	#tellIdle(): void {
		if (!this.#isIdle()) return;
		for (const resolve of this.#whenIdle.splice(0)) resolve();
	}

	#isExpired({ since }: Waiting<Item, Result>, now: number): boolean {
		return now - since > (this.#options.maxAgeMs ?? MAX_AGE_MS);
	}

	#reject({ bytes, reject }: Waiting<Item, Result>): void {
		this.#waitingBytes -= bytes;
		this.#refused++;
		reject(this.whyFull());
	}

	#rejectExpired(): void {
		const now = performance.now();
		const keepFresh = (entry: Waiting<Item, Result>) => {
			if (!this.#isExpired(entry, now)) return true;
			this.#reject(entry);
			return false;
		};
		if (this.#heldRows > 0) {
			this.#heldRows = 0;
			this.#heldBytes = 0;
			for (const [key, behind] of this.#held) {
				const fresh = behind?.filter(keepFresh);
				this.#held.set(key, fresh);
				this.#heldRows += fresh?.length ?? 0;
				for (const { bytes } of fresh ?? []) this.#heldBytes += bytes;
			}
		}
		const expired = this.#ready.filter((entry) => this.#isExpired(entry, now));
		this.#ready = this.#ready.filter(keepFresh);
		for (const { key } of expired) this.#release(key);
	}

	/**
	 * Rejects waiting items in time even if no batch ends, for example because the database hangs.
	 */
	#sweepLater(): void {
		if (this.#sweeper || this.#ready.length + this.#heldRows === 0) return;
		this.#sweeper = setTimeout(() => {
			this.#sweeper = undefined;
			this.#rejectExpired();
			this.#tellIdle();
			this.#sweepLater();
		}, SWEEP_MS);
		this.#sweeper.unref();
	}

	async #runBatch(batch: Waiting<Item, Result>[]): Promise<void> {
		const startedAt = performance.now();
		try {
			const items = batch.map((entry) => entry.item);
			const { run, name = "items" } = this.#options;
			const results = await (batchWork.hasSubscribers
				? batchWork.tracePromise(() => run(items), { name, items })
				: run(items));
			if (results.length !== batch.length) {
				throw new Error(
					`a batch of ${batch.length} items returned ${results.length} results`,
				);
			}
			const tookMs = performance.now() - startedAt;
			this.#meanMs += (tookMs - this.#meanMs) * LATEST_WEIGHT;
			// The loop goes by index. An item without a result is a hole in the array, and forEach on the
			// results would skip it.
			batch.forEach((entry, index) => {
				const result = results[index] as Result | AppError;
				if (result instanceof AppError) entry.reject(result);
				else entry.resolve(result);
			});
		} catch (error) {
			const isAway =
				isDatabaseUnavailable(error) && !isTransactionConflict(error);
			if (batch.length === 1 || isAway) {
				for (const entry of batch) entry.reject(error);
				return;
			}
			const middle = batch.length >> 1;
			await this.#runBatch(batch.slice(0, middle));
			await this.#runBatch(batch.slice(middle));
		}
	}
}
