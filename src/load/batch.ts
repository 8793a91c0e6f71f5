import { isTransactionConflict } from "../db/sqlstate.ts";
import { AppError, isDatabaseUnavailable, overloaded } from "../errors.ts";
import { batchWork, itemQueued } from "../tracing/channels.ts";

export interface BatchOptions<Item, Result> {
	/** Name of its items, for traces. */
	name?: string;
	/** Items with equal keys are never in one batch, nor in two batches at the same time. */
	key: (item: Item) => string;
	/**
	 * Runs one statement for all `items`, which are sorted by key. Returns their results in the same
	 * order. An AppError among them concerns only that item.
	 */
	run: (items: Item[]) => Promise<(Result | AppError)[]>;
	/** The memory of an item, which the limits named …Bytes count. */
	bytes: (item: Item) => number;
	maxBatchRows: number;
	maxBatchBytes: number;
	maxInFlight: number;
	/** Limits of waiting items. Beyond either, an item is rejected with service_unavailable. */
	maxWaitingRows: number;
	maxWaitingBytes: number;
	/**
	 * Limit of items waiting behind another one with their key. Beyond it, only that key gets an
	 * error. Default: unlimited.
	 */
	maxHeldPerKey?: number;
	/** A new item that would wait longer than this is rejected in the same way. */
	maxWaitMs?: number;
	/** An item that has waited longer than this anyway is rejected too, and not stored. */
	maxAgeMs?: number;
}

/**
 * Longest expected wait of a new item. A caller gives up after 30 s and retries, so an accepted
 * item must be answered well before that. Otherwise an overloaded service would only produce
 * answers that nobody waits for. An item that is turned away at once costs next to nothing and
 * comes back later.
 */
const MAX_WAIT_MS = 1_000;
/** Longest real wait, for items that were accepted while the database was faster. */
const MAX_AGE_MS = 2_000;
const SWEEP_MS = 500;
/** Weight of the latest batch in the mean time of batches. */
const NEWEST = 0.2;

/** The present load of a queue and its counts. */
export interface QueueLoad {
	/** Items that wait. */
	rows: number;
	bytes: number;
	/** Batches under way to the database. */
	inFlight: number;
	/** Counts since the start: batches, rows in them, and rows turned away because it was full. */
	batches: number;
	batchedRows: number;
	refused: number;
}

export interface Queue {
	load(): QueueLoad;
	/** True while a new item would be turned away. Ask before doing any work for it. */
	isFull(): boolean;
}

interface Waiting<Item, Result> {
	item: Item;
	key: string;
	bytes: number;
	/** On performance.now()'s clock. */
	since: number;
	/** The time from which its key no longer holds it back. */
	readySince: number;
	resolve: (result: Result) => void;
	reject: (error: unknown) => void;
}

/**
 * Gathers items that arrive together into one statement. A batch leaves as soon as one of
 * `maxInFlight` places is free, so a lone item waits for nothing and a crowd goes in large groups.
 * `add` resolves after the batch has committed. Rows are sorted, and one key is never in two
 * batches at once, so batches cannot deadlock. An item that waits for its key waits aside. It does
 * not make the queue look full and is not examined when a batch leaves, so many items of one key
 * cost the others nothing. When a batch fails for another reason than an absent database, its
 * halves are sent again separately, so in the end a bad row fails alone.
 */
export class Batcher<Item, Result> implements Queue {
	readonly #options: BatchOptions<Item, Result>;
	/** Items that may go, in the order of `readySince`; at most one for each key. */
	#ready: Waiting<Item, Result>[] = [];
	/** Keys of items that are ready or under way, each with the items waiting behind it. */
	readonly #held = new Map<string, Waiting<Item, Result>[] | undefined>();
	#heldRows = 0;
	#heldBytes = 0;
	/** Bytes of ready and held items. */
	#waitingBytes = 0;
	#inFlight = 0;
	#isScheduled = false;
	/**
	 * Mean time of recent successful batches. A batch that was given up says nothing about the next.
	 */
	#travelMs = 0;
	#sweeper: NodeJS.Timeout | undefined;
	#whenIdle: (() => void)[] = [];
	#batches = 0;
	#batchedRows = 0;
	#refused = 0;

	constructor(options: BatchOptions<Item, Result>) {
		this.#options = options;
	}

