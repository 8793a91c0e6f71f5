import type { Logger } from "pino";

/**
 * Only logs SIGUSR1 and SIGUSR2. Without a listener Node would open a debugger's port on SIGUSR1
 * and end on SIGUSR2, and administrators send both to other programs, for example to reopen a log.
 */
export function ignoreUserSignals(log: Logger): void {
	for (const signal of ["SIGUSR1", "SIGUSR2"] as const) {
		process.on(signal, () => log.info({ signal }, "ignored a signal"));
	}
}
