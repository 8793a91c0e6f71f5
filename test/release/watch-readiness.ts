import { setTimeout as sleep } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";

/**
 * Asks an address all the time until the parent sends a message. Answers with the longest time, in
 * milliseconds, between two good answers. It is a worker, because the parent waits for commands.
 */
let isWatching = true;
parentPort?.once("message", () => {
	isWatching = false;
});
let awayMs = 0;
let lastAnswer = performance.now();
while (isWatching) {
	const response = await fetch(workerData).catch(() => undefined);
	if (response?.ok) {
		awayMs = Math.max(awayMs, performance.now() - lastAnswer);
		lastAnswer = performance.now();
	}
	await sleep(50);
}
parentPort?.postMessage(Math.round(awayMs));
