import { isLockTimeout } from "../db/sqlstate.ts";
import { Batcher } from "./batch.ts";
import type { Queue } from "./queue.ts";

interface Turn<Result> {
	organizationId: string;
	work: () => Promise<Result>;
}

/**
 * Time for which work that met a lock is retried. Each attempt also waits for the lock itself
 * (sql/0014).
 */
const PATIENCE_MS = 2_000;

/**
 * A queue for rare work that changes an organization's audit log. Few jobs run at a time, so that
 * many of them cannot take the connections that other work needs. Only one job runs for each
 * organization, so that an organization with a locked audit log does not delay the others. More
 * jobs for one organization would not be faster, because the audit log admits one writer at a time.
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

	/** Runs `work` when it is the organization's turn. Retries if the work met a lock. */
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
