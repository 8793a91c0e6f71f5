import { setTimeout as sleep } from "node:timers/promises";
import { codeOf, DISK_FULL } from "../db/sqlstate.ts";
import { AppError, toAppError } from "../errors.ts";

/**
 * Factor of the database's time limits while the demonstration is made. The limits protect callers
 * of a service. Here they would only end a start that takes long because the machine is busy.
 */
export const TIME_LIMIT_FACTOR = 20;

/** Number of attempts. With the pauses between them, they take at least five minutes. */
const ATTEMPTS = 300;
const PAUSE_MS = 1_000;
/** Shortest time between two lines about the progress. */
const TELL_MS = 10_000;

/**
 * Repeats `work` as long as it fails because something is overloaded or not ready. `work` must leave
 * nothing behind when it fails.
 */
export async function retryWhileBusy<Result>(
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

/**
 * Awaits `work`, and says every ten seconds that it still waits for `what`, such as "PostgreSQL to
 * start".
 */
export async function tellWaiting<Result>(
	what: string,
	tell: (line: string) => void,
	work: () => Promise<Result>,
	everyMs = TELL_MS,
): Promise<Result> {
	const telling = setInterval(
		() => tell(`  still waiting for ${what}; this machine may be busy`),
		everyMs,
	);
	try {
		return await work();
	} finally {
		clearInterval(telling);
	}
}

/**
 * Returns the error that ends a demonstration. Its database runs on this machine, so a database
 * that does not answer has nothing to do with a network.
 */
export function explainEnd(error: unknown): unknown {
	if (error instanceof AppError || !mayPass(error)) return error;
	return new AppError(
		"service_unavailable",
		`the demonstration ends, because its PostgreSQL did not answer in time (${(error as Error).message}); this machine may be busy: try again when it has less to do, or with fewer devices (--devices 50)`,
		{ cause: error },
	);
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
