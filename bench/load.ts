import { Connection, NO_ANSWER } from "./connection.ts";
import { readFleet, Walk } from "./fleet.ts";
import type { Command, Load, LoadResult, Message } from "./protocol.ts";
import { type Kind, Requests } from "./requests.ts";
import { Tally } from "./tally.ts";

interface Request {
	kind: Kind;
	device: number;
	/** When the request was sent or, in an open loop, was due, by performance.now()'s clock. */
	at: number;
}

const DRAIN_MS = 10_000;
/** Milliseconds that a closed loop waits after a failed connection. */
const PAUSE_MS = 100;

/** One load, from its start to its end. */
class Run {
	readonly #load: Load;
	readonly #walk: Walk;
	readonly #requests: Requests;
	readonly #tally: Tally;
	readonly #idle: Connection[] = [];
	readonly #all: Connection[] = [];
	/**
	 * The requests that are due, oldest first. The first #sent of them have been sent. The others
	 * wait for a connection.
	 */
	readonly #due: Request[] = [];
	#sent = 0;
	#nextAt = 0;
	#left: number;
	#isStopping = false;

	constructor(load: Load, walk: Walk, requests: Requests) {
		this.#load = load;
		this.#walk = walk;
		this.#requests = requests;
		this.#tally = new Tally(load.kind === "mixed");
		this.#left = "limit" in load ? load.limit : Infinity;
	}

	async start(): Promise<void> {
		const { connections, port, kind } = this.#load;
		for (let i = 0; i < connections; i++) {
			const connection = new Connection(port);
			await connection.open();
			this.#all.push(connection);
		}
		this.measure();
		if (kind === "mixed") {
			this.#idle.push(...this.#all);
			this.#nextAt = performance.now();
			this.#tick();
		} else {
			for (const connection of this.#all) this.#loop(connection);
		}
	}

	measure(): void {
		this.#tally.begin();
	}

	/**
	 * Stops the load. Waits a few seconds for answers to requests that were due. A request without an
	 * answer counts as an error.
	 */
	async stop(): Promise<LoadResult> {
		this.#isStopping = true;
		const result = this.#tally.end();
		const deadline = performance.now() + DRAIN_MS;
		while (performance.now() < deadline) {
			this.#dispatch();
			if (this.#idle.length === this.#all.length) break;
			await new Promise((resolve) => setTimeout(resolve, 1));
		}
		for (const connection of this.#all) connection.close();
		for (const { kind, at } of this.#due.slice(this.#sent)) {
			this.#tally.answered(kind, at, NO_ANSWER, "not sent in time");
		}
		return { ...result, kinds: this.#tally.results(result.seconds) };
	}

	/** Sends requests in a closed loop: the next one when the previous one has been answered. */
	#loop(connection: Connection): void {
		const request = this.#isStopping ? undefined : this.#next();
		if (request) {
			this.#send(connection, request);
			return;
		}
		this.#idle.push(connection);
		if (this.#idle.length === this.#all.length && !this.#isStopping) {
			tell({ type: "exhausted" });
		}
	}

	#next(): Request | undefined {
		const at = performance.now();
		if (this.#load.kind === "heartbeats") {
			return { kind: "heartbeats", device: this.#walk.nextToBeat(), at };
		}
		if (this.#left-- <= 0) return undefined;
		const device =
			this.#load.kind === "first reports"
				? this.#walk.nextToReportFirst()
				: this.#walk.nextToReportAgain();
		return device === undefined ? undefined : { kind: "postures", device, at };
	}

	/**
	 * Sends requests in an open loop. Because many independent devices form a Poisson process, the
	 * times between requests are random. The timer fires up to about a millisecond late, and this
	 * delay counts as latency.
	 */
	#tick(): void {
		if (this.#isStopping || this.#load.kind !== "mixed") return;
		const { heartbeats, postures } = this.#load.perSecond;
		const perMs = (heartbeats + postures) / 1000;
		const share = postures / (heartbeats + postures);
		const now = performance.now();
		while (this.#nextAt <= now) {
			const at = this.#nextAt;
			const isReport = Math.random() < share;
			const kind = isReport ? "postures" : "heartbeats";
			const device = isReport
				? this.#walk.nextToReportAgain()
				: this.#walk.nextToBeat();
			this.#due.push({ kind, device, at });
			this.#nextAt += -Math.log(1 - Math.random()) / perMs;
		}
		this.#dispatch();
		setTimeout(() => this.#tick(), 1);
	}

	#dispatch(): void {
		while (this.#sent < this.#due.length && this.#idle.length > 0) {
			const request = this.#due[this.#sent++] as Request;
			this.#send(this.#idle.shift() as Connection, request);
		}
		if (this.#sent > 10_000) this.#due.splice(0, this.#sent);
		if (this.#due.length === 0 || this.#sent > 10_000) this.#sent = 0;
	}

	#send(connection: Connection, request: Request): void {
		const { kind, device } = request;
		const load = this.#load.kind;
		const report =
			load === "heartbeats" || load === "mixed" ? "steady reports" : load;
		const text =
			kind === "heartbeats"
				? this.#requests.heartbeat(device)
				: this.#requests.postures(device, report);
		connection.send(text, (status, answer) => {
			this.#tally.answered(kind, request.at, status, answer);
			if (this.#load.kind === "mixed") this.#idle.push(connection);
			else if (status !== NO_ANSWER) this.#loop(connection);
			else setTimeout(() => this.#loop(connection), PAUSE_MS);
		});
	}
}

function tell(message: Message): void {
	process.send?.(message);
}

/**
 * Runs as a child process, `node bench/load.ts <fleet file>`, and receives its commands over IPC.
 */
if (import.meta.main) {
	const fleet = readFleet(process.argv[2] as string);
	const walk = new Walk(fleet.keys.length);
	const requests = new Requests(fleet, "127.0.0.1");
	let run: Run | undefined;
	const obey = async (command: Command) => {
		if (command.do === "start") {
			run = new Run(command.load, walk, requests);
			await run.start();
			tell({ type: "started" });
		} else if (command.do === "measure") {
			run?.measure();
		} else if (run) {
			tell({ type: "stopped", result: await run.stop() });
		}
	};
	process.on("message", (command: Command) => {
		obey(command).catch((error) =>
			tell({ type: "failed", reason: String(error) }),
		);
	});
	process.on("disconnect", () => process.exit(0));
	// The parent handles Ctrl-C and ends this process by disconnecting.
	process.on("SIGINT", () => {});
}
