import { setTimeout as sleep } from "node:timers/promises";

const EVERY_MS = 20;
const LIMIT_MS = 60_000;

/**
 * Reads again and again until `read` returns something, and returns it. Throws after a minute and
 * says `what` did not come. Wake the service before, or in `read`: its pollers sleep for 5 seconds.
 */
export async function until<T>(
	what: string,
	read: () => Promise<T | false | undefined> | T | false | undefined,
): Promise<T> {
	const start = performance.now();
	for (;;) {
		const found = await read();
		if (found !== undefined && found !== false) return found;
		if (performance.now() - start > LIMIT_MS)
			throw new Error(`waited ${LIMIT_MS / 1000} s for ${what}`);
		await sleep(EVERY_MS);
	}
}
