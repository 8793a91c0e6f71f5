import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { withTenant } from "../db/pool.ts";
import { isConnectionTrouble } from "../errors.ts";
import { type FirstLooks, type Poller, startPoller } from "./poller.ts";

const POLL_MS = 5_000;

/** A job that this process has taken, so that no other process takes it meanwhile. */
export interface TakenJob {
	organization_id: string;
	id: string;
	/** Attempts so far, with this one. */
	attempts: number;
}

/** An attempt that failed without an answer. */
export interface NoAnswer {
	failure: string;
}

/** The failure of an attempt for which an error of our own is the cause. */
const OWN_ERROR =
	"Assay had an internal error; the log of the service says more";

export interface SenderParts<Job extends TakenJob, Result> {
	/** Name of the jobs in the log. */
	name: string;
	pool: Pool;
	/** Largest number of requests in progress at the same time in this process. */
	maxSending: number;
	/**
	 * Jobs of one organization that are taken together. An organization with as many in progress
	 * waits, so its receivers that hang do not hold up other organizations.
	 */
	maxOfOrganization: number;
	/** Takes at most `count` jobs, none of them of the organizations `full`. */
	take: (count: number, inProgress: Job[], full: string[]) => Promise<Job[]>;
	/** Sends a job. Resolves to undefined if nobody needs it any more. */
	send: (job: Job) => Promise<Result | undefined>;
	/** Stores the result of an attempt. Returns true if mails were queued. */
	note: (
		client: PoolClient,
		job: Job,
		result: Result | NoAnswer,
	) => Promise<boolean>;
	wakeMailer?: (() => void) | undefined;
	firstLooks?: FirstLooks | undefined;
	log: Logger;
}

/**
 * Sends the jobs of a queue, many at the same time. A job is sent at least once: a process that
 * dies between sending and noting it leaves the job to the next attempt. An attempt that fails by
 * an error of our own is noted like one that gets no answer, so it is not repeated for ever.
 */
export function startSender<Job extends TakenJob, Result>(
	parts: SenderParts<Job, Result>,
): Poller {
	const { name, pool, maxSending, maxOfOrganization, log } = parts;
	const sending = new Map<Promise<void>, Job>();
	let failure: unknown;

	async function note(job: Job, result: Result | NoAnswer): Promise<void> {
		const isMailQueued = await withTenant(pool, job.organization_id, (client) =>
			parts.note(client, job, result),
		);
		if (isMailQueued) parts.wakeMailer?.();
	}

	async function work(job: Job): Promise<void> {
		try {
			const result = await parts.send(job);
			if (result !== undefined) await note(job, result);
		} catch (err) {
			// While the database is away, nothing can be noted. The job becomes due again by itself.
			if (isConnectionTrouble(err)) throw err;
			log.error({ err, job: name, id: job.id }, "a job could not be sent");
			await note(job, { failure: OWN_ERROR });
		}
	}

	function start(job: Job): void {
		const done = work(job)
			.catch((error: unknown) => {
				failure = error;
			})
			.finally(() => {
				sending.delete(done);
				poller.wake();
			});
		sending.set(done, job);
	}

	const poller = startPoller(
		name,
		POLL_MS,
		async () => {
			if (failure !== undefined) {
				const error = failure;
				failure = undefined;
				throw error;
			}
			const free = maxSending - sending.size;
			if (free === 0) return false;
			const inProgress = [...sending.values()];
			const full = [...Map.groupBy(inProgress, (job) => job.organization_id)]
				.filter(([, ofOne]) => ofOne.length >= maxOfOrganization)
				.map(([id]) => id);
			const jobs = await parts.take(free, inProgress, full);
			for (const job of jobs) start(job);
			return jobs.length > 0;
		},
		log,
		parts.firstLooks,
	);
	return {
		wake: poller.wake,
		idle: async () => {
			await poller.idle();
			while (sending.size > 0) {
				await Promise.all(sending.keys());
				await poller.idle();
			}
		},
		stop: async () => {
			await poller.stop();
			await Promise.all(sending.keys());
		},
	};
}
