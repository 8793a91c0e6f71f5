import { AgentError, EXIT } from "./agent-error.ts";
import type { CheckResult } from "./checks/run-checks.ts";
import type { Outcome } from "./client.ts";
import { sendNext } from "./deliver.ts";
import { listQueue } from "./queue.ts";
import { describeRejection, mayAsk } from "./rejection.ts";
import { dueAt, withJitter } from "./schedule.ts";
import { beat, collect, type Session } from "./session.ts";
import type { State } from "./state.ts";

/** The output of the command `once`. */
export interface Once {
	device_id: string;
	/** The results of the checks. Empty if the checks were not due. */
	results: CheckResult[];
	/** When `once` runs the checks again, in RFC 3339 format. */
	next_checks_at: string;
	sent_reports: number;
	queued_reports: number;
	/** Why some reports could not be sent. They remain in the queue. Null if all were sent. */
	error: string | null;
}

export interface ReportNowOptions {
	/** True to run the checks even if the posture interval has not passed. */
	force: boolean;
	/** Unix milliseconds until which the service has asked the agent to send nothing. */
	waitUntilMs?: number;
	/** Is told how each heartbeat and each report went. */
	note?: (route: "heartbeat" | "postures", outcome: Outcome) => Promise<void>;
}

/**
 * Sends one heartbeat, runs the checks if they are due, and sends all reports in the queue. Throws
 * an AgentError if this device is not active, or the agent has removed its key.
 */
export async function reportNow(
	session: Session,
	{ force, waitUntilMs = 0, note }: ReportNowOptions,
): Promise<Once> {
	const { state, folder } = session;
	const heartbeat = await beatIfAllowed(session, waitUntilMs, note);
	requireKey(state);
	if (state.device_id === null) throw failure(heartbeat, state, "");
	const isDue = force || nextChecksMs(state, Date.now()) <= Date.now();
	const results = isDue ? ((await collect(session)) ?? []) : [];
	let sent = 0;
	let stopped: Outcome | undefined =
		heartbeat.kind === "ok" || heartbeat.kind === "refused"
			? undefined
			: heartbeat;
	while (!stopped) {
		const outcome = await sendNext(session);
		if (!outcome) break;
		await note?.("postures", outcome);
		if (outcome.kind === "ok") sent++;
		else if (outcome.kind !== "refused") stopped = outcome;
	}
	session.client.rest();
	requireKey(state);
	if (heartbeat.kind === "refused") stopped ??= heartbeat;
	return {
		device_id: state.device_id,
		results,
		next_checks_at: new Date(nextChecksMs(state, Date.now())).toISOString(),
		sent_reports: sent,
		queued_reports: (await listQueue(folder)).length,
		error: stopped ? failure(stopped, state).message : null,
	};
}

/** Sends a heartbeat, unless a 401 or the service's wish to wait forbids it for a while. */
async function beatIfAllowed(
	session: Session,
	waitUntilMs: number,
	note: ReportNowOptions["note"],
): Promise<Outcome> {
	const { rejection } = session.state;
	if (rejection && !mayAsk(rejection, Date.now())) {
		return { kind: "trouble", reason: describeRejection(rejection) };
	}
	if (waitUntilMs > Date.now()) {
		const until = new Date(waitUntilMs).toISOString();
		return { kind: "trouble", reason: `it has asked to wait until ${until}` };
	}
	const outcome = await beat(session);
	await note?.("heartbeat", outcome);
	return outcome;
}

/**
 * Returns when the checks are due, in Unix milliseconds. A scheduler does not start `once` at the
 * exact second, so a tenth of the interval may be missing, as in `run`.
 */
function nextChecksMs(state: State, nowMs: number): number {
	const { last_checks_at, posture_interval_seconds } = state;
	const lastMs =
		last_checks_at === null ? undefined : Date.parse(last_checks_at);
	return dueAt(lastMs, withJitter(posture_interval_seconds, 0), nowMs);
}

/** Throws if the agent has removed its key. */
function requireKey({ refused_at }: State): void {
	if (refused_at === null) return;
	throw new AgentError(
		"the service no longer accepts this device's key; get a new enrollment token and run the install command",
		{ exitCode: EXIT.notEnrolled },
	);
}

function failure(
	outcome: Outcome,
	{ rejection }: State,
	consolation = ". The results are stored and sent next time",
): AgentError {
	if (rejection) return new AgentError(describeRejection(rejection));
	if (outcome.kind === "refused") {
		return new AgentError(
			`the service rejected this device's heartbeat: ${outcome.message}`,
		);
	}
	const reason = outcome.kind === "trouble" ? outcome.reason : "";
	return new AgentError(
		`the service cannot be reached: ${reason}${consolation}`,
	);
}
