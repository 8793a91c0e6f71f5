import { whenNpmEnds } from "./started-by-npm.ts";

/** Aborts with the first Ctrl-C or SIGTERM, also one to npm; the second ends the process at once. */
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
