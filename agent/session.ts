import type { HeartbeatResponse } from "../src/devices/terms.ts";
import { readThresholds, type Thresholds } from "../src/devices/thresholds.ts";
import { parseId } from "../src/id.ts";
import { HOUR_MS } from "../src/units.ts";
import { VERSION } from "../src/version.ts";
import {
	type CheckResult,
	loadChecks,
	runChecks,
} from "./checks/run-checks.ts";
import { type Client, makeClient, type Outcome } from "./client.ts";
import type { Credentials } from "./credentials.ts";
import { collectFacts, type Facts } from "./facts.ts";
import type { Host } from "./host.ts";
import { storeLastResult } from "./last-result.ts";
import { type Log, makeTroubleLog, type TroubleLog } from "./log.ts";
import { noteDropped, noteOutcome, saveState } from "./outcome.ts";
import { notePendingUpdates } from "./pending-updates.ts";
import { enqueue, keepReportsOf, type QueueLimits } from "./queue.ts";
import { describeStatuses, makeReport, type Report } from "./report.ts";
import {
	NOTHING_DROPPED,
	readInterval,
	readStateOf,
	type State,
} from "./state.ts";
import { findSystemProxy } from "./system-proxy.ts";

/**
 * The state of the agent's work for one enrollment. `run`, `once` and `install` pass it to the
 * steps below.
 */
export interface Session {
	folder: string;
	credentials: Credentials;
	client: Client;
	host: Host;
	log: Log;
	signal: AbortSignal;
	queueLimits: QueueLimits | undefined;
	runChecks: RunChecks;
	state: State;
	troubles: { request: TroubleLog; heartbeat: TroubleLog; disk: TroubleLog };
	/** A report that could not be written to the queue because the disk was full. */
	unsaved: Report | undefined;
	facts: { found: Facts; atMs: number } | undefined;
}

type RunChecks = (
	signal: AbortSignal,
	thresholds: Thresholds,
) => Promise<CheckResult[]>;

export interface SessionOptions {
	folder: string;
	host: Host;
	log: Log;
	signal: AbortSignal;
	queueLimits?: QueueLimits | undefined;
	/** Runs the checks. By default, they run in this process. */
	runChecks?: RunChecks | undefined;
}

const FACTS_LAST_MS = HOUR_MS;
const NO_HARDWARE =
	"the operating system does not say which hardware this is, so the agent cannot identify the device yet; if this lasts, restart the device (on Windows, also check WMI with winmgmt /verifyrepository)";
const CLOCK_TOLERANCE_MS = 5 * 60_000;

export async function openSession(
	credentials: Credentials,
	options: SessionOptions,
): Promise<Session> {
	const { folder, host, log, signal, queueLimits } = options;
	return {
		folder,
		credentials,
		host,
		log,
		signal,
		queueLimits,
		runChecks:
			options.runChecks ??
			((until, thresholds) =>
				runChecksHere(host, log, until, thresholds, folder, true)),
		client: await clientFor(credentials, host),
		state: await readStateOf(folder, credentials.enrollment_id),
		troubles: {
			request: makeTroubleLog(log),
			heartbeat: makeTroubleLog(log),
			disk: makeTroubleLog(log),
		},
		unsaved: undefined,
		facts: undefined,
	};
}

/** Makes a client for the service of an enrollment. */
export function clientFor(
	{ server_url, extra_ca }: Credentials,
	host: Host,
): Promise<Client> {
	return makeClient({
		serverUrl: server_url,
		platform: host.platform,
		extraCa: extra_ca,
		findProxy: (service) => findSystemProxy(host, service),
	});
}

/**
 * Sends a heartbeat. If the outcome is `ok`, the device is active and the state holds the service's
 * intervals.
 */
export async function beat(session: Session): Promise<Outcome> {
	const { client, credentials, signal, state, log, troubles } = session;
	const facts = await freshFacts(session);
	if (!facts) {
		return noteOutcome(session, { kind: "trouble", reason: NO_HARDWARE });
	}
	const outcome = await client.send("heartbeat", {
		key: credentials.api_key,
		body: { ...facts, agent_version: VERSION },
		signal,
	});
	const answer =
		outcome.kind === "ok" ? readHeartbeat(outcome.body) : undefined;
	if (outcome.kind === "ok" && !answer) {
		return noteOutcome(session, {
			kind: "trouble",
			reason:
				"the answer to a heartbeat is not from an Assay service; check the service's address",
		});
	}
	let refusal: string | undefined;
	if (outcome.kind === "refused") {
		// The service will reject the heartbeat again until something changes. The next heartbeat
		// collects the facts again, because the change may be on this device.
		session.facts = undefined;
		refusal = `the service rejected this device's heartbeat: ${outcome.message}`;
		troubles.heartbeat.say(refusal, "error");
	}
	if (answer) {
		troubles.heartbeat.clear();
		warnOfClock(answer.server_time, log);
		if (state.last_heartbeat_at === null) {
			log.info(`this device is active as ${answer.device_id}`);
		}
		if (state.device_id === null) await takeOver(session, answer.device_id);
		Object.assign(state, {
			device_id: answer.device_id,
			heartbeat_interval_seconds: answer.heartbeat_interval_seconds,
			posture_interval_seconds: answer.posture_interval_seconds,
			thresholds: answer.policy ?? state.thresholds,
			last_heartbeat_at: new Date().toISOString(),
		});
	}
	return noteOutcome(session, outcome, refusal);
}

