import type { HeartbeatResponse } from "../src/devices/terms.ts";
import { parseId } from "../src/id.ts";
import { VERSION } from "../src/version.ts";
import {
	type CheckResult,
	loadChecks,
	runChecks,
} from "./checks/run-checks.ts";
import { type Client, makeClient, type Outcome } from "./client.ts";
import {
	type Credentials,
	clearCredentials,
	readCredentials,
} from "./credentials.ts";
import { collectFacts, type Facts } from "./facts.ts";
import type { Host } from "./host.ts";
import { type Log, makeTroubleLog, type TroubleLog } from "./log.ts";
import {
	clearQueue,
	enqueue,
	listQueue,
	type QueueLimits,
	readQueued,
	removeQueued,
	setAside,
} from "./queue.ts";
import { makeReport, noteDelivery, type Report } from "./report.ts";
import { readInterval, readStateOf, type State, writeState } from "./state.ts";

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
	runChecks: (signal: AbortSignal) => Promise<CheckResult[]>;
	state: State;
	troubles: { request: TroubleLog; heartbeat: TroubleLog; disk: TroubleLog };
	/** A report that could not be written to the queue because the disk was full. */
	unsaved: Report | undefined;
	facts: { found: Facts; atMs: number } | undefined;
}

export interface SessionOptions {
	folder: string;
	host: Host;
	log: Log;
	signal: AbortSignal;
	queueLimits?: QueueLimits | undefined;
	/** Runs the checks. By default, they run in this process. */
	runChecks?: ((signal: AbortSignal) => Promise<CheckResult[]>) | undefined;
}

const FACTS_LAST_MS = 60 * 60_000;
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
			options.runChecks ?? ((until) => runChecksHere(host, log, until)),
		client: await makeClient({
			serverUrl: credentials.server_url,
			platform: host.platform,
			extraCa: credentials.extra_ca,
		}),
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

/**
 * Sends a heartbeat. If the outcome is `ok`, the device is active and the state holds the service's
 * intervals.
 */
export async function beat(session: Session): Promise<Outcome> {
	const { client, credentials, signal, state, log, troubles } = session;
	const facts = await freshFacts(session);
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
		Object.assign(state, {
			device_id: answer.device_id,
			heartbeat_interval_seconds: answer.heartbeat_interval_seconds,
			posture_interval_seconds: answer.posture_interval_seconds,
			last_heartbeat_at: new Date().toISOString(),
		});
	}
	return noteOutcome(session, outcome, refusal);
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
			}
		: undefined;
}

/**
 * Returns facts that are at most an hour old. Finding some of them starts a program, which would be
 * too costly for each heartbeat.
 */
