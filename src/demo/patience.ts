import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, DISK_FULL } from "../db/sqlstate.ts";
import { AppError, toAppError } from "../errors.ts";

/**
 * Factor of the database's time limits while the demonstration is made. The limits protect callers
 * of a service. Here they would only end a start that takes long because the machine is busy.
 */
export const PATIENCE = 20;

/** Number of attempts. With the pauses between them, they take at least five minutes. */
const ATTEMPTS = 300;
const PAUSE_MS = 1_000;
/** Shortest time between two lines about the progress. */
const TELL_MS = 10_000;

/**
 * Repeats `work` as long as it fails because something is overloaded or not ready. `work` must leave
 * nothing behind when it fails.
 */
export async function patiently<Result>(
	work: () => Promise<Result>,
	pauseMs = PAUSE_MS,
): Promise<Result> {
	for (let attempt = 1; ; attempt++) {
		try {
			return await work();
		} catch (error) {
			if (attempt === ATTEMPTS || !mayPass(error)) throw error;
			await sleep(pauseMs);
		}
	}
}

function mayPass(error: unknown): boolean {
	const cause = error instanceof AppError ? error.cause : error;
	return (
		toAppError(error).code === "service_unavailable" &&
		codeOf(cause) !== DISK_FULL
	);
}

/** Called with the number of steps that are done, and of all steps. */
export type Progress = (done: number, all: number) => void;

/** Says how far work of several steps has come, but not more often than every ten seconds. */
export function tellProgress(
	tell: (line: string) => void,
	describe: (percent: number) => string,
): Progress {
	let toldAt = performance.now();
	return (done, all) => {
		if (performance.now() - toldAt < TELL_MS) return;
		toldAt = performance.now();
		tell(describe(Math.floor((100 * done) / all)));
	};
}
