/**
 * Measures, inside the service, the longest time that its event loop stood still. It is loaded with
 * `--import` before the service and answers on STALL_PORT: the milliseconds since it was last
 * asked.
 *
 * It counts the processor time of the main thread between two timers, so other programs on the
 * machine do not spoil the figure. Garbage collection on the main thread counts too.
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
		// One more round, so that the turn before this one is counted.
		setTimeout(() => {
			response.end(String(longestMs));
			longestMs = 0;
		}, 3);
	})
		// A program that the service starts inherits the port and need not have it.
		.on("error", () => {})
		.listen(Number(port), "127.0.0.1")
		.unref();
}
