import { whenNpmEnds } from "./started-by-npm.ts";

/**
 * Returns a signal that aborts on the first Ctrl-C or SIGTERM, and also when npm receives one of
 * them. The second one ends the process immediately.
 */
export function whenInterrupted(): AbortSignal {
	const controller = new AbortController();
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
		process.on(signal, () => {
			if (controller.signal.aborted) process.exit(1);
			controller.abort();
		});
	}
	whenNpmEnds(() => controller.abort());
	return controller.signal;
}
