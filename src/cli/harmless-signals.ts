import type { Logger } from "pino";

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
