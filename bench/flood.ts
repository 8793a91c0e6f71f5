import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Tenant } from "./failover/writers.ts";

export type Kind = "heartbeat" | "postures" | "addTask";

/** The latencies of one kind of request or one outcome. */
export interface Times {
	count: number;
	p50Ms: number;
	p99Ms: number;
	maxMs: number;
}

/** The requests of one load and their answers. */
export interface Outcome {
	seconds: number;
	/**
	 * In an open loop, `wanted` is the number of requests that were due. `unsent` is the number of
	 * those that were not sent, because no connection was free or the generator had no time.
	 */
	wanted: number;
	unsent: number;
	sent: number;
	served: Times;
	kinds: Record<Kind, Times>;
	refused: Times;
	withoutRetryAfter: number;
	unanswered: number;
	statuses: Record<string, number>;
	/** The first answer that is neither a success nor a 503. */
	surprise: string | undefined;
	/** Seconds between the last request and the last answer. */
	drainedSeconds: number;
}

/** The writes that were acknowledged since the generator started. */
export interface Acknowledged {
	/**
	 * Pairs of a device's index and the number in the host name of its first heartbeat that was
	 * acknowledged.
	 */
	heartbeats: [number, number][];
	reports: string[];
	tasks: string[];
}

/** The commands that the generator receives over IPC. */
export type Command =
	| { do: "prepare"; tenants: Tenant[] }
	| { do: "closed"; connections: number; seconds: number }
	| { do: "open"; connections: number; perSecond: number; seconds: number }
	| { do: "acknowledged" };

const PROGRAM = join(import.meta.dirname, "flood-generator.ts");

/**
 * Binds the process to one core, along with the processes that it starts later. Returns false if
 * this is not possible.
 */
export function keepToCore(core: number, pid = process.pid): boolean {
	const args = ["-a", "-p", "-c", String(core), String(pid)];
	return spawnSync("taskset", args, { stdio: "ignore" }).status === 0;
}

/** Controls the generator, which runs as a child process. */
export class Flood {
	readonly #child: ChildProcess;

	private constructor(child: ChildProcess) {
		this.#child = child;
	}

	/** Starts a generator, on `core` if possible. Of 20 requests, `taskShare` are addTask calls. */
	static async start(
		fleetFile: string,
		tenants: Tenant[],
		port: number,
		core: number,
		taskShare: number,
	): Promise<Flood> {
		const args = [fleetFile, String(port), String(taskShare)];
		const child = fork(PROGRAM, args, {
			// The parent handles Ctrl-C and ends this process by disconnecting.
			detached: true,
		});
		if (child.pid !== undefined) keepToCore(core, child.pid);
		const flood = new Flood(child);
		await flood.#ask({ do: "prepare", tenants });
		return flood;
	}

	closed(connections: number, seconds: number): Promise<Outcome> {
		return this.#ask({ do: "closed", connections, seconds });
	}

	open(
		connections: number,
		perSecond: number,
		seconds: number,
	): Promise<Outcome> {
		return this.#ask({ do: "open", connections, perSecond, seconds });
	}

	acknowledged(): Promise<Acknowledged> {
		return this.#ask({ do: "acknowledged" });
	}

	close(): void {
		if (this.#child.connected) this.#child.disconnect();
	}

	async #ask<Result>(command: Command): Promise<Result> {
		this.#child.send(command);
		const ended = once(this.#child, "exit").then(([code]) => {
			throw new Error(`the load generator ended with ${code}`);
		});
		const [result] = await Promise.race([once(this.#child, "message"), ended]);
		return result as Result;
	}
}
