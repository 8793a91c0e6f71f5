import { setImmediate } from "node:timers/promises";

/** Milliseconds for which a loop may keep other requests waiting. */
const TURN_MS = 10;

/**
 * Makes a function that a loop over much data awaits in each round. The function yields to the event
 * loop after every 10 ms, so that the loop does not delay other requests.
 */
export function makeEventLoopYield(): () => Promise<void> | undefined {
	let since = performance.now();
	return () => {
		if (performance.now() - since < TURN_MS) return undefined;
		return setImmediate().then(() => {
			since = performance.now();
		});
	};
}
