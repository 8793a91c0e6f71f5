/** A clock that is this much behind the last time it showed was set back, not just corrected. */
const SET_BACK_MS = 60_000;

/** What still waits for a moment, looks at the clock at least this often. */
export const LONGEST_SLEEP_MS = 60_000;

/**
 * When something is due that happens `delayMs` after `lastMs`: at once if it never happened,
 * or if the clock was set back since, as a device would otherwise be silent until the clock has
 * caught up. All in milliseconds since 1970.
 */
export function dueAt(
	lastMs: number | undefined,
	delayMs: number,
	nowMs: number,
): number {
	if (lastMs === undefined || lastMs > nowMs + SET_BACK_MS) return nowMs;
	return lastMs + delayMs;
}

/** `intervalSeconds` in milliseconds, up to a tenth less or more, so that a fleet spreads. */
export function withJitter(intervalSeconds: number, random: number): number {
	return intervalSeconds * 1000 * (0.9 + 0.2 * random);
}

/**
 * How long to sleep until the earliest of `dues`. Never more than a minute: a timer does not
 * count while a laptop is suspended, and the clock may be set.
 */
export function sleepMs(dues: readonly number[], nowMs: number): number {
	const first = Math.min(...dues);
	return Math.max(0, Math.min(first - nowMs, LONGEST_SLEEP_MS));
}

/** Something that is done again and again: `delayMs` after `lastMs`. */
export interface Timer {
	/** Undefined when it was never done. */
	lastMs: number | undefined;
	delayMs: number;
}

/** A timer of something that was done last at this RFC 3339 time. */
export function timerSince(
	lastAt: string | null,
	intervalSeconds: number,
): Timer {
	return {
		lastMs: lastAt === null ? undefined : Date.parse(lastAt),
		delayMs: withJitter(intervalSeconds, Math.random()),
	};
}

export interface Situation {
	heartbeat: Timer;
	postures: Timer;
	/** Nothing is sent before: after a failure. */
	hold: Timer;
	/** Whether a heartbeat has succeeded: until then nothing else is sent. */
	isActive: boolean;
	isReportWaiting: boolean;
	isCollecting: boolean;
}

export type Step =
	| { kind: "heartbeat" }
	| { kind: "send" }
	| { kind: "collect" }
	| { kind: "sleep"; ms: number };

/** What to do now. Heartbeats come first; the checks need no service and do not wait for it. */
export function chooseStep(situation: Situation, nowMs: number): Step {
	const { heartbeat, postures, hold, isActive } = situation;
	const due = (timer: Timer) => dueAt(timer.lastMs, timer.delayMs, nowMs);
	const holdMs = due(hold);
	const heartbeatMs = Math.max(due(heartbeat), holdMs);
	const sendMs = isActive && situation.isReportWaiting ? holdMs : Infinity;
	const collectMs =
		isActive && !situation.isCollecting ? due(postures) : Infinity;
	if (heartbeatMs <= nowMs) return { kind: "heartbeat" };
	if (sendMs <= nowMs) return { kind: "send" };
	if (collectMs <= nowMs) return { kind: "collect" };
	return {
		kind: "sleep",
		ms: sleepMs([heartbeatMs, sendMs, collectMs], nowMs),
	};
}