/**
 * Keeps the reports of an earlier enrollment if it was one of the same device, and discards them
 * otherwise.
 */
async function takeOver(
	{ folder, state, log }: Session,
	deviceId: string,
): Promise<void> {
	const discarded = await keepReportsOf(folder, deviceId);
	if (discarded > 0) {
		log.warn(
			`the service now knows this device as another one, so the agent discarded ${discarded} waiting ${discarded === 1 ? "report" : "reports"} of the earlier one`,
		);
	}
	if (state.earlier_device_id !== deviceId) {
		Object.assign(state, NOTHING_DROPPED);
	}
	state.earlier_device_id = null;
}

function readHeartbeat(
	body: Record<string, unknown>,
): HeartbeatResponse | undefined {
	const { device_id, server_time } = body;
	const heartbeat = readInterval(body.heartbeat_interval_seconds);
	const posture = readInterval(body.posture_interval_seconds);
	return typeof device_id === "string" &&
		parseId(device_id)?.kind === "device" &&
		heartbeat !== undefined &&
		posture !== undefined
		? {
				device_id,
				heartbeat_interval_seconds: heartbeat,
				posture_interval_seconds: posture,
				server_time: typeof server_time === "string" ? server_time : "",
				policy: readThresholds(body.policy),
			}
		: undefined;
}

/**
 * Returns facts that are at most an hour old. Finding some of them starts a program, which would be
 * too costly for each heartbeat. Returns undefined if the hardware is not known.
 */
async function freshFacts(session: Session): Promise<Facts | undefined> {
	const known = session.facts;
	const ageMs = known ? Date.now() - known.atMs : -1;
	if (known && ageMs >= 0 && ageMs < FACTS_LAST_MS) return known.found;
	const found = await collectFacts(session.host, session.folder);
	session.facts = found && { found, atMs: Date.now() };
	return found;
}

function warnOfClock(serverTime: string, log: Log): void {
	const aheadMs = Date.now() - Date.parse(serverTime);
	if (Math.abs(aheadMs) <= CLOCK_TOLERANCE_MS) return;
	const minutes = Math.round(Math.abs(aheadMs) / 60_000);
	if (!Number.isFinite(minutes)) return;
	log.warn(
		`this device's clock is ${minutes} minutes ${aheadMs > 0 ? "ahead of" : "behind"} the service's; the times in its reports are wrong by as much`,
	);
}

/**
 * Runs the checks and adds their results to the queue. Returns undefined if the agent was stopped
 * in the meantime.
 */
export async function collect(
	session: Session,
): Promise<CheckResult[] | undefined> {
	const { state, signal, log, troubles } = session;
	const results = await session.runChecks(signal, state.thresholds);
	if (signal.aborted || state.device_id === null) return undefined;
	await storeLastResult(session.folder, results, session.host.platform).catch(
		(error) =>
			log.warn(
				`the results for the users of this device cannot be stored: ${error.message}`,
			),
	);
	const report = makeReport(results, state.device_id, state);
	const statuses = describeStatuses(results);
	const isChange = statuses !== state.last_statuses;
	state.last_checks_at = new Date().toISOString();
	state.last_statuses = statuses;
	try {
		const dropped = await enqueue(
			session.folder,
			report,
			isChange,
			session.queueLimits,
		);
		if (troubles.disk.clear()) log.info("reports can be stored again");
		if (dropped > 0) {
			noteDropped(
				session,
				dropped,
				`the queue is full: ${dropped} ${dropped === 1 ? "report was" : "reports were"} dropped`,
			);
		}
	} catch (error) {
		if (session.unsaved) {
			noteDropped(session, 1, "a report that could not be stored was dropped");
		}
		session.unsaved = report;
		troubles.disk.say(
			`a report cannot be stored (${(error as NodeJS.ErrnoException).code}) and is lost unless the agent can send it before the next one; check whether the disk is full`,
			"error",
		);
	}
	await saveState(session);
	return results;
}

/** Runs this platform's checks in this process. */
export async function runChecksHere(
	host: Host,
	log: Log,
	signal: AbortSignal,
	thresholds: Thresholds,
	/** The agent's folder, which need not exist. */
	folder: string,
	/** False if the agent's notes about updates must stay as they are. */
	mayNote: boolean,
): Promise<CheckResult[]> {
	return runChecks(await loadChecks(host.platform), host, {
		signal,
		thresholds,
		pendingSince: (updates) =>
			notePendingUpdates(folder, host.now, updates, mayNote),
		onCrash: (check) =>
			log.warn(`the check ${check} crashed; its result is UNKNOWN`),
	});
}
