import { whenNpmEnds } from "./started-by-npm.ts";

/**
 * Aborts on the first Ctrl-C or SIGTERM, also when npm receives it. The second one ends the process
 * at once.
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
