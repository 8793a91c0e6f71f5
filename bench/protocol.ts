import type { Kind } from "./requests.ts";
import type { KindResult } from "./tally.ts";

/** What the load generator, a process of its own, is told to do over IPC. */
export type Command =
	| { do: "start"; load: Load }
	/** Forget what was counted so far, the warm-up. */
	| { do: "measure" }
	| { do: "stop" };

export type Load = Shape & { port: number; connections: number };

export type Shape =
	| { kind: "heartbeats" | "steady reports" }
	/** Of devices that never reported: at most `limit` of them. */
	| { kind: "first reports"; limit: number }
	/** An open loop: requests a second, started whatever the answers. */
	| { kind: "mixed"; perSecond: Record<Kind, number> };

/** What it says: connected, out of devices, or what it counted. */
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
