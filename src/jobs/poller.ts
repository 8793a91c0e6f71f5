import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { isConnectionTrouble, isDatabaseUnavailable } from "../errors.ts";

export interface Poller {
	/** Looks for work now instead of at the next interval. */
	wake: () => void;
	/** Resolves when the work that was found is done and nothing else is due. */
	idle: () => Promise<void>;
	/** Looks for no further work, and resolves when the running work is done. */
	stop: () => Promise<void>;
}

/** Time after which the first looks no longer wait for each other. */
const FIRST_LOOKS_MS = 1_000;

/**
 * Lets pollers that share a pool look for work for the first time one after another. Each finds the
 * connection that the one before it has returned. If all looked at once, each would open a connection
 * of its own, which the pool closes again after ten seconds. A look that takes long holds up the
 * others for a second at most.
 */
export class FirstLooks {
	readonly #begun = Promise.withResolvers<void>();
	readonly #limit = this.#begun.promise.then(() =>
		sleep(FIRST_LOOKS_MS, undefined, { ref: false }),
	);
	#last: Promise<void> = this.#begun.promise;

	/** Adds a look, which must not reject. */
	add(look: () => Promise<void>): void {
		this.#last = Promise.race([this.#last.then(look), this.#limit]);
	}

	begin(): void {
		this.#begun.resolve();
	}
}

/**
 * Calls `work` now, then every `intervalMs`, and whenever `wake` is called. `work` does what is due
 * and returns true if more may be due. Calls never overlap. Several processes may poll the same
 * table, because each row is taken with `for update skip locked`.
 *
 * An interval is lengthened by up to a fifth at random, so that processes do not ask together. With
 * `firstLooks`, the first call waits for its turn, unless `wake` is called before.
 */
export function startPoller(
	name: string,
	intervalMs: number,
	work: () => Promise<boolean>,
	log: Logger,
	firstLooks?: FirstLooks,
): Poller {
	let timer: NodeJS.Timeout | undefined;
	let isStopped = false;
	let isWoken = true;
	let isTold = false;
	let running: Promise<void> | undefined;

	async function runUntilDone(): Promise<void> {
		while (isWoken && !isStopped) {
			isWoken = false;
			try {
				if (await work()) isWoken = true;
				if (isTold) log.info({ job: name }, "background work goes on");
				isTold = false;
			} catch (err) {
				if (isConnectionTrouble(err)) {
					// The log makes one line of all failures of an outage, and says when it is over.
					log.warn({ err, job: name }, "background work has to wait");
				} else if (!isTold) {
					const level = isDatabaseUnavailable(err) ? "warn" : "error";
					log[level]({ err, job: name }, "background work has to wait");
					isTold = true;
				}
			}
		}
	}

	function run(): void {
		if (isStopped || running) return;
		clearTimeout(timer);
		running = runUntilDone().finally(() => {
			running = undefined;
			if (isStopped) return;
			timer = setTimeout(wake, intervalMs * (1 + Math.random() / 5));
			timer.unref();
			// `wake` may have been called after the last look.
			if (isWoken) run();
		});
	}

	function wake(): void {
		isWoken = true;
		run();
	}

	async function idle(): Promise<void> {
		while (running) await running;
	}

	if (firstLooks) {
		firstLooks.add(() => {
			run();
			return idle();
		});
	} else {
		run();
	}
	return {
		wake,
		idle,
		stop: async () => {
			isStopped = true;
			clearTimeout(timer);
			await running;
		},
	};
}