async function freshFacts(session: Session): Promise<Facts> {
	const known = session.facts;
	const ageMs = known ? Date.now() - known.atMs : -1;
	if (known && ageMs >= 0 && ageMs < FACTS_LAST_MS) return known.found;
	const found = await collectFacts(session.host, session.folder);
	session.facts = { found, atMs: Date.now() };
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
	const results = await session.runChecks(signal);
	if (signal.aborted || state.device_id === null) return undefined;
	const report = makeReport(results, state.device_id, state);
	state.last_checks_at = new Date().toISOString();
	try {
		const dropped = await enqueue(session.folder, report, session.queueLimits);
		if (troubles.disk.clear()) log.info("reports can be stored again");
		noteDropped(session, dropped);
	} catch (error) {
		if (session.unsaved) noteDropped(session, 1);
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
): Promise<CheckResult[]> {
	return runChecks(await loadChecks(host.platform), host, {
		signal,
		onCrash: (check) =>
			log.warn(`the check ${check} crashed; its result is UNKNOWN`),
	});
}

function noteDropped({ state, log }: Session, dropped: number): void {
	if (dropped === 0) return;
	state.dropped_total += dropped;
	state.dropped_since ??= new Date().toISOString();
	log.warn(
		`the queue is full: ${dropped} of the oldest reports ${dropped === 1 ? "was" : "were"} dropped`,
	);
}

/** Returns true if a report is waiting. */
export async function hasReports(session: Session): Promise<boolean> {
	return (
		session.unsaved !== undefined ||
		(await listQueue(session.folder)).length > 0
	);
}

/** Sends the oldest report. Returns undefined if the queue is empty. */
export async function sendNext(session: Session): Promise<Outcome | undefined> {
	const { folder, log } = session;
	for (;;) {
		const [name] = await listQueue(folder);
		if (name === undefined) break;
		const report = await readQueued(folder, name).catch(() => undefined);
		if (!report) {
			log.warn(
				`the stored report ${name} is damaged and was set aside in ${folder}/damaged`,
			);
			await setAside(folder, name, "damaged");
			continue;
		}
		return deliver(session, report, {
			remove: () => removeQueued(folder, name),
			refuse: () => setAside(folder, name, "refused"),
		});
	}
	if (!session.unsaved) return undefined;
	const forget = async () => {
		session.unsaved = undefined;
	};
	return deliver(session, session.unsaved, { remove: forget, refuse: forget });
}

async function deliver(
	session: Session,
	report: Report,
	then: { remove: () => Promise<void>; refuse: () => Promise<void> },
): Promise<Outcome> {
	const outcome = await session.client.send("postures", {
		key: session.credentials.api_key,
		body: { results: report.results },
		signal: session.signal,
	});
	if (outcome.kind === "ok") {
		noteDelivery(report, session.state);
		await then.remove();
	}
	if (outcome.kind === "refused") {
		session.log.error(
			`the service rejected the report ${report.report_id}: ${outcome.message}. The report was set aside in ${session.folder}/refused`,
		);
		await then.refuse();
	}
	return noteOutcome(session, outcome);
}

/** Stores the outcome in the state, and ends the enrollment if the key is no longer valid. */
async function noteOutcome(
	session: Session,
	outcome: Outcome,
	/**
	 * The problem to note if a heartbeat was rejected. It is not given for a report, because a
	 * rejected report says nothing about the next one.
	 */
	refusal?: string,
): Promise<Outcome> {
	const { state, troubles, log, signal } = session;
	if (refusal !== undefined) {
		const since = state.trouble?.since ?? new Date().toISOString();
		state.trouble = { since, reason: refusal };
	} else if (outcome.kind === "trouble") {
		if (signal.aborted) return outcome;
		const since = state.trouble?.since ?? new Date().toISOString();
		state.trouble = { since, reason: outcome.reason };
		troubles.request.say(outcome.reason);
	} else {
		state.trouble = null;
		if (troubles.request.clear()) log.info("the service answers again");
		if (outcome.kind === "unauthorized") await forgetEnrollment(session);
	}
	await saveState(session);
	return outcome;
}

/**
 * Removes the invalid key and the reports that were queued under it, unless the device was enrolled
 * again in the meantime.
 */
async function forgetEnrollment(session: Session): Promise<void> {
	const { folder, credentials, state, log } = session;
	const stored = await readCredentials(folder);
	if (stored?.enrollment_id !== credentials.enrollment_id) return;
	state.refused_at = new Date().toISOString();
	await clearCredentials(folder);
	await clearQueue(folder);
	session.unsaved = undefined;
	log.error(
		"the service no longer accepts this device's key: the device was revoked or enrolled elsewhere. The agent removed the key and the waiting reports. To enroll again, get a new enrollment token and run the install command",
	);
}

/**
 * Saves the state. If it cannot be written, requests may come at a wrong time after a restart, but
 * no reports are lost.
 */
async function saveState({ folder, state, troubles }: Session): Promise<void> {
	try {
		await writeState(folder, state);
	} catch (error) {
		troubles.disk.say(
			`the agent's state cannot be stored in ${folder} (${(error as NodeJS.ErrnoException).code}); check whether the disk is full`,
			"error",
		);
	}
}
