import { AgentError } from "./agent-error.ts";
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
}

/**
 * One heartbeat, one run of the checks, and all that waits sent: for a scheduler of one's own.
 * Throws an AgentError when not everything could be sent; what could not waits in the queue.
 */
export async function once(options: SessionOptions): Promise<Once> {
	const { folder } = options;
	const credentials = await readCredentials(folder);
	if (!credentials) {
		throw new AgentError(
			`this device is not enrolled (nothing in ${folder}); run the install command, or name the agent's folder with --dir`,
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
		if (heartbeat.kind === "trouble") throw failure(heartbeat);
		let sent = 0;
		for (;;) {
			const outcome = await sendNext(session);
			if (!outcome) break;
			if (outcome.kind === "ok") sent++;
			else if (outcome.kind !== "refused") throw failure(outcome);
		}
		session.client.rest();
		if (heartbeat.kind === "refused") throw failure(heartbeat);
		return {
			device_id: deviceId,
			results,
			sent_reports: sent,
			queued_reports: (await listQueue(folder)).length,
		};
	} finally {
		await lock.release();
	}
}

function failure(
	outcome: Outcome,
	consolation = ". What was found waits and is sent next time",
): AgentError {
	if (outcome.kind === "unauthorized") {
		return new AgentError(
			"the service no longer accepts this device's key; get a new enrollment token and run the install command",
		);
	}
	if (outcome.kind === "refused") {
		return new AgentError(
			`the service refuses this device's heartbeat: ${outcome.message}`,
		);
	}
	const reason = outcome.kind === "trouble" ? outcome.reason : "";
	return new AgentError(`the service was not reached: ${reason}${consolation}`);
}
