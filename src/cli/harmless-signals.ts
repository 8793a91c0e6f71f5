import cluster from "node:cluster";
import type { Logger } from "pino";
import { readConfig } from "../config/config.ts";
import { AppError } from "../errors.ts";

/**
 * Logs SIGUSR1 and SIGUSR2 and otherwise ignores them. Administrators send these signals to other
 * programs, for example to reopen a log. Without a listener, Node would open a debugger's port on
 * SIGUSR1 and end on SIGUSR2.
 */
export function ignoreUserSignals(log: Logger): void {
	for (const signal of ["SIGUSR1", "SIGUSR2"] as const) {
		process.on(signal, () => log.info({ signal }, "ignored a signal"));
	}
}

/**
 * Reads ASSAY_LOG_LEVEL_FILE again on SIGHUP, and changes nothing else. The parent process passes
 * the signal on to its workers.
 */
export function reloadLogLevel(log: Logger): void {
	process.on("SIGHUP", () => {
		try {
			log.level = readConfig(process.env).logLevel;
			log.info({ logLevel: log.level }, "read the log level again");
		} catch (error) {
			// A message of ours names the setting. Any other error needs its stack.
			const why =
				error instanceof AppError ? { reason: error.message } : { err: error };
			log.error(why, "the log level was not changed");
		}
		for (const worker of Object.values(cluster.workers ?? {})) {
			worker?.process.kill("SIGHUP");
		}
	});
}
