import { AgentError, EXIT } from "./agent-error.ts";
import type { CheckResult } from "./checks/run-checks.ts";
import type { Outcome } from "./client.ts";
import { readCredentials } from "./credentials.ts";
import { sendNext } from "./deliver.ts";
import { takeLock } from "./lock.ts";
import { listQueue } from "./queue.ts";
import { describeRejection, mayAsk } from "./rejection.ts";
import { dueAt, withJitter } from "./schedule.ts";
import {
	beat,
	collect,
	openSession,
	type Session,
	type SessionOptions,
} from "./session.ts";
import type { State } from "./state.ts";

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

export interface OnceOptions extends SessionOptions {
	/** True to run the checks even if the posture interval has not passed. */
	force?: boolean | undefined;
}

/**
 * Sends one heartbeat, runs the checks if they are due, and sends all reports in the queue. It is
 * meant for users who start the agent with their own scheduler. Throws an AgentError if this device
 * is not enrolled or not active.
 */
export async function once(options: OnceOptions): Promise<Once> {
	const { folder, force = false } = options;
	const credentials = await readCredentials(folder);
	if (!credentials) {
		throw new AgentError(
			`this device is not enrolled (nothing in ${folder}); run the install command, or name the agent's folder with --dir`,
			{ exitCode: EXIT.notEnrolled },
		);
	}
	const lock = await takeLock(folder);
	try {
		const session = await openSession(credentials, options);
		const { state } = session;
		const heartbeat = await beatIfAllowed(session);
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
	} finally {
		await lock.release();
	}
}

/** Sends a heartbeat, unless a 401 forbids the agent to use its key for a while. */
async function beatIfAllowed(session: Session): Promise<Outcome> {
	const { rejection } = session.state;
	if (rejection && !mayAsk(rejection, Date.now())) {
		return { kind: "trouble", reason: describeRejection(rejection) };
	}
	return beat(session);
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
