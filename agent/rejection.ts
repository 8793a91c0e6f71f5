import { dueAt, type Timer } from "./schedule.ts";

/**
 * The 401s since the service last accepted the device's key. They are part of the state on the
 * disk, so a restart and the command `once` continue to count.
 */
export interface Rejection {
	/** The time of the first 401, in RFC 3339 format. */
	since: string;
	/** The time of the latest 401. */
	last_at: string;
	/** The number of all 401s, including those that do not look like Assay's. */
	total: number;
	/** The number of 401s that have the shape of Assay's errors. */
	from_assay: number;
}

const MINUTE_MS = 60_000;

/** How long the agent waits after the first 401, after the second and after each later one. */
const WAITS_MS = [5 * MINUTE_MS, 10 * MINUTE_MS, 30 * MINUTE_MS];

/** The number of 401s that ends an enrollment. */
const FINAL_COUNT = 3;

/** How long 401s in another shape than Assay's must last before they end an enrollment. */
const FOREIGN_LASTS_MS = 24 * 60 * MINUTE_MS;

/** Adds a 401 to the earlier ones. */
export function addRejection(
	earlier: Rejection | null,
	isFromAssay: boolean,
	now = new Date(),
): Rejection {
	const at = now.toISOString();
	return {
		since: earlier?.since ?? at,
		last_at: at,
		total: (earlier?.total ?? 0) + 1,
		from_assay: (earlier?.from_assay ?? 0) + (isFromAssay ? 1 : 0),
	};
}

/**
 * Returns true if the key is certainly no longer valid: after three 401s of Assay's, or if 401s
 * of any shape have lasted for 24 hours. A proxy or another program at the service's address
 * sends 401s too.
 */
export function isFinal({
	since,
	last_at,
	total,
	from_assay,
}: Rejection): boolean {
	if (from_assay >= FINAL_COUNT) return true;
	const lastedMs = Date.parse(last_at) - Date.parse(since);
	return total >= FINAL_COUNT && lastedMs >= FOREIGN_LASTS_MS;
}

/** Returns when the agent may use the key next: 5 and 15 minutes after the first 401. */
export function nextQuestion({ last_at, total }: Rejection): Timer {
	const delayMs = WAITS_MS[Math.min(total, WAITS_MS.length) - 1] ?? 0;
	return { lastMs: Date.parse(last_at), delayMs };
}

/** Returns true if the agent may use the key now. */
export function mayAsk(rejection: Rejection | null, nowMs: number): boolean {
	if (!rejection) return true;
	const { lastMs, delayMs } = nextQuestion(rejection);
	return dueAt(lastMs, delayMs, nowMs) <= nowMs;
}

/** Returns a sentence about what happened and what the agent does next. */
export function describeRejection(rejection: Rejection): string {
	const { lastMs = 0, delayMs } = nextQuestion(rejection);
	const next = new Date(lastMs + delayMs).toISOString();
	return rejection.from_assay > 0
		? `the service rejected this device's key (${rejection.from_assay} of ${FINAL_COUNT} times); the agent keeps its reports, asks again at ${next}, and removes the key after the third time`
		: `a 401 that is not from an Assay service rejected this device's key; the agent keeps its reports, asks again at ${next}, and removes the key if this lasts 24 hours; check the service's address, and whether a proxy answers instead`;
}

/** Reads the 401s from the stored state. Returns null if they are missing or damaged. */
export function readRejection(stored: unknown): Rejection | null {
	const { since, last_at, total, from_assay } = (stored ?? {}) as Record<
		string,
		unknown
	>;
	const isTime = (value: unknown): value is string =>
		typeof value === "string" && !Number.isNaN(Date.parse(value));
	const isCount = (value: unknown): value is number =>
		Number.isSafeInteger(value) && (value as number) >= 0;
	return isTime(since) && isTime(last_at) && isCount(total) && total > 0
		? {
				since,
				last_at,
				total,
				from_assay: isCount(from_assay) ? from_assay : 0,
			}
		: null;
}
