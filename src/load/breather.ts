import { setImmediate } from "node:timers/promises";

/** Milliseconds for which a loop may keep other requests waiting. */
const TURN_MS = 10;

/**
 * Makes a function for a loop over much data. The loop awaits it in each round, and other requests
 * then get their turn as soon as the loop has run for 10 ms.
 */
export function makeBreather(): () => Promise<void> | undefined {
	let since = performance.now();
	return () => {
		if (performance.now() - since < TURN_MS) return undefined;
		return setImmediate().then(() => {
			since = performance.now();
		});
	};
}
