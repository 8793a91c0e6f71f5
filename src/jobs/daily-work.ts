import type { Logger } from "pino";
import { isDatabaseUnavailable } from "../errors.ts";

/** Time, in milliseconds, until work that failed or did not finish runs again. */
export const SOON_MS = 10 * 60_000;

/**
 * Runs `work` again and again, for the first time after `firstAfterMs`. `work` returns the
 * milliseconds until its next run. If `work` throws, this logs `failure` and runs it again after
 * SOON_MS. Returns a function that stops this: it aborts the signal, starts no further run, and
 * resolves when the current run has ended.
 */
export function startDailyWork(
	firstAfterMs: number,
	work: (signal: AbortSignal) => Promise<number>,
	failure: string,
	log: Logger,
): () => Promise<void> {
	let timer: NodeJS.Timeout | undefined;
	let running: Promise<void> | undefined;
	const stopping = new AbortController();
	const { signal } = stopping;
	const run = async () => {
		let next = SOON_MS;
		try {
			next = await work(signal);
		} catch (err) {
			if (signal.aborted) return;
			if (isDatabaseUnavailable(err)) log.warn({ err }, `${failure} yet`);
			else log.error({ err }, failure);
		}
		if (!signal.aborted) runIn(next);
	};
	const runIn = (ms: number) => {
		timer = setTimeout(() => {
			running = run();
		}, ms);
		timer.unref();
	};
	runIn(firstAfterMs);
	return async () => {
		stopping.abort();
		clearTimeout(timer);
		await running;
	};
}
