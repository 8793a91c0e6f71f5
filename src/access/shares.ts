import { AppError } from "../errors.ts";

interface Share {
	running: number;
	/** Starts the next one, in the order in which they came. */
	waiting: (() => void)[];
}

/**
 * Each caller's share of the service. Of one caller only so many calls run at a time: less than there
 * are connections to the database, so that a script that has gone wild leaves some to everybody else.
 * A few more wait for their turn; more than that are refused at once.
 */
export class Shares {
	readonly #maxRunning: number;
	readonly #maxWaiting: number;
	readonly #shares = new Map<string, Share>();

	constructor(limits: { running: number; waiting: number }) {
		this.#maxRunning = limits.running;
		this.#maxWaiting = limits.waiting;
	}

	/**
	 * Runs `work` as one of the calls of `caller` (the id of an API token or session), now or when it
	 * is its turn. Throws service_unavailable, which asks to come again, when too many wait already.
	 */
	async run<Result>(
		caller: string,
		work: () => Promise<Result>,
	): Promise<Result> {
		let share = this.#shares.get(caller);
		if (!share) {
			share = { running: 0, waiting: [] };
			this.#shares.set(caller, share);
		}
		const { waiting } = share;
		if (share.running < this.#maxRunning) share.running++;
		else if (waiting.length < this.#maxWaiting) {
			// Whoever ends hands its place over: `running` stays as it is.
			await new Promise<void>((resolve) => waiting.push(resolve));
		} else {
			throw new AppError(
				"service_unavailable",
				`${this.#maxRunning + this.#maxWaiting} calls of yours are under way, which is as many as may be; wait for their answers`,
			);
		}
		try {
			return await work();
		} finally {
			const next = waiting.shift();
			if (next) next();
			else if (--share.running === 0) this.#shares.delete(caller);
		}
	}
}
