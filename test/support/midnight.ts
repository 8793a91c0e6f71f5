import { setTimeout as sleep } from "node:timers/promises";

const DAY_MS = 86_400_000;
const NEAR_MS = 60_000;

/**
 * Waits until midnight (UTC) has passed if it is less than a minute away. A test that says what
 * happened today calls this first, because its day would otherwise end while it runs.
 */
export async function avoidMidnight(): Promise<void> {
	const leftMs = DAY_MS - (Date.now() % DAY_MS);
	if (leftMs < NEAR_MS) await sleep(leftMs);
}
