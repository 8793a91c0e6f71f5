import type { Ledger } from "../failover/writers.ts";

const SECOND = 1_000;

/**
 * Returns the number of acknowledged writes per second in a period of performance.now()'s clock.
 */
export function rateOf(
	{ acknowledgedAt }: Ledger,
	from: number,
	to: number,
): number {
	const inside = acknowledgedAt.filter((at) => at >= from && at < to);
	return (inside.length / (to - from)) * SECOND;
}

/**
 * Returns the milliseconds between the repair and the first second in which 90 % of the earlier
 * rate is reached.
 */
export function findRecovery(
	ledger: Ledger,
	mendedAt: number,
	now: number,
	perSecond: number,
): number | undefined {
	for (let from = mendedAt; from + SECOND <= now; from += 100) {
		if (rateOf(ledger, from, from + SECOND) >= 0.9 * perSecond) {
			return from - mendedAt;
		}
	}
	return undefined;
}

/**
 * Returns the longest time without a success of the probe, and its end. The probe sends ten
 * requests a second.
 */
export function longestGap(
	{ probedAt }: Ledger,
	from: number,
	to: number,
): { ms: number; endedAt: number } {
	const times = [from, ...probedAt.filter((at) => at > from && at < to), to];
	times.sort((a, b) => a - b);
	let longest = { ms: 0, endedAt: from };
	for (let i = 1; i < times.length; i++) {
		const endedAt = times[i] ?? 0;
		const ms = endedAt - (times[i - 1] ?? 0);
		if (ms > longest.ms) longest = { ms, endedAt };
	}
	return longest;
}
