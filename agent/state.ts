import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
	DEFAULT_HEARTBEAT_INTERVAL_SECONDS,
	DEFAULT_POSTURE_INTERVAL_SECONDS,
} from "../src/devices/terms.ts";
import { explainFolder } from "./agent-error.ts";
import { errorCode, parseObject, writeFileAtomically } from "./files.ts";

/**
 * The data that the agent keeps about one enrollment across restarts. Times are in RFC 3339 format.
 */
export interface State {
	enrollment_id: string;
	/** Null until the first heartbeat has succeeded. */
	device_id: string | null;
	heartbeat_interval_seconds: number;
	posture_interval_seconds: number;
	last_heartbeat_at: string | null;
	/** When the checks last ran. */
	last_checks_at: string | null;
	/** When the service last accepted a report. */
	last_sent_at: string | null;
	/**
	 * Why the last request failed, and since when requests have failed. Null while requests succeed.
	 */
	trouble: { since: string; reason: string } | null;
	/** When the service rejected the key. The agent then removed the key. */
	refused_at: string | null;
	/**
	 * The number of all reports that were dropped because the queue was full. The service has been
	 * told about `dropped_told` of them.
	 */
	dropped_total: number;
	dropped_told: number;
	dropped_since: string | null;
	/**
	 * True if the last report said that reports were dropped. The next report then says that no more
	 * were dropped.
	 */
	owes_all_clear: boolean;
}

const FILE = "state.json";

const MAX_INTERVAL_SECONDS = 7 * 24 * 60 * 60;

const freshState = (enrollmentId: string): State => ({
	enrollment_id: enrollmentId,
	device_id: null,
	heartbeat_interval_seconds: DEFAULT_HEARTBEAT_INTERVAL_SECONDS,
	posture_interval_seconds: DEFAULT_POSTURE_INTERVAL_SECONDS,
	last_heartbeat_at: null,
	last_checks_at: null,
	last_sent_at: null,
	trouble: null,
	refused_at: null,
	dropped_total: 0,
	dropped_told: 0,
	dropped_since: null,
	owes_all_clear: false,
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
	let text: string;
	try {
		text = await readFile(join(folder, FILE), "utf8");
	} catch (error) {
		const code = errorCode(error);
		if (code === "ENOENT" || code === "ENOTDIR") return undefined;
		throw explainFolder(error, folder);
	}
	const stored = parseObject(text);
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
	const { since, reason } = (stored.trouble ?? {}) as Record<string, unknown>;
	return {
		...fresh,
		device_id: typeof stored.device_id === "string" ? stored.device_id : null,
		heartbeat_interval_seconds:
			readInterval(stored.heartbeat_interval_seconds) ??
			fresh.heartbeat_interval_seconds,
		posture_interval_seconds:
			readInterval(stored.posture_interval_seconds) ??
			fresh.posture_interval_seconds,
		last_heartbeat_at: time(stored.last_heartbeat_at),
		last_checks_at: time(stored.last_checks_at),
		last_sent_at: time(stored.last_sent_at),
		trouble:
			typeof since === "string" && typeof reason === "string"
				? { since, reason }
				: null,
		refused_at: time(stored.refused_at),
		dropped_total: count(stored.dropped_total),
		dropped_told: count(stored.dropped_told),
		dropped_since: time(stored.dropped_since),
		owes_all_clear: stored.owes_all_clear === true,
	};
}

/**
 * Returns the stored state of this enrollment, or a new one if the stored state belongs to an
 * earlier enrollment.
 */
export async function readStateOf(
	folder: string,
	enrollmentId: string,
): Promise<State> {
	const stored = await readState(folder);
	return stored?.enrollment_id === enrollmentId
		? stored
		: freshState(enrollmentId);
}

export async function writeState(folder: string, state: State): Promise<void> {
	await writeFileAtomically(join(folder, FILE), `${JSON.stringify(state)}\n`);
}
