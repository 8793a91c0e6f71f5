const FIRST_MS = 15_000;
const CAP_MS = 30 * 60_000;
const LEAST_MS = 1_000;

/** Longer than any announced maintenance; a proxy that says a year is not believed. */
const MOST_RETRY_AFTER_SECONDS = 24 * 60 * 60;

export interface Failure {
	/** How many attempts have failed in a row, from 1. */
	attempt: number;
	/** What the server asked for, if it did. */
	retryAfterSeconds?: number | undefined;
	/** From 0 to 1. */
	random: number;
}

/**
 * Milliseconds until the next attempt: 15 s after the first failure, doubling to 30 minutes, of
 * which from the second failure on a random share is waited. The share is taken of the capped
 * time: a fleet that has waited long would otherwise come back all at once. What the server
 * asked for is waited in any case and the random share added, since it told all devices
 * the same.
 */
export function nextDelayMs(failure: Failure): number {
	const { attempt, retryAfterSeconds, random } = failure;
	// 2^7 × 15 s is past the cap already.
	const doubled = FIRST_MS * 2 ** Math.min(Math.max(attempt, 1) - 1, 7);
	const capped = Math.min(doubled, CAP_MS);
	if (retryAfterSeconds !== undefined && retryAfterSeconds > 0) {
		const asked = Math.min(retryAfterSeconds, MOST_RETRY_AFTER_SECONDS);
		return asked * 1000 + random * capped;
	}
	if (attempt <= 1) return FIRST_MS;
	return Math.max(LEAST_MS, random * capped);
}
