const FIRST_MS = 15_000;
const CAP_MS = 30 * 60_000;
const LEAST_MS = 1_000;

/** Longer than any announced maintenance. A proxy may ask for a year, and is not obeyed. */
const MOST_RETRY_AFTER_SECONDS = 24 * 60 * 60;

export interface Failure {
	/** How many attempts have failed in a row, from 1. */
	attempt: number;
	/** The server's Retry-After, if it sent one. */
	retryAfterSeconds?: number | undefined;
	/** From 0 to 1. */
	random: number;
}

/**
 * Returns the milliseconds until the next attempt: 15 s after the first failure, then doubling up
 * to 30 minutes. From the second failure on the agent waits a random share of that time. The share
 * is taken of the capped time, because a fleet that has waited long would otherwise come back all
 * at once. The server's Retry-After is always waited, and the random share is added to it because
 * the server told all devices the same.
 */
export function nextDelayMs(failure: Failure): number {
	const { attempt, retryAfterSeconds, random } = failure;
	// 2^7 × 15 s is already past the cap.
	const doubled = FIRST_MS * 2 ** Math.min(Math.max(attempt, 1) - 1, 7);
	const capped = Math.min(doubled, CAP_MS);
	if (retryAfterSeconds !== undefined && retryAfterSeconds > 0) {
		const asked = Math.min(retryAfterSeconds, MOST_RETRY_AFTER_SECONDS);
		return asked * 1000 + random * capped;
	}
	if (attempt <= 1) return FIRST_MS;
	return Math.max(LEAST_MS, random * capped);
}
