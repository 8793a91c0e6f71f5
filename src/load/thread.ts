import { join } from "node:path";
import { Worker } from "node:worker_threads";

const STRIP_OWN_TYPES = join(
	import.meta.dirname,
	"../../bin/strip-own-types.js",
);

/**
 * Runs a file in another thread, so that its work does not block the event loop. The file finds
 * `data` in its `workerData` and posts one message, which is the result. The thread has no
 * environment variables and at most 256 MiB for its objects.
 */
export function startThread<Result>(
	file: string,
	data: unknown,
): { result: Promise<Result>; stop: () => Promise<void> } {
	const { promise: result, resolve, reject } = Promise.withResolvers<Result>();
	const worker = new Worker(file, {
		workerData: data,
		env: {},
		// Node does not strip types from files in node_modules, so an installed package needs this
		// import.
		execArgv: /[\\/]node_modules[\\/]/.test(file)
			? ["--import", STRIP_OWN_TYPES]
			: [],
		resourceLimits: { maxOldGenerationSizeMb: 256 },
	});
	worker.on("message", resolve);
	worker.on("error", reject);
	// After a message, this changes nothing.
	worker.on("exit", () => reject(new Error("the thread ended early")));
	return {
		result,
		stop: async () => {
			await worker.terminate();
		},
	};
}
