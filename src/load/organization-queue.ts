import { isLockTimeout } from "../db/sqlstate.ts";
import { Batcher } from "./batch.ts";
import type { Queue } from "./queue.ts";

interface Job<Result> {
	organizationId: string;
	/** Number of the place that the job uses, from 0. */
	place: number;
	work: () => Promise<Result>;
}

/**
 * Time for which work that met a lock is retried. Each attempt also waits for the lock itself
 * (sql/0014).
 */
const RETRY_MS = 2_000;
/** Jobs that run at a time. */
const PLACES = 2;
/** Time after a lock for which the organization has only one of the places. */
const ONE_PLACE_MS = 5_000;

/** Says that a job did not run, because its organization has only the first place now. */
const MOVED = Symbol("moved");

/**
 * A queue for infrequent work that changes the devices of an organization. Few jobs run at a time, so that
 * many of them cannot take the connections that other work needs. One organization may use all
 * places. After one of its jobs met a lock, it has only the first place for a while, so that an
 * organization with locked rows does not delay the others.
 */
export class OrganizationQueue<Result> {
	readonly #batcher: Batcher<Job<Result>, Result | typeof MOVED>;
	/** Times until which organizations that met a lock have only the first place. */
	readonly #onePlaceUntil = new Map<string, number>();
	#taken = 0;

	constructor(name: string) {
		this.#batcher = new Batcher<Job<Result>, Result | typeof MOVED>({
			name,
			key: ({ organizationId, place }) => `${organizationId} ${place}`,
			bytes: () => 512,
			maxBatchRows: 1,
			maxBatchBytes: 1 << 20,
			maxInFlight: PLACES,
			maxWaitingRows: 4096,
			maxWaitingBytes: 4 << 20,
			maxHeldPerKey: 512,
			run: async ([job]) => [await this.#run(job as Job<Result>)],
		});
	}

	/** Runs `work` when a place is free for the organization. Retries if the work met a lock. */
	async take(
		organizationId: string,
		work: () => Promise<Result>,
	): Promise<Result> {
		const until = performance.now() + RETRY_MS;
		for (;;) {
			try {
				const place = this.#hasOnePlace(organizationId)
					? 0
					: this.#taken++ % PLACES;
				const result = await this.#batcher.add({ organizationId, place, work });
				if (result !== MOVED) return result;
			} catch (error) {
				if (!isLockTimeout(error) || performance.now() > until) throw error;
			}
		}
	}

	async #run(job: Job<Result>): Promise<Result | typeof MOVED> {
		// The job may have begun to wait for its place before another one met a lock.
		if (job.place > 0 && this.#hasOnePlace(job.organizationId)) return MOVED;
		try {
			return await job.work();
		} catch (error) {
			if (isLockTimeout(error)) {
				this.#onePlaceUntil.set(
					job.organizationId,
					performance.now() + ONE_PLACE_MS,
				);
			}
			throw error;
		}
	}

	#hasOnePlace(organizationId: string): boolean {
		const until = this.#onePlaceUntil.get(organizationId);
		if (until === undefined) return false;
		if (performance.now() < until) return true;
		this.#onePlaceUntil.delete(organizationId);
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
