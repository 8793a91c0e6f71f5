import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Milliseconds between two looks. After the first, the code that loads in the background is there. */
const EVERY_MS = 15_000;
/** Share of a core that the process may have used since the last look. */
const IDLE_SHARE = 0.2;
/** Bytes by which the heap must have grown. A collection stops the process for up to 0.3 s. */
const WORTH_BYTES = 16 * 1024 * 1024;

/**
 * Collects the garbage that the start and each busy time have left, as soon as there is little to
 * do. V8 would keep it until many requests need memory, because it collects only when memory is
 * asked for.
 */
export function collectGarbageWhenIdle(): void {
	const collect = getCollector();
	let cpu = process.cpuUsage();
	let kept = 0;
	setInterval(() => {
		const { user, system } = process.cpuUsage(cpu);
		cpu = process.cpuUsage();
		if ((user + system) / 1000 > EVERY_MS * IDLE_SHARE) return;
		if (process.memoryUsage().heapTotal < kept + WORTH_BYTES) return;
		// Only this kind also gives the empty pages of the heap back.
		collect({ type: "major", flavor: "last-resort" });
		kept = process.memoryUsage().heapTotal;
	}, EVERY_MS).unref();
}

type Collector = (how: { type: "major"; flavor: "last-resort" }) => void;

/** Returns the function `gc`, which Node gives only to programs that were started with an option. */
function getCollector(): Collector {
	setFlagsFromString("--expose-gc");
	const collect: Collector = runInNewContext("gc");
	setFlagsFromString("--no-expose-gc");
	return collect;
}
