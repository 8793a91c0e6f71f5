import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
	DEFAULT_HEARTBEAT_INTERVAL_SECONDS,
	DEFAULT_POSTURE_INTERVAL_SECONDS,
} from "../src/devices/terms.ts";
import {
	DEFAULT_THRESHOLDS,
	readThresholds,
	type Thresholds,
} from "../src/devices/thresholds.ts";
import { explainFolder } from "./agent-error.ts";
import { errorCode, parseObject, writeFileAtomically } from "./files.ts";
import { type Rejection, readRejection } from "./rejection.ts";

/**
 * The data that the agent keeps about one enrollment across restarts. Times are in RFC 3339 format.
 */
export interface State {
	enrollment_id: string;
	/** Null until the first heartbeat has succeeded. */
	device_id: string | null;
	heartbeat_interval_seconds: number;
	posture_interval_seconds: number;
	/** The thresholds by which the organization judges its devices. */
	thresholds: Thresholds;
	last_heartbeat_at: string | null;
	/** When the checks last ran. */
	last_checks_at: string | null;
	/** When the service last accepted a report. */
	last_sent_at: string | null;
	/**
	 * Why the last request failed, and since when requests have failed. Null while requests succeed.
	 */
	trouble: { since: string; reason: string } | null;
	/** The 401s since the service last accepted the key. Null after it has accepted it. */
	rejection: Rejection | null;
	/** When the agent removed the key, because the service had rejected it for good. */
	refused_at: string | null;
	/**
	 * The oldest report, if something other than the service answers it with 400, and since when.
	 */
	disputed: { report_id: string; since: string } | null;
	/** The status of each check in the latest report, as one text. Null before the first report. */
	last_statuses: string | null;
	/**
	 * The number of all reports that the service will never have: the queue was full, the service
	 * rejected them, or they were damaged. The service has been told about `dropped_told` of them.
	 */
	dropped_total: number;
	dropped_told: number;
	dropped_since: string | null;
	/**
	 * True if the last report said that reports were dropped. The next report then says that no more
	 * were dropped.
	 */
	owes_all_clear: boolean;
	/**
	 * The device of the earlier enrollment. If the service gives this enrollment the same device, the
	 * agent sends the reports that still wait. Null if there was none.
	 */
	earlier_device_id: string | null;
}

const FILE = "state.json";

const MAX_INTERVAL_SECONDS = 7 * 24 * 60 * 60;

/** The counts of dropped reports of a device that has lost none. */
export const NOTHING_DROPPED = {
	dropped_total: 0,
	dropped_told: 0,
	dropped_since: null,
	owes_all_clear: false,
};

const freshState = (enrollmentId: string): State => ({
	enrollment_id: enrollmentId,
	device_id: null,
	heartbeat_interval_seconds: DEFAULT_HEARTBEAT_INTERVAL_SECONDS,
	posture_interval_seconds: DEFAULT_POSTURE_INTERVAL_SECONDS,
	thresholds: DEFAULT_THRESHOLDS,
	last_heartbeat_at: null,
	last_checks_at: null,
	last_sent_at: null,
	trouble: null,
	rejection: null,
	refused_at: null,
	disputed: null,
	last_statuses: null,
	...NOTHING_DROPPED,
	earlier_device_id: null,
});

/** Returns a whole number of seconds that a timer can use. Returns undefined for anything else. */
export function readInterval(value: unknown): number | undefined {
	return Number.isInteger(value) && (value as number) >= 1
		? Math.min(value as number, MAX_INTERVAL_SECONDS)
		: undefined;
}

/**
 * Returns the stored state, no matter which enrollment it belongs to. Returns undefined if it is
 * missing or damaged.
 */
export async function readState(folder: string): Promise<State | undefined> {
	let content: string;
	try {
		content = await readFile(join(folder, FILE), "utf8");
	} catch (error) {
		const code = errorCode(error);
		if (code === "ENOENT" || code === "ENOTDIR") return undefined;
		throw explainFolder(error, folder);
	}
	const stored = parseObject(content);
	if (typeof stored?.enrollment_id !== "string") return undefined;
	const fresh = freshState(stored.enrollment_id);
	const time = (value: unknown) =>
		typeof value === "string" && !Number.isNaN(Date.parse(value))
			? value
			: null;
	const count = (value: unknown) =>
		Number.isSafeInteger(value) && (value as number) >= 0
			? (value as number)
			: 0;
	const text = (value: unknown) => (typeof value === "string" ? value : null);
	const { since, reason } = (stored.trouble ?? {}) as Record<string, unknown>;
	const disputed = (stored.disputed ?? {}) as Record<string, unknown>;
	const disputedSince = time(disputed.since);
	const disputedReport = text(disputed.report_id);
	return {
		...fresh,
		device_id: text(stored.device_id),
		heartbeat_interval_seconds:
			readInterval(stored.heartbeat_interval_seconds) ??
			fresh.heartbeat_interval_seconds,
		posture_interval_seconds:
			readInterval(stored.posture_interval_seconds) ??
			fresh.posture_interval_seconds,
		thresholds: readThresholds(stored.thresholds) ?? fresh.thresholds,
		last_heartbeat_at: time(stored.last_heartbeat_at),
		last_checks_at: time(stored.last_checks_at),
		last_sent_at: time(stored.last_sent_at),
		trouble:
			typeof since === "string" && typeof reason === "string"
				? { since, reason }
				: null,
		rejection: readRejection(stored.rejection),
		refused_at: time(stored.refused_at),
		disputed:
			disputedReport !== null && disputedSince !== null
				? { report_id: disputedReport, since: disputedSince }
				: null,
		last_statuses: text(stored.last_statuses),
		dropped_total: count(stored.dropped_total),
		dropped_told: count(stored.dropped_told),
		dropped_since: time(stored.dropped_since),
		owes_all_clear: stored.owes_all_clear === true,
		earlier_device_id: text(stored.earlier_device_id),
	};
}

/**
 * Returns the stored state of this enrollment. If the stored state belongs to an earlier
 * enrollment, returns a new one that keeps only the earlier device and its dropped reports.
 */
export async function readStateOf(
	folder: string,
	enrollmentId: string,
): Promise<State> {
	const stored = await readState(folder);
	if (stored?.enrollment_id === enrollmentId) return stored;
	const fresh = freshState(enrollmentId);
	if (!stored) return fresh;
	const { dropped_total, dropped_told, dropped_since, owes_all_clear } = stored;
	return {
		...fresh,
		dropped_total,
		dropped_told,
		dropped_since,
		owes_all_clear,
		earlier_device_id: stored.device_id ?? stored.earlier_device_id,
	};
}

export async function writeState(folder: string, state: State): Promise<void> {
	await writeFileAtomically(join(folder, FILE), `${JSON.stringify(state)}\n`);
}

/**
 * Returns the thresholds by which this device is judged. Before the first heartbeat, and for a user
 * who may not read the state, these are the defaults.
 */
export async function readStoredThresholds(
	folder: string,
): Promise<Thresholds> {
	const state = await readState(folder).catch(() => undefined);
	return state?.thresholds ?? DEFAULT_THRESHOLDS;
}
