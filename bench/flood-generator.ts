import { makeId } from "../src/id.ts";
import { Connection, NO_ANSWER } from "./connection.ts";
import type { Tenant } from "./failover/writers.ts";
import { type Fleet, factsOf, organizationOf, readFleet } from "./fleet.ts";
import type { Acknowledged, Command, Kind, Outcome, Times } from "./flood.ts";
import { Histogram } from "./histogram.ts";

/**
 * The load generator of the overload benchmark. It is a separate process that does as little as
 * possible for each request. The texts around the part that differs between requests are made
 * beforehand.
 */

/** Six of 20 requests are posture reports, some are addTask calls, and the rest are heartbeats. */
const REPORTS = 6;
const MIX = 20;

const DRAIN_MS = 60_000;
const OPEN_AT_ONCE = 100;

class Tally {
	readonly served = new Histogram();
	readonly refused = new Histogram();
	readonly kinds: Record<Kind, Histogram> = {
		heartbeat: new Histogram(),
		postures: new Histogram(),
		addTask: new Histogram(),
	};
	readonly statuses: Record<string, number> = {};
	withoutRetryAfter = 0;
	unanswered = 0;
	unsent = 0;
	sent = 0;
	surprise: string | undefined;
}

interface Request {
	kind: Kind;
	device: number;
	/** The number of the heartbeat, the id of the report, or the name of the task. */
	mark: number | string;
	text: string;
}

class Generator {
	readonly #fleet: Fleet;
	readonly #port: number;
	/** The number of addTask calls among MIX requests. */
	readonly #taskShare: number;
	readonly #beats: string[][];
	readonly #reports: string[][];
	readonly #tasks: string[][];
	readonly #connections: Connection[] = [];
	readonly #idle: Connection[] = [];
	/**
	 * The number of the first acknowledged heartbeat of each device. Two heartbeats of a device may
	 * be in flight at the same time, and the older one may be stored last.
	 */
	readonly #heartbeats = new Map<number, number>();
	readonly #acknowledgedReports: string[] = [];
	readonly #acknowledgedTasks: string[] = [];
	#count = 0;
	#tally = new Tally();

