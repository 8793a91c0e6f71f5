import { AgentError, EXIT } from "./agent-error.ts";
import type { CheckResult } from "./checks/run-checks.ts";
import type { Outcome } from "./client.ts";
import { readCredentials } from "./credentials.ts";
import { takeLock } from "./lock.ts";
import { listQueue } from "./queue.ts";
import {
	beat,
	collect,
	openSession,
	type SessionOptions,
	sendNext,
} from "./session.ts";

export interface Once {
	device_id: string;
	results: CheckResult[];
	sent_reports: number;
	queued_reports: number;
	/** Why some reports could not be sent. They remain in the queue. Null if all were sent. */
	error: string | null;
}

/**
 * Sends one heartbeat, runs the checks once, and sends all reports in the queue. It is meant for
 * users who start the agent with their own scheduler. Throws an AgentError if this device is not
 * enrolled or not active.
 */
export async function once(options: SessionOptions): Promise<Once> {
	const { folder } = options;
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
		const heartbeat = await beat(session);
		if (heartbeat.kind === "unauthorized") throw failure(heartbeat);
		const deviceId = session.state.device_id;
		if (deviceId === null) throw failure(heartbeat, "");
		const results = (await collect(session)) ?? [];
		let sent = 0;
		let stopped: Outcome | undefined =
			heartbeat.kind === "trouble" ? heartbeat : undefined;
		while (!stopped) {
			const outcome = await sendNext(session);
			if (!outcome) break;
			if (outcome.kind === "ok") sent++;
			else if (outcome.kind !== "refused") stopped = outcome;
		}
		session.client.rest();
		if (stopped?.kind === "unauthorized") throw failure(stopped);
		if (heartbeat.kind === "refused") stopped ??= heartbeat;
		return {
			device_id: deviceId,
			results,
			sent_reports: sent,
			queued_reports: (await listQueue(folder)).length,
			error: stopped ? failure(stopped).message : null,
		};
	} finally {
		await lock.release();
	}
}

function failure(
	outcome: Outcome,
	consolation = ". The results are stored and sent next time",
): AgentError {
	if (outcome.kind === "unauthorized") {
		return new AgentError(
			"the service no longer accepts this device's key; get a new enrollment token and run the install command",
			{ exitCode: EXIT.notEnrolled },
		);
	}
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
