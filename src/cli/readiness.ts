import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Logger } from "pino";

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
 * Tells systemd that the service is ready. Node cannot send to a Unix datagram socket, so systemd's
 * own program does it.
 */
export async function tellReady(socket: string, log: Logger): Promise<void> {
	try {
		await promisify(execFile)("systemd-notify", ["--ready"], {
			env: { PATH: process.env.PATH, NOTIFY_SOCKET: socket },
		});
	} catch (err) {
		log.error({ err }, "systemd could not be told that the service is ready");
	}
}
