import { overloaded } from "../errors.ts";

interface Waiting {
	begin: () => void;
	giveUp: () => void;
}

interface Share {
	/** Calls that were let in and have not ended: preparing, waiting or running. */
	entered: number;
	running: number;
	/** In the order in which they came. */
	waiting: Waiting[];
}

/** A caller who waits longer than this would soon give up and retry anyway. */
const MAX_WAIT_MS = 2_500;

/**
 * Gives each caller a fair share of the service. Only `running` calls of one caller run at a time.
 * That is fewer than there are database connections, so a script that has gone wild leaves some to
 * everybody else. A further `waiting` calls wait for their turn, for at most `maxWaitMs`. Calls
 * beyond that are turned away at once.
 */
export class FairShares {
	readonly #maxRunning: number;
	readonly #maxWaiting: number;
	readonly #maxWaitMs: number;
	readonly #fullMessage: string;
	readonly #lateMessage: string;
	readonly #shares = new Map<string, Share>();

	/** `name` says in error messages what there are too many of. */
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
		this.#fullMessage = `too many ${name} are in progress, at most ${running + waiting} may be; wait for their answers, or retry later`;
		this.#lateMessage = `too many ${name} are in progress, and this one did not get its turn within ${this.#maxWaitMs / 1_000} s; retry later`;
	}

	/** Returns why another call of `caller` would be turned away now; undefined if it would not. */
	whyFull(caller: string): string | undefined {
		const entered = this.#shares.get(caller)?.entered ?? 0;
		return entered < this.#maxRunning + this.#maxWaiting
			? undefined
			: this.#fullMessage;
	}

	/**
	 * Runs `work` as one of the calls of `caller` (a credential, session or organization), now or
	 * when it gets its turn. `prepare` runs first and needs no turn. Throws service_unavailable when
	 * too many calls wait already, or when the turn does not come in time.
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
			// A call that ends hands its place to the next one, so `running` does not change.
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
