/**
 * Smallest difference, in milliseconds, after which the clock counts as set back. A smaller one is
 * a correction.
 */
const SET_BACK_MS = 60_000;

/** Longest sleep in milliseconds before the agent looks at the clock again. */
export const LONGEST_SLEEP_MS = 60_000;

/**
 * Returns when an action is due that happens `delayMs` after `lastMs`. The action is due at once if
 * it never happened. It is also due at once if the clock was set back since, because the device
 * would otherwise be silent until the clock has caught up. All times are in milliseconds since
 * 1970.
 */
export function dueAt(
	lastMs: number | undefined,
	delayMs: number,
	nowMs: number,
): number {
	if (lastMs === undefined || lastMs > nowMs + SET_BACK_MS) return nowMs;
	return lastMs + delayMs;
}

/**
 * Returns `intervalSeconds` in milliseconds, changed at random by up to a tenth, so that the
 * devices of a fleet do not report at the same time.
 */
export function withJitter(intervalSeconds: number, random: number): number {
	return intervalSeconds * 1000 * (0.9 + 0.2 * random);
}

/**
 * Returns how long to sleep until the earliest of `dues`, at most a minute. Timers do not run while
 * a laptop is suspended, and somebody may change the clock, so the agent looks at the clock every
 * minute.
 */
export function sleepMs(dues: readonly number[], nowMs: number): number {
	const first = Math.min(...dues);
	return Math.max(0, Math.min(first - nowMs, LONGEST_SLEEP_MS));
}

/** The time at which a repeated action is due: `delayMs` after `lastMs`. */
export interface Timer {
	/** When the action was last done. Undefined if it was never done. */
	lastMs: number | undefined;
	delayMs: number;
}

/** Returns a timer for an action that was last done at `lastAt`, an RFC 3339 time. */
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
	/** After a failure, the agent sends nothing until this timer is due. */
	hold: Timer;
	/** After a report got a foreign 400, the agent sends no report until this timer is due. */
	reportHold: Timer;
	/**
	 * After a 401, the agent sends nothing until this timer is due, and then only a heartbeat.
	 * Undefined while the key is accepted.
	 */
	question: Timer | undefined;
	/** True after a heartbeat has succeeded. Until then, the agent sends only heartbeats. */
	isActive: boolean;
	isReportWaiting: boolean;
	isCollecting: boolean;
}

export type Step =
	| { kind: "heartbeat" }
	| { kind: "send" }
	| { kind: "collect" }
	| { kind: "sleep"; ms: number };

/**
 * Chooses the next step. Heartbeats come before everything else. The checks run even if the service
 * cannot be reached.
 */
export function chooseStep(situation: Situation, nowMs: number): Step {
	const { heartbeat, postures, hold, isActive } = situation;
	const due = (timer: Timer) => dueAt(timer.lastMs, timer.delayMs, nowMs);
	const holdMs = due(hold);
	const heartbeatMs = Math.max(due(situation.question ?? heartbeat), holdMs);
	const maySend =
		isActive && situation.isReportWaiting && situation.question === undefined;
	const sendMs = maySend
		? Math.max(holdMs, due(situation.reportHold))
		: Infinity;
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
