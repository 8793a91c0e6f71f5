import { execFile } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import type { Logger } from "pino";
import { codeOf } from "../db/sqlstate.ts";

const MAX_ATTEMPTS = 50;
const RETRY_MS = 1_000;

/**
 * Returns the socket at which systemd waits for the news that the service is ready, and takes it
 * out of the environment, so that no child of the service sends anything there.
 */
export function takeNotifySocket(): string | undefined {
	const { NOTIFY_SOCKET } = process.env;
	delete process.env.NOTIFY_SOCKET;
	return NOTIFY_SOCKET;
}

/**
 * Tells systemd that the service is ready, and removes the status of the start, because systemd
 * shows the last one even after a stop. A busy systemd may not read the message within the 5 s for
 * which systemd-notify waits. After that, it no longer knows which unit the message came from, so
 * the service tells it again.
 */
export async function tellReady(socket: string, log: Logger): Promise<void> {
	for (let attempt = 1; ; attempt++) {
		try {
			return await notify(socket, ["--ready", "--status="]);
		} catch (err) {
			if (attempt === MAX_ATTEMPTS || codeOf(err) === "ENOENT") {
				return log.error(
					{ err },
					"systemd could not be told that the service is ready",
				);
			}
		}
		await sleep(RETRY_MS, undefined, { ref: false });
	}
}

/** Sets the line "Status" of `systemctl status`. */
export async function tellStatus(socket: string, text: string): Promise<void> {
	// Without systemd-notify, tellReady reports the error.
	await notify(socket, [`--status=${text}`]).catch(() => {});
}

/** Node cannot send to a Unix datagram socket, so systemd's own program does it. */
async function notify(socket: string, what: string[]): Promise<void> {
	await promisify(execFile)("systemd-notify", what, {
		env: { PATH: process.env.PATH, NOTIFY_SOCKET: socket },
	});
}
