import type { Logger } from "pino";
import { isDatabaseUnavailable } from "../errors.ts";

/** Time until work that could not finish is tried again. */
export const SOON_MS = 10 * 60_000;

/**
 * Does work that may take long, for the first time after `firstAfterMs`. `work` returns the time, in
 * milliseconds, until the next run. If it fails, the log says `failure`, and it runs again soon.
 * Returns a function that begins nothing further, and resolves when the running work is done.
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
