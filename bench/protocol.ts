import type { Kind } from "./requests.ts";
import type { KindResult } from "./tally.ts";

/** The commands that the load generator, a separate process, receives over IPC. */
export type Command =
	| { do: "start"; load: Load }
	/** Forgets what was counted so far, which is the warm-up. */
	| { do: "measure" }
	| { do: "stop" };

export type Load = Shape & { port: number; connections: number };

export type Shape =
	| { kind: "heartbeats" | "steady reports" }
	/**
	 * At most `limit` reports: of devices that have never reported, or of all in turn with a changed
	 * check in each.
	 */
	| { kind: "first reports" | "changing reports"; limit: number }
	/** An open loop, which starts this many requests a second without waiting for answers. */
	| { kind: "mixed"; perSecond: Record<Kind, number> };

/** The messages of the load generator: it has connected, it has no devices left, or its counts. */
export type Message =
	| { type: "started" }
	| { type: "exhausted" }
	| { type: "stopped"; result: LoadResult }
	| { type: "failed"; reason: string };

export interface LoadResult {
	seconds: number;
	cpuSeconds: number;
	kinds: KindResult[];
}
