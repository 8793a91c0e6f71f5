import { isLater } from "../src/agent-packages/release.ts";
import { VERSION } from "../src/version.ts";
import { readCredentials } from "./credentials.ts";
import { readEnrollmentTrouble } from "./enrollment-trouble.ts";
import { readMarker } from "./folder.ts";
import { findRunning } from "./lock.ts";
import { listQueue } from "./queue.ts";
import { dueAt } from "./schedule.ts";
import { readState } from "./state.ts";
import { readNotes, readPinnedKey } from "./updates/update-notes.ts";

/** The output of the command `status`. Times are in RFC 3339 format. It never contains the key. */
export interface Status {
	folder: string;
	enrolled: boolean;
	server_url: string | null;
	device_id: string | null;
	enrolled_at: string | null;
	/** The process id of the running agent. Null if the agent is not running. */
	running_pid: number | null;
	/** The service as the service manager sees it. Null if no service was set up for this folder. */
	service: { name: string; state: string } | null;
	last_heartbeat_at: string | null;
	/**
	 * The time of the next heartbeat. Null while requests fail, because the agent then retries at a
	 * later, random time.
	 */
	next_heartbeat_at: string | null;
	last_checks_at: string | null;
	next_checks_at: string | null;
	last_sent_at: string | null;
	queued_reports: number;
	dropped_reports: number;
	/**
	 * Why requests fail, or why the agent has not enrolled this device as its config file says, and
	 * since when. Null while nothing fails.
	 */
	trouble: { since: string; reason: string } | null;
	/** When the agent removed the key, because the service had rejected it. Null if it has not. */
	refused_at: string | null;
	/** How the agent updates its program. Null if it does not. */
	updates: {
		/** The newest version that the service has named. Null if this program is as new. */
		newest_version: string | null;
		/** Why the agent does not use that version, or could not fetch it. */
		problem: string | null;
	} | null;
}

export async function readStatus(
	folder: string,
	/**
	 * Asks the service manager for the service's state. It is called only if a service was set up.
	 */
	serviceState: (name: string) => Promise<string>,
	/** The version of this program. Tests set another one. */
	version = VERSION,
): Promise<Status> {
	const marker = await readMarker(folder);
	const credentials = await readCredentials(folder);
	const stored = await readState(folder);
	const isOfThis =
		!credentials || stored?.enrollment_id === credentials.enrollment_id;
	const state = isOfThis ? stored : undefined;
	const next = (last: string | null | undefined, seconds: number) =>
		credentials && last
			? new Date(
					dueAt(Date.parse(last), seconds * 1000, Date.now()),
				).toISOString()
			: null;
	return {
		folder,
		enrolled: credentials !== undefined,
		server_url: credentials?.server_url ?? null,
		device_id: state?.device_id ?? null,
		enrolled_at: credentials?.enrolled_at ?? null,
		running_pid: (await findRunning(folder)) ?? null,
		service: marker?.service
			? { name: marker.service, state: await serviceState(marker.service) }
			: null,
		last_heartbeat_at: state?.last_heartbeat_at ?? null,
		next_heartbeat_at: state?.trouble
			? null
			: next(state?.last_heartbeat_at, state?.heartbeat_interval_seconds ?? 0),
		last_checks_at: state?.last_checks_at ?? null,
		next_checks_at: next(
			state?.last_checks_at,
			state?.posture_interval_seconds ?? 0,
		),
		last_sent_at: state?.last_sent_at ?? null,
		queued_reports: (await listQueue(folder)).length,
		dropped_reports: state?.dropped_total ?? 0,
		trouble:
			(credentials ? state?.trouble : await readEnrollmentTrouble(folder)) ??
			null,
		refused_at: state?.refused_at ?? null,
		updates: await readUpdates(folder, version),
	};
}

async function readUpdates(
	folder: string,
	version: string,
): Promise<Status["updates"]> {
	if ((await readPinnedKey(folder)) === undefined) return null;
	const notes = await readNotes(folder);
	// Somebody may have installed this version or a later one by hand. Notes about an earlier version
	// say nothing about this program.
	if (!notes || !isLater(notes.version, version)) {
		return { newest_version: null, problem: null };
	}
	const failed = notes.failed && `version ${notes.version}: ${notes.failed}`;
	return { newest_version: notes.version, problem: failed ?? notes.trouble };
}

/** Returns the status as text for people. */
export function describeStatus(status: Status): string {
	if (!status.enrolled) return describeMissing(status);
	const { service, trouble } = status;
	const lines: [string, string | null][] = [
		["service", status.server_url],
		[
			"device",
			status.device_id ?? "not active yet: no heartbeat has succeeded",
		],
		["enrolled", status.enrolled_at],
		["agent", describeAgent(status)],
		["set up with", service ? `${service.name} (${service.state})` : null],
		["heartbeat", when(status, "heartbeat")],
		["checks", when(status, "checks")],
		["last report", status.last_sent_at ?? "none yet"],
		["waiting", reports(status.queued_reports)],
		[
			"dropped",
			status.dropped_reports > 0 ? reports(status.dropped_reports) : null,
		],
		["trouble", trouble && inWords(trouble)],
		["updates", describeUpdates(status)],
		["folder", status.folder],
	];
	return table(lines);
}

/** Returns the status of a device that is not enrolled as text for people. */
function describeMissing({
	folder,
	queued_reports: queued,
	refused_at: refusedAt,
	trouble,
}: Status): string {
	const waiting =
		queued > 0
			? ` ${reports(queued)} wait; the agent sends them if this device is enrolled again as the same one.`
			: "";
	if (refusedAt) {
		const text = `Not enrolled: the service rejected this device's key for good at ${refusedAt}. Get a new enrollment token and run the install command.${waiting}`;
		return trouble
			? `${text}\n${table([["trouble", inWords(trouble)]])}`
			: text;
	}
	if (!trouble) {
		return `Not enrolled (nothing in ${folder}). Run the install command, or name the agent's folder with --dir.`;
	}
	return `Not enrolled.${waiting}\n${table([
		["trouble", inWords(trouble)],
		["folder", folder],
	])}`;
}

const inWords = ({ reason, since }: NonNullable<Status["trouble"]>) =>
	`${reason} (since ${since})`;

const table = (lines: [string, string | null][]) =>
	lines
		.filter(([, text]) => text !== null)
		.map(([label, text]) => `${label.padEnd(12)}${text}`)
		.join("\n");

function describeUpdates({ updates }: Status): string | null {
	if (!updates) return null;
	const { newest_version: newest, problem } = updates;
	return `by itself${newest ? `, newest ${newest}` : ""}${problem ? ` (${problem})` : ""}`;
}

const reports = (count: number) =>
	`${count} ${count === 1 ? "report" : "reports"}`;

const describeAgent = ({ running_pid }: Status) =>
	running_pid === null ? "not running" : `running as process ${running_pid}`;

/**
 * Returns the last and the next time as text. The next time is left out while the agent is not
 * running.
 */
function when(status: Status, what: "heartbeat" | "checks"): string {
	const last = status[`last_${what}_at`];
	if (last === null) return "none yet";
	const next = status[`next_${what}_at`];
	return status.running_pid === null || next === null
		? last
		: `${last}, next about ${next}`;
}
