/**
 * Measures, inside the service, the longest time for which its event loop stood still. `--import`
 * loads this module before the service. It answers requests on STALL_PORT with the longest time in
 * milliseconds since the previous request.
 *
 * The module counts the processor time of the main thread between two timers, so that other
 * programs on the machine do not change the figure. Garbage collection on the main thread counts
 * too.
 */
import { createServer } from "node:http";
import { isMainThread } from "node:worker_threads";

const port = process.env.STALL_PORT;
if (isMainThread && port) {
	let longestMs = 0;
	let last = process.threadCpuUsage();
	setInterval(() => {
		const now = process.threadCpuUsage();
		const tookMs = (now.user - last.user + now.system - last.system) / 1000;
		longestMs = Math.max(longestMs, tookMs);
		last = now;
	}, 1).unref();
	createServer((_request, response) => {
		// The answer waits for another timer, so that the current turn of the event loop is counted.
		setTimeout(() => {
			response.end(String(longestMs));
			longestMs = 0;
		}, 3);
	})
		// A program that the service starts inherits the setting. It cannot listen on the port as well,
		// and need not.
		.on("error", () => {})
		.listen(Number(port), "127.0.0.1")
		.unref();
}
