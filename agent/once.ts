import { AgentError, EXIT } from "./agent-error.ts";
import { askRunning } from "./check-requests.ts";
import { readCredentials } from "./credentials.ts";
import { findOwner, takeLock } from "./lock.ts";
import { type Once, reportNow } from "./report-now.ts";
import { openSession, type SessionOptions } from "./session.ts";

export interface OnceOptions extends SessionOptions {
	/** True to run the checks even if the posture interval has not passed. */
	force?: boolean | undefined;
}

/**
 * Sends one heartbeat, runs the checks if they are due, and sends all reports in the queue. It is
 * meant for users who start the agent with their own scheduler. If an agent runs for the folder,
 * only `force` works, and the running agent does it all. Throws an AgentError if this device is not
 * enrolled or not active.
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
	const running = force ? await findOwner(folder) : undefined;
	if (running && running.takesRequests !== false) {
		return askRunning(running, options);
	}
	const lock = await takeLock(folder);
	try {
		return await reportNow(await openSession(credentials, options), { force });
	} finally {
		await lock.release();
	}
}
