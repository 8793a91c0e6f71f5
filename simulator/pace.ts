import { setTimeout as sleep } from "node:timers/promises";

/** Limits how many callers continue in each second. They continue one after the other. */
export class Pace {
	readonly #gapMs: number;
	#next = 0;

	constructor(perSecond: number) {
		this.#gapMs = 1000 / perSecond;
	}

	/** Waits until it is the caller's turn. Returns false if the signal aborts before that. */
	async turn(signal: AbortSignal): Promise<boolean> {
		const now = performance.now();
		const mine = Math.max(this.#next, now);
		this.#next = mine + this.#gapMs;
		return waitMs(mine - now, signal);
	}
}

/** Waits `ms` milliseconds and returns true. Returns false as soon as the signal aborts. */
export async function waitMs(
	ms: number,
	signal: AbortSignal,
): Promise<boolean> {
	if (signal.aborted) return false;
	// A timer takes at least a millisecond, which is too long when there are many requests a second.
	if (ms < 1) return true;
	return sleep(ms, true, { signal }).catch(() => false);
}

/**
 * Calls `work` with each number from 0 to `count` - 1. At most `width` calls run at the same time.
 */
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
