/**
 * Returns the seconds until the next attempt after `attempts` attempts have failed. Each wait is
 * twice as long as the one before it, up to `maxSeconds`.
 */
export function retrySeconds(attempts: number, maxSeconds: number): number {
	return Math.min(60 * 2 ** (attempts - 1), maxSeconds);
}
