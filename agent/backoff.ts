const FIRST_MS = 15_000;
const CAP_MS = 30 * 60_000;
const LEAST_MS = 1_000;

/**
 * The longest Retry-After that the agent obeys. No announced maintenance takes longer, but a faulty
 * proxy may ask the agent to wait a year.
 */
const MOST_RETRY_AFTER_SECONDS = 24 * 60 * 60;

export interface Failure {
	/** The number of attempts that have failed in a row, at least 1. */
	attempt: number;
	/** The server's Retry-After, if it sent one. */
	retryAfterSeconds?: number | undefined;
	/** A random number from 0 to 1. */
	random: number;
}

/**
 * Returns the milliseconds until the next attempt: 15 s after the first failure, then doubling up
 * to 30 minutes. From the second failure on, the agent waits a random share of that time. The share
 * is taken after the cap: a fleet that has failed for long would otherwise wait exactly 30 minutes
 * and return all at once. If the server sent a Retry-After, the agent waits that time in full and
 * adds the random share, because all devices received the same value.
 */
export function nextDelayMs(failure: Failure): number {
	const { attempt, retryAfterSeconds, random } = failure;
	// With an exponent of 7, the wait of 2^7 × 15 s is already longer than the cap.
	const doubled = FIRST_MS * 2 ** Math.min(Math.max(attempt, 1) - 1, 7);
	const capped = Math.min(doubled, CAP_MS);
	if (retryAfterSeconds !== undefined && retryAfterSeconds > 0) {
		const asked = Math.min(retryAfterSeconds, MOST_RETRY_AFTER_SECONDS);
		return asked * 1000 + random * capped;
	}
	if (attempt <= 1) return FIRST_MS;
	return Math.max(LEAST_MS, random * capped);
}
