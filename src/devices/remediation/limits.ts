import type { Evidence } from "../terms.ts";
import {
	DEFAULT_THRESHOLDS,
	THRESHOLDS,
	type ThresholdName,
	type Thresholds,
} from "../thresholds.ts";

/** Length of passwords that commands set, unless the policy demands more. */
const USUAL_PASSWORD_LENGTH = 12;

/** Times until the lock that commands set, unless the policy demands less. */
const USUAL_IDLE_SECONDS = 300;
const USUAL_IDLE_MINUTES = 10;

/** Returns the threshold that judged a result. Older agents always used the default. */
export function thresholdIn(evidence: Evidence, name: ThresholdName): number {
	const judgedBy = evidence.threshold;
	const value =
		typeof judgedBy === "object" && judgedBy !== null
			? (judgedBy as Evidence)[name]
			: undefined;
	const { least, most } = THRESHOLDS[name];
	return typeof value === "number" && value >= least && value <= most
		? value
		: DEFAULT_THRESHOLDS[name];
}

/**
 * Returns the limit that a failure should be measured by. That is the policy's, which the fix has to
 * meet. If the device would meet it and `isBroken` says that it breaks the one that judged it, the
 * agent has not heard of a new policy yet, and that one explains the failure.
 */
export function limitOf(
	evidence: Evidence,
	name: ThresholdName,
	policy: Thresholds | undefined,
	isBroken: (limit: number) => boolean,
): number {
	const judged = thresholdIn(evidence, name);
	const now = policy?.[name] ?? judged;
	return !isBroken(now) && isBroken(judged) ? judged : now;
}

/**
 * Puts the limits of the policy into an advice, for example into "minlen = {password_length}".
 * Without a policy, such as on the device itself, the limits are those that judged the result.
 */
export function withLimits(
	advice: string,
	evidence: Evidence,
	policy: Thresholds | undefined,
): string {
	const limitFor = (name: ThresholdName) =>
		policy?.[name] ?? thresholdIn(evidence, name);
	const lockSeconds = limitFor("max_lock_delay_seconds");
	const length = Math.max(
		limitFor("min_password_length"),
		USUAL_PASSWORD_LENGTH,
	);
	const values: Record<string, string | number> = {
		password_length: length,
		// The length of passwords with two kinds of characters.
		simple_password_length: Math.max(length, 2 * USUAL_PASSWORD_LENGTH),
		idle_seconds: Math.min(lockSeconds, USUAL_IDLE_SECONDS),
		idle_minutes: Math.min(Math.floor(lockSeconds / 60), USUAL_IDLE_MINUTES),
		// The agent knows no policy while it cannot judge.
		lock_time: policy
			? duration(lockSeconds)
			: `${duration(lockSeconds)}, unless it chose another time`,
	};
	return advice.replaceAll(/\{(\w+)\}/g, (whole, name: string) =>
		String(values[name] ?? whole),
	);
}

/** Returns a time such as "45 s", "5 min" or "7.5 min". */
export function duration(seconds: number): string {
	return seconds < 60
		? `${seconds} s`
		: `${Math.round((seconds / 60) * 10) / 10} min`;
}
