import { setTimeout as sleep } from "node:timers/promises";

/** Lets at most so many through a second, one after the other. */
export class Pace {
	readonly #gapMs: number;
	#next = 0;

	constructor(perSecond: number) {
		this.#gapMs = 1000 / perSecond;
	}

	/** Resolves when it is the caller's turn; true unless the signal came first. */
	async turn(signal: AbortSignal): Promise<boolean> {
		const now = performance.now();
		const mine = Math.max(this.#next, now);
		this.#next = mine + this.#gapMs;
		return waitMs(mine - now, signal);
	}
}

/** True after `ms`; false as soon as the signal came. */
export async function waitMs(
	ms: number,
	signal: AbortSignal,
): Promise<boolean> {
	if (signal.aborted) return false;
	// A timer takes at least a millisecond, which many requests a second have not.
	if (ms < 1) return true;
	return sleep(ms, true, { signal }).catch(() => false);
}

/** Runs `work` for 0 to `count` - 1, `width` of them at a time. */
export async function inParallel(
	count: number,
	width: number,
	work: (n: number) => Promise<void>,
): Promise<void> {
	let next = 0;
	const worker = async () => {
		while (next < count) await work(next++);
	};
	await Promise.all(Array.from({ length: Math.min(width, count) }, worker));
}