	/**
	 * Returns the result of `item`. Rejects with service_unavailable if the queue is full or the
	 * database is away.
	 */
	add(item: Item): Promise<Result> {
		const bytes = this.#options.bytes(item);
		const since = performance.now();
		const key = this.#options.key(item);
		const { maxHeldPerKey = Infinity } = this.#options;
		const behind = this.#held.get(key)?.length ?? 0;
		if (this.#isFullFor(bytes, since) || behind >= maxHeldPerKey) {
			this.#refused++;
			return Promise.reject(overloaded());
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

	/** Ends the current item with this key, so that the next one with it becomes ready. */
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

	/** Counts the caller as turned away if it returns true. */
	isFull(): boolean {
		if (this.#ready.length === 0 && this.#heldRows === 0) return false;
		const isFull = this.#isFullFor(1, performance.now());
		if (isFull) this.#refused++;
		return isFull;
	}

	#isFullFor(bytes: number, now: number): boolean {
		const { maxWaitingRows, maxWaitingBytes } = this.#options;
		const { maxWaitMs = MAX_WAIT_MS } = this.#options;
		return (
			this.#ready.length + this.#heldRows >= maxWaitingRows ||
			this.#waitingBytes + bytes > maxWaitingBytes ||
			now - (this.#ready[0]?.readySince ?? now) > maxWaitMs ||
			this.#expectedMs() > maxWaitMs
		);
	}

	/** Returns the expected time for the items that are ready now, from recent batches. */
	#expectedMs(): number {
		const { maxBatchRows, maxBatchBytes, maxInFlight } = this.#options;
		const batches = Math.max(
			this.#ready.length / maxBatchRows,
			(this.#waitingBytes - this.#heldBytes) / maxBatchBytes,
		);
		return (batches / maxInFlight) * this.#travelMs;
	}

	/** Resolves when no item waits and no batch is in flight. */
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

	/** Sends a batch after the event loop's present round, so that its other requests come along. */
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

	/** Sends a batch of the items that may go now. Returns false if none may. */
	#depart(): boolean {
		const batch: Waiting<Item, Result>[] = [];
		const departed = performance.now();
		let taken = 0;
		let bytes = 0;
		// Rejecting an item may make the next one of its key ready. That one comes last and is checked
		// too.
		for (; taken < this.#ready.length; taken++) {
			const entry = this.#ready[taken] as Waiting<Item, Result>;
			if (batch.length === this.#options.maxBatchRows) break;
			if (batch.length > 0 && bytes + entry.bytes > this.#options.maxBatchBytes)
				break;
			if (this.#isOld(entry, departed)) {
				this.#refuse(entry);
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
		this.#inFlight++;
		this.#batches++;
		this.#batchedRows += batch.length;
		void this.#travel(batch).finally(() => {
			this.#inFlight--;
			for (const entry of batch) this.#release(entry.key);
			if (this.#ready.length > 0) this.#schedule();
			else this.#tellIdle();
		});
		return true;
	}

	#isIdle(): boolean {
		// A held item has a key that is ready or under way.
		return this.#ready.length === 0 && this.#inFlight === 0;
	}

	#tellIdle(): void {
		if (!this.#isIdle()) return;
		for (const resolve of this.#whenIdle.splice(0)) resolve();
	}

	#isOld({ since }: Waiting<Item, Result>, now: number): boolean {
		return now - since > (this.#options.maxAgeMs ?? MAX_AGE_MS);
	}

	#refuse({ bytes, reject }: Waiting<Item, Result>): void {
		this.#waitingBytes -= bytes;
		this.#refused++;
		reject(overloaded());
	}

	#refuseOld(): void {
		const now = performance.now();
		const staysYoung = (entry: Waiting<Item, Result>) => {
			if (!this.#isOld(entry, now)) return true;
			this.#refuse(entry);
			return false;
		};
		if (this.#heldRows > 0) {
			this.#heldRows = 0;
			this.#heldBytes = 0;
			for (const [key, behind] of this.#held) {
				const young = behind?.filter(staysYoung);
				this.#held.set(key, young);
				this.#heldRows += young?.length ?? 0;
				for (const { bytes } of young ?? []) this.#heldBytes += bytes;
			}
		}
		const old = this.#ready.filter((entry) => this.#isOld(entry, now));
		this.#ready = this.#ready.filter(staysYoung);
		for (const { key } of old) this.#release(key);
	}

	/** Rejects waiting items in time even if no batch comes back, as from a database that hangs. */
	#sweepLater(): void {
		if (this.#sweeper || this.#ready.length + this.#heldRows === 0) return;
		this.#sweeper = setTimeout(() => {
			this.#sweeper = undefined;
			this.#refuseOld();
			this.#tellIdle();
			this.#sweepLater();
		}, SWEEP_MS);
		this.#sweeper.unref();
	}

	async #travel(batch: Waiting<Item, Result>[]): Promise<void> {
		const departed = performance.now();
		try {
			const items = batch.map((entry) => entry.item);
			const { run, name = "items" } = this.#options;
			const results = await (batchWork.hasSubscribers
				? batchWork.tracePromise(() => run(items), { name, items })
				: run(items));
			if (results.length !== batch.length) {
				throw new Error(`${results.length} results for ${batch.length} items`);
			}
			const tookMs = performance.now() - departed;
			this.#travelMs += (tookMs - this.#travelMs) * NEWEST;
			// By index, because an item without a result is a hole in the array, which forEach would
			// skip.
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
			await this.#travel(batch.slice(0, middle));
			await this.#travel(batch.slice(middle));
		}
	}
}
