import { overloaded } from "../errors.ts";

interface Waiting {
	begin: () => void;
	giveUp: () => void;
}

interface Share {
	/**
	 * Number of calls that were admitted and have not ended. They are preparing, waiting or running.
	 */
	entered: number;
	running: number;
	/** Waiting calls, in the order in which they arrived. */
	waiting: Waiting[];
}

/** Longest wait for a turn. A caller who waits longer usually gives up and retries. */
const MAX_WAIT_MS = 2_500;

/**
 * Gives each caller a fair share of the service. At most `running` calls of one caller run at a
 * time. That number is smaller than the number of database connections, so a script that runs wild
 * leaves some connections to other callers. Up to `waiting` more calls wait for their turn, for at
 * most `maxWaitMs`. Further calls are turned away immediately.
 */
export class FairShares {
	readonly #maxRunning: number;
	readonly #maxWaiting: number;
	readonly #maxWaitMs: number;
	readonly #fullMessage: string;
	readonly #lateMessage: string;
	readonly #shares = new Map<string, Share>();

	/** `name` says in error messages which calls are too many, such as "exports of yours". */
	constructor(limits: {
		running: number;
		waiting: number;
		maxWaitMs?: number;
		name?: string;
	}) {
		this.#maxRunning = limits.running;
		this.#maxWaiting = limits.waiting;
		this.#maxWaitMs = limits.maxWaitMs ?? MAX_WAIT_MS;
		const { running, waiting, name = "calls of yours" } = limits;
		this.#fullMessage = `too many ${name} are in progress, and the maximum is ${running + waiting}; wait for some of them to end, and retry`;
		this.#lateMessage = `too many ${name} are in progress, and this one did not get its turn within ${this.#maxWaitMs / 1_000} s; retry later`;
	}

	/**
	 * Returns why another call of `caller` would be turned away now. Returns undefined if it would be
	 * admitted.
	 */
	whyFull(caller: string): string | undefined {
		const entered = this.#shares.get(caller)?.entered ?? 0;
		return entered < this.#maxRunning + this.#maxWaiting
			? undefined
			: this.#fullMessage;
	}

	/**
	 * Runs `work` as one of the calls of `caller` (a credential, session or organization), as soon as
	 * the caller may run another. `prepare` runs first and does not wait for a turn. Throws
	 * service_unavailable when too many calls already wait, or when the turn does not come in time.
	 */
	async run<Result, Prepared = void>(
		caller: string,
		work: (prepared: Prepared) => Promise<Result>,
		prepare?: () => Promise<Prepared>,
	): Promise<Result> {
		if (this.whyFull(caller)) throw overloaded(this.#fullMessage);
		const share = this.#shares.get(caller) ?? {
			entered: 0,
			running: 0,
			waiting: [],
		};
		this.#shares.set(caller, share);
		share.entered++;
		try {
			const prepared = (await prepare?.()) as Prepared;
			if (share.running < this.#maxRunning) share.running++;
			// A call that ends passes its place to the next one, so `running` does not change.
			else await this.#turn(share);
			try {
				return await work(prepared);
			} finally {
				const next = share.waiting.shift();
				if (next) next.begin();
				else share.running--;
			}
		} finally {
			if (--share.entered === 0) this.#shares.delete(caller);
		}
	}

	#turn({ waiting }: Share): Promise<void> {
		return new Promise((resolve, reject) => {
			const one: Waiting = {
				begin: () => {
					clearTimeout(timer);
					resolve();
				},
				giveUp: () => {
					waiting.splice(waiting.indexOf(one), 1);
					reject(overloaded(this.#lateMessage));
				},
			};
			const timer = setTimeout(one.giveUp, this.#maxWaitMs);
			waiting.push(one);
		});
	}
}
