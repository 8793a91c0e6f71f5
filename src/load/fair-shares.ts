import { busy } from "../errors.ts";

interface Waiting {
	begin: () => void;
	refuse: () => void;
}

interface Share {
	/** Calls that were let in and have not ended: preparing, waiting or running. */
	entered: number;
	running: number;
	/** In the order in which they came. */
	waiting: Waiting[];
}

/** A caller who waits longer than this for a turn would soon give up and ask again. */
const MAX_WAIT_MS = 2_500;

/**
 * Each caller's share of the service. Of one caller only so many calls run at a time: less than there
 * are connections to the database, so that a script that has gone wild leaves some to everybody else.
 * A few more wait for their turn; more than that are refused at once, and what has waited for too
 * long is given up.
 */
export class Shares {
	readonly #maxRunning: number;
	readonly #maxWaiting: number;
	readonly #maxWaitMs: number;
	readonly #refusal: string;
	readonly #late: string;
	readonly #shares = new Map<string, Share>();

	/** `name`: what there are too many of, as a refused caller is told. */
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
		this.#refusal = `the service is busy with ${name}, of which ${running + waiting} may be under way; wait for their answers, or try again later`;
		this.#late = `the service is busy with ${name}, and within ${this.#maxWaitMs / 1_000} s it was not the turn of this one; try again later`;
	}

	/** Why another call of `caller` would be refused at present; undefined: it would not. */
	whyFull(caller: string): string | undefined {
		const entered = this.#shares.get(caller)?.entered ?? 0;
		return entered < this.#maxRunning + this.#maxWaiting
			? undefined
			: this.#refusal;
	}

	/**
	 * Runs `work` as one of the calls of `caller` (a credential, session or organization), now or
	 * when it is its turn. Throws service_unavailable, which asks to come again, when too many wait
	 * already or its turn does not come in time. `prepare` needs no turn.
	 */
	async run<Result, Prepared = void>(
		caller: string,
		work: (prepared: Prepared) => Promise<Result>,
		prepare?: () => Promise<Prepared>,
	): Promise<Result> {
		if (this.whyFull(caller)) throw busy(this.#refusal);
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
			// Whoever ends hands its place over: `running` stays as it is.
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
				refuse: () => {
					waiting.splice(waiting.indexOf(one), 1);
					reject(busy(this.#late));
				},
			};
			const timer = setTimeout(one.refuse, this.#maxWaitMs);
			waiting.push(one);
		});
	}
}
