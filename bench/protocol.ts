import type { Kind } from "./requests.ts";
import type { KindResult } from "./tally.ts";

/** Commands to the load generator, a separate process, over IPC. */
export type Command =
	| { do: "start"; load: Load }
	/** Forget what was counted so far, the warm-up. */
	| { do: "measure" }
	| { do: "stop" };

export type Load = Shape & { port: number; connections: number };

export type Shape =
	| { kind: "heartbeats" | "steady reports" }
	/** Reports of at most `limit` devices that never reported. */
	| { kind: "first reports"; limit: number }
	/** An open loop: requests a second, started whatever the answers. */
	| { kind: "mixed"; perSecond: Record<Kind, number> };

/** Its messages: connected, out of devices, or its counts. */
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
