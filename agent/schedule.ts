/** A clock that is this far behind its last known time was set back, not just corrected. */
const SET_BACK_MS = 60_000;

/** Longest sleep before the agent looks at the clock again. */
export const LONGEST_SLEEP_MS = 60_000;

/**
 * Returns when an action is due that happens `delayMs` after `lastMs`. It is due at once if it
 * never happened, or if the clock was set back since; otherwise a device would be silent until the
 * clock has caught up. All in milliseconds since 1970.
 */
export function dueAt(
	lastMs: number | undefined,
	delayMs: number,
	nowMs: number,
): number {
	if (lastMs === undefined || lastMs > nowMs + SET_BACK_MS) return nowMs;
	return lastMs + delayMs;
}

/** Returns `intervalSeconds` in milliseconds, up to a tenth less or more, to spread a fleet. */
export function withJitter(intervalSeconds: number, random: number): number {
	return intervalSeconds * 1000 * (0.9 + 0.2 * random);
}

/**
 * Returns how long to sleep until the earliest of `dues`. It is never more than a minute, because
 * a timer does not count while a laptop is suspended, and the clock may be changed.
 */
export function sleepMs(dues: readonly number[], nowMs: number): number {
	const first = Math.min(...dues);
	return Math.max(0, Math.min(first - nowMs, LONGEST_SLEEP_MS));
}

/** A repeated action: due `delayMs` after `lastMs`. */
export interface Timer {
	/** Undefined if the action was never done. */
	lastMs: number | undefined;
	delayMs: number;
}

/** Returns a timer for an action that was last done at this RFC 3339 time. */
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
	/** After a failure, nothing is sent before this is due. */
	hold: Timer;
	/** True after a heartbeat has succeeded. Until then nothing else is sent. */
	isActive: boolean;
	isReportWaiting: boolean;
	isCollecting: boolean;
}

export type Step =
	| { kind: "heartbeat" }
	| { kind: "send" }
	| { kind: "collect" }
	| { kind: "sleep"; ms: number };

/** Chooses the next step. Heartbeats come first. The checks do not wait for the service. */
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
