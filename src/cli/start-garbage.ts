import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Milliseconds after the start, when the code that is loaded in the background is there, too. */
const AFTER_MS = 15_000;

/**
 * Collects once what the start has left: half of the heap, which V8 would keep until many requests
 * need memory.
 */
export function collectStartGarbage(): void {
	setTimeout(() => {
		// Node gives `gc` only to programs that were started with this option.
		setFlagsFromString("--expose-gc");
		const collect: () => void = runInNewContext("gc");
		setFlagsFromString("--no-expose-gc");
		collect();
	}, AFTER_MS).unref();
}
