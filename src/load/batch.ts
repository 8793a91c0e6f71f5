import { isTransactionConflict } from "../db/sqlstate.ts";
import { AppError, isDatabaseUnavailable, overloaded } from "../errors.ts";
import { batchWork, itemQueued } from "../tracing/channels.ts";

export interface BatchOptions<Item, Result> {
	/** What its items are, for traces. */
	name?: string;
	/** Items with equal keys never travel together nor at the same time. */
	key: (item: Item) => string;
	/**
	 * One statement for all `items`, which are sorted by key; gives their results in the same order.
	 * An AppError among them is for that item alone.
	 */
	run: (items: Item[]) => Promise<(Result | AppError)[]>;
	/** What an item costs in memory; the limits named …Bytes count it. */
	bytes: (item: Item) => number;
	maxBatchRows: number;
	maxBatchBytes: number;
	maxInFlight: number;
	/** What may wait for a place; beyond either an item is refused with service_unavailable. */
	maxWaitingRows: number;
	maxWaitingBytes: number;
	/** What may wait behind another item with its key; beyond, that key alone is refused. Unlimited unless given. */
	maxHeldPerKey?: number;
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
	/** Since when its key keeps it back no longer. */
	readySince: number;
	resolve: (result: Result) => void;
	reject: (error: unknown) => void;
}

/**
 * Gathers items that arrive together into one statement. A batch leaves as soon as
 * one of `maxInFlight` places is free, so a lone item waits for nothing and a crowd
 * travels in large groups; `add` resolves after the batch has committed. Sorted
 * rows, and one key never in two batches at once, keep batches from deadlocking.
 * What waits for its key waits aside: it neither
 * makes the queue look full nor is looked at when a batch leaves, so that many items of one key
 * cost the others nothing. When a batch fails for another reason than an absent database, its halves go again
 * on their own, so that in the end a bad row fails alone.
 */
export class Batcher<Item, Result> implements Queue {
	readonly #options: BatchOptions<Item, Result>;
	/** What may travel, in the order of `readySince`: of each key one at most. */
	#ready: Waiting<Item, Result>[] = [];
	/** The keys of what is ready or travels, each with what waits behind it. */
	readonly #held = new Map<string, Waiting<Item, Result>[] | undefined>();
	#heldRows = 0;
	#heldBytes = 0;
	/** Of both. */
	#waitingBytes = 0;
	#inFlight = 0;
	#isScheduled = false;
	/** What a batch that was served took lately: one given up says nothing of the next. */
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

	/** What was ready or travelled with this key is done: the next of its key is ready. */
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

	/** Whoever is turned away by this answer counts as refused. */
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

	/** How long what is ready now will take, by what batches took lately. */
	#expectedMs(): number {
		const { maxBatchRows, maxBatchBytes, maxInFlight } = this.#options;
		const batches = Math.max(
			this.#ready.length / maxBatchRows,
			(this.#waitingBytes - this.#heldBytes) / maxBatchBytes,
		);
		return (batches / maxInFlight) * this.#travelMs;
	}

	/** Resolves when nothing waits and nothing is in flight. */
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
		const batch: Waiting<Item, Result>[] = [];
		const departed = performance.now();
		let taken = 0;
		let bytes = 0;
		// A refused one may make the next of its key ready, which comes last and is looked at too.
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
		// What is held has a key that is ready or travels.
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

	/** No batch may come back for long, as from a silent database: what waits is refused in time. */
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
			// By index: an item without a result is a hole in the array, which forEach would skip.
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
