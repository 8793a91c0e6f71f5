import { isLockTimeout } from "../db/sqlstate.ts";
import { Batcher, type Queue } from "./batch.ts";

interface Turn<Result> {
	organizationId: string;
	work: () => Promise<Result>;
}

/** Time for retries of work that met a lock. Each attempt itself waits for the lock (sql/0014). */
const PATIENCE_MS = 2_000;

/**
 * A queue for rare work that changes an organization's audit log. Few run at a time, so that many
 * of them cannot take the connections of other work. Only one runs for each organization, so that
 * its locked log holds up nobody else. More places would not help, because the log admits one at a
 * time.
 */
export class OrganizationQueue<Result> {
	readonly #batcher: Batcher<Turn<Result>, Result>;

	constructor(name: string) {
		this.#batcher = new Batcher<Turn<Result>, Result>({
			name,
			key: ({ organizationId }) => organizationId,
			bytes: () => 512,
			maxBatchRows: 1,
			maxBatchBytes: 1 << 20,
			maxInFlight: 2,
			maxWaitingRows: 4096,
			maxWaitingBytes: 4 << 20,
			maxHeldPerKey: 512,
			run: async ([turn]) => [await (turn as Turn<Result>).work()],
		});
	}

	/** Runs `work` when it is the organization's turn, and retries it if it met a lock. */
	async take(
		organizationId: string,
		work: () => Promise<Result>,
	): Promise<Result> {
		const until = performance.now() + PATIENCE_MS;
		for (;;) {
			try {
				return await this.#batcher.add({ organizationId, work });
			} catch (error) {
				if (!isLockTimeout(error) || performance.now() > until) throw error;
			}
		}
	}

	/** The queue of work that waits for the database. */
	get queue(): Queue {
		return this.#batcher;
	}

	idle(): Promise<void> {
		return this.#batcher.idle();
	}
}
