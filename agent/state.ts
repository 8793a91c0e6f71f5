import { readFile } from "node:fs/promises";
import { join } from "node:path";
import {
	DEFAULT_HEARTBEAT_INTERVAL_SECONDS,
	DEFAULT_POSTURE_INTERVAL_SECONDS,
} from "../src/devices/terms.ts";
import { explainFolder } from "./agent-error.ts";
import { errorCode, parseObject, writeFileAtomically } from "./files.ts";

/** The agent's memory of one enrollment across restarts. Times are RFC 3339. */
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
	/** Why the last request failed, and since when requests fail. Null while they succeed. */
	trouble: { since: string; reason: string } | null;
	/** When the service rejected the key, which was then removed. */
	refused_at: string | null;
	/**
	 * All reports dropped because the queue was full; `dropped_told` of them are known to the
	 * service.
	 */
	dropped_total: number;
	dropped_told: number;
	dropped_since: string | null;
	/**
	 * True if the service last heard that reports were dropped. The next report then gives the
	 * all-clear.
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

/** Returns a whole number of seconds that a timer can use, or undefined. */
export function readInterval(value: unknown): number | undefined {
	return Number.isInteger(value) && (value as number) >= 1
		? Math.min(value as number, MAX_INTERVAL_SECONDS)
		: undefined;
}

/** Returns the stored state of any enrollment, or undefined if it is missing or damaged. */
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

/** Returns the state of this enrollment, and ignores that of an earlier one. */
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