	constructor(
		fleet: Fleet,
		tenants: Tenant[],
		port: number,
		taskShare: number,
	) {
		this.#fleet = fleet;
		this.#port = port;
		this.#taskShare = taskShare;
		const observed_at = new Date().toISOString();
		const results = ["DISK_ENCRYPTION", "FIREWALL_ENABLED", "OS_VERSION"].map(
			(check_key) => ({
				check_key,
				status: "PASS",
				observed_at,
				evidence: { method: "bench", detail: "x".repeat(80) },
				correlation_id: OWN,
			}),
		);
		this.#beats = fleet.keys.map((key, device) =>
			around("/api/agent/v1/heartbeat", key, 14, {
				...factsOf(device),
				hostname: OWN,
			}),
		);
		this.#reports = fleet.keys.map((key) =>
			around("/api/agent/v1/postures", key, 32, { results }),
		);
		this.#tasks = tenants.map(({ organizationId: organization_id, token }) =>
			around("/api/mcp/tools/addTask", token, 14, {
				organization_id,
				name: OWN,
			}),
		);
	}

	/**
	 * Runs a closed loop, in which each connection sends a request when its previous one has been
	 * answered.
	 */
	async closed(connections: number, seconds: number): Promise<Outcome> {
		await this.#openAll(connections);
		this.#tally = new Tally();
		const began = performance.now();
		const until = began + seconds * 1000;
		const loop = (connection: Connection) =>
			new Promise<void>((resolve) => {
				const again = () => {
					if (performance.now() > until) resolve();
					else this.#send(connection, again);
				};
				again();
			});
		const own = this.#idle.splice(0, connections);
		await Promise.all(own.map(loop));
		this.#idle.push(...own);
		return this.#outcome((performance.now() - began) / 1000, 0, 0);
	}

	/**
	 * Runs an open loop, which sends `perSecond` requests without waiting for answers. At the end, it
	 * waits for the last answer.
	 */
	async open(
		connections: number,
		perSecond: number,
		seconds: number,
	): Promise<Outcome> {
		await this.#openAll(connections);
		this.#tally = new Tally();
		const began = performance.now();
		let due = 0;
		for (;;) {
			const passed = (performance.now() - began) / 1000;
			if (passed >= seconds) break;
			const wanted = passed * perSecond;
			// The requests are sent in portions, so that answers are read in between.
			for (let n = 0; due < wanted && n < 200; n++, due++) {
				const connection = this.#idle.pop();
				if (!connection) this.#tally.unsent++;
				else this.#send(connection, () => this.#idle.push(connection));
			}
			await new Promise((resolve) => setImmediate(resolve));
		}
		const ended = performance.now();
		const wanted = Math.round(seconds * perSecond);
		// The generator had no time to send these requests.
		this.#tally.unsent += Math.max(0, wanted - due);
		while (
			this.#idle.length < this.#connections.length &&
			performance.now() - ended < DRAIN_MS
		) {
			await new Promise((resolve) => setTimeout(resolve, 10));
		}
		const drained = (performance.now() - ended) / 1000;
		return this.#outcome(seconds, wanted, drained);
	}

	acknowledged(): Acknowledged {
		return {
			heartbeats: [...this.#heartbeats],
			reports: this.#acknowledgedReports,
			tasks: this.#acknowledgedTasks,
		};
	}

	/**
	 * Opens the connections. A connection counts as open only after it has answered a request. To
	 * this process, a connection looks open even if the service had no time to accept it, and the
	 * data on it is lost until the system sends it again.
	 */
	async #openAll(count: number): Promise<void> {
		while (this.#connections.length < count) {
			const more = Math.min(OPEN_AT_ONCE, count - this.#connections.length);
			const portion = Array.from(
				{ length: more },
				() => new Connection(this.#port),
			);
			await Promise.all(
				portion.map(async (connection) => {
					await connection.open();
					await new Promise<void>((resolve) =>
						connection.send(HELLO, () => resolve()),
					);
				}),
			);
			this.#connections.push(...portion);
			this.#idle.push(...portion);
		}
	}

	#next(): Request {
		const number = this.#count++;
		const place = number % MIX;
		const device = number % this.#fleet.keys.length;
		if (place < REPORTS) {
			const organization = organizationOf(this.#fleet, device);
			const mark = makeId(organization, "device_posture_report");
			const text = (this.#reports[device] ?? []).join(mark);
			return { kind: "postures", device, mark, text };
		}
		const digits = String(number).padStart(9, "0");
		if (place < REPORTS + this.#taskShare) {
			const mark = `task-${digits}`;
			const text = (this.#tasks[number % this.#tasks.length] ?? []).join(mark);
			return { kind: "addTask", device, mark, text };
		}
		const text = (this.#beats[device] ?? []).join(`host-${digits}`);
		return { kind: "heartbeat", device, mark: number, text };
	}

	#send(connection: Connection, then: () => void): void {
		const request = this.#next();
		const tally = this.#tally;
		const at = performance.now();
		tally.sent++;
		connection.send(request.text, (status, text) => {
			const ms = performance.now() - at;
			tally.statuses[status] = (tally.statuses[status] ?? 0) + 1;
			if (status === 200 || status === 204) {
				tally.served.recordMs(ms);
				tally.kinds[request.kind].recordMs(ms);
				this.#remember(request);
			} else if (status === 503) {
				tally.refused.recordMs(ms);
				if (!/\r\nretry-after: *\d/i.test(text)) tally.withoutRetryAfter++;
			} else if (status === NO_ANSWER) tally.unanswered++;
			else tally.surprise ??= `${request.kind}: ${text.slice(0, 500)}`;
			then();
		});
	}

	#remember({ kind, device, mark }: Request): void {
		if (kind === "postures") this.#acknowledgedReports.push(String(mark));
		else if (kind === "addTask") this.#acknowledgedTasks.push(String(mark));
		else {
			const before = this.#heartbeats.get(device) ?? Number.POSITIVE_INFINITY;
			this.#heartbeats.set(device, Math.min(before, Number(mark)));
		}
	}

	#outcome(seconds: number, wanted: number, drained: number): Outcome {
		const { kinds, served, refused, ...rest } = this.#tally;
		return {
			seconds,
			wanted,
			drainedSeconds: drained,
			served: timesOf(served),
			refused: timesOf(refused),
			kinds: {
				heartbeat: timesOf(kinds.heartbeat),
				postures: timesOf(kinds.postures),
				addTask: timesOf(kinds.addTask),
			},
			...rest,
		};
	}
}

function timesOf(histogram: Histogram): Times {
	return {
		count: histogram.total,
		p50Ms: histogram.quantileMs(0.5),
		p99Ms: histogram.quantileMs(0.99),
		maxMs: histogram.maxMs,
	};
}

const HELLO = "GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

/** A placeholder in a body for the part that differs between requests. */
const OWN = "\u0001";

/** Returns the texts before and after the part that differs, which has `ownLength` characters. */
function around(
	path: string,
	bearer: string,
	ownLength: number,
	body: object,
): string[] {
	const pieces = JSON.stringify(body).split("\\u0001");
	const length = pieces.join("").length + ownLength * (pieces.length - 1);
	const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\nAuthorization: Bearer ${bearer}\r\n\r\n`;
	return [head + pieces[0], ...pieces.slice(1)];
}

/**
 * Runs as a child process, `node bench/flood-generator.ts <fleet file> <port> <task share>`, and
 * receives its commands over IPC.
 */
if (import.meta.main) {
	const [, , fleetFile = "", port, taskShare] = process.argv;
	let generator: Generator | undefined;
	const obey = (command: Command) => {
		if (command.do === "prepare") {
			const fleet = readFleet(fleetFile);
			const { tenants } = command;
			generator = new Generator(
				fleet,
				tenants,
				Number(port),
				Number(taskShare),
			);
			return "prepared";
		}
		if (command.do === "closed") {
			return generator?.closed(command.connections, command.seconds);
		}
		if (command.do === "open") {
			const { connections, perSecond, seconds } = command;
			return generator?.open(connections, perSecond, seconds);
		}
		return generator?.acknowledged();
	};
	process.on("message", async (command: Command) => {
		process.send?.(await obey(command));
	});
	process.on("disconnect", () => process.exit(0));
}
