import { setTimeout as sleep } from "node:timers/promises";

/** Lets at most a number of callers through each second, one after the other. */
export class Pace {
	readonly #gapMs: number;
	#next = 0;

	constructor(perSecond: number) {
		this.#gapMs = 1000 / perSecond;
	}

	/** Waits for the caller's turn. Returns false if the signal aborted first. */
	async turn(signal: AbortSignal): Promise<boolean> {
		const now = performance.now();
		const mine = Math.max(this.#next, now);
		this.#next = mine + this.#gapMs;
		return waitMs(mine - now, signal);
	}
}

/** Waits `ms` and returns true, or returns false as soon as the signal aborts. */
export async function waitMs(
	ms: number,
	signal: AbortSignal,
): Promise<boolean> {
	if (signal.aborted) return false;
	// A timer takes at least a millisecond, too long for many requests a second.
	if (ms < 1) return true;
	return sleep(ms, true, { signal }).catch(() => false);
}

/** Runs `work` for 0 to `count` - 1, `width` at a time. */
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
