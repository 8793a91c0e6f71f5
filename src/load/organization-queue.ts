import { isLockTimeout } from "../db/sqlstate.ts";
import { Batcher } from "./batch.ts";
import type { Queue } from "./queue.ts";

interface Turn<Result> {
	organizationId: string;
	/** Number of the place that the job uses, from 0. */
	place: number;
	work: () => Promise<Result>;
}

/**
 * Time for which work that met a lock is retried. Each attempt also waits for the lock itself
 * (sql/0014).
 */
const PATIENCE_MS = 2_000;
/** Jobs that run at a time. */
const PLACES = 2;
/** Time after a lock for which the organization has only one of the places. */
const CAUTIOUS_MS = 5_000;

/** Says that a job did not run, because its organization has only the first place now. */
const MOVED = Symbol("moved");

/**
 * A queue for rare work that changes the devices of an organization. Few jobs run at a time, so that
 * many of them cannot take the connections that other work needs. One organization may use all
 * places. After one of its jobs met a lock, it has only the first place for a while, so that an
 * organization with locked rows does not delay the others.
 */
export class OrganizationQueue<Result> {
	readonly #batcher: Batcher<Turn<Result>, Result | typeof MOVED>;
	/** Times until which organizations that met a lock have only the first place. */
	readonly #cautiousUntil = new Map<string, number>();
	#taken = 0;

	constructor(name: string) {
		this.#batcher = new Batcher<Turn<Result>, Result | typeof MOVED>({
			name,
			key: ({ organizationId, place }) => `${organizationId} ${place}`,
			bytes: () => 512,
			maxBatchRows: 1,
			maxBatchBytes: 1 << 20,
			maxInFlight: PLACES,
			maxWaitingRows: 4096,
			maxWaitingBytes: 4 << 20,
			maxHeldPerKey: 512,
			run: async ([turn]) => [await this.#run(turn as Turn<Result>)],
		});
	}

	/** Runs `work` when a place is free for the organization. Retries if the work met a lock. */
	async take(
		organizationId: string,
		work: () => Promise<Result>,
	): Promise<Result> {
		const until = performance.now() + PATIENCE_MS;
		for (;;) {
			try {
				const place = this.#isCautious(organizationId)
					? 0
					: this.#taken++ % PLACES;
				const result = await this.#batcher.add({ organizationId, place, work });
				if (result !== MOVED) return result;
			} catch (error) {
				if (!isLockTimeout(error) || performance.now() > until) throw error;
			}
		}
	}

	async #run(turn: Turn<Result>): Promise<Result | typeof MOVED> {
		// The job may have begun to wait for its place before another one met a lock.
		if (turn.place > 0 && this.#isCautious(turn.organizationId)) return MOVED;
		try {
			return await turn.work();
		} catch (error) {
			if (isLockTimeout(error)) {
				this.#cautiousUntil.set(
					turn.organizationId,
					performance.now() + CAUTIOUS_MS,
				);
			}
			throw error;
		}
	}

	#isCautious(organizationId: string): boolean {
		const until = this.#cautiousUntil.get(organizationId);
		if (until === undefined) return false;
		if (performance.now() < until) return true;
		this.#cautiousUntil.delete(organizationId);
		return false;
	}

	/** The queue of work that waits for the database. */
	get queue(): Queue {
		return this.#batcher;
	}

	idle(): Promise<void> {
		return this.#batcher.idle();
	}
}
