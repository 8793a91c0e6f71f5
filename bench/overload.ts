import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { makeId } from "../src/id.ts";
import { Connection, NO_ANSWER } from "./connection.ts";
import { makeStand, type Stand } from "./fault-stand.ts";
import { factsOf, organizationOf } from "./fleet.ts";
import { Histogram } from "./histogram.ts";
import { describeMachine, toTable } from "./report.ts";
import { compare } from "./stored.ts";
import type { Ledger } from "./writers.ts";

const USAGE = `Usage: npm run bench:overload -- [options]

Measures what a service of its own sustains of a mix of heartbeats, posture reports and addTask
calls, then asks ten times as much of it as an open loop, and looks for everything it acknowledged.
About two minutes.

  --seconds <n>       length of the overload (30)
  --times <n>         how many times the sustainable rate (10)
  --connections <n>   open before (4000); what finds none free counts as not sent
  --help              print this

Exit code 1 when an acknowledged write is lost or stored twice, an answer was neither a success nor
a 503 with Retry-After, or the service ended or did not recover.
`;

const DEVICES = 20_000;
const WARM_SECONDS = 4;
const MEASURE_SECONDS = 8;
const CLOSED_CONNECTIONS = 64;
const RECOVERY_SECONDS = 30;
/** Of 20 requests so many are posture reports and addTask calls; the rest are heartbeats. */
const REPORTS = 6;
const TASKS = 4;
const MIX = 20;

type Kind = "heartbeat" | "postures" | "addTask";

interface Request {
	kind: Kind;
	device: number;
	/** Number of the heartbeat, id of the report or name of the task. */
	mark: number | string;
	text: string;
}

/** What was answered to one load. */
class Tally {
	served = new Histogram();
	readonly kinds: Record<Kind, Histogram> = {
		heartbeat: new Histogram(),
		postures: new Histogram(),
		addTask: new Histogram(),
	};
	refused = new Histogram();
	withoutRetryAfter = 0;
	unanswered = 0;
	unsent = 0;
	sent = 0;
	statuses: Record<string, number> = {};
	surprise: string | undefined;
}

class Load {
	readonly ledger: Ledger = {
		heartbeats: new Map(),
		reports: new Map(),
		tasks: new Set(),
		unknownTasks: new Set(),
		statuses: {},
		surprise: undefined,
		acknowledgedAt: [],
		probedAt: [],
	};
	readonly #stand: Stand;
	readonly #connections: Connection[] = [];
	readonly #idle: Connection[] = [];
	readonly #most: number;
	#count = 0;
	tally = new Tally();

	constructor(stand: Stand, most: number) {
		this.#stand = stand;
		this.#most = most;
	}

	get inFlight(): number {
		return this.#connections.length - this.#idle.length;
	}

	#next(): Request {
		const { fleet, tenants } = this.#stand;
		const number = this.#count++;
		const place = number % MIX;
		const device = number % fleet.keys.length;
		const key = fleet.keys[device] as string;
		if (place < REPORTS) {
			const organization = organizationOf(fleet, device);
			const id = makeId(organization, "device_posture_report");
			const observed_at = new Date().toISOString();
			const results = ["DISK_ENCRYPTION", "FIREWALL_ENABLED", "OS_VERSION"].map(
				(check_key) => ({
					check_key,
					status: "PASS",
					observed_at,
					evidence: { method: "bench", detail: "x".repeat(80) },
					correlation_id: id,
				}),
			);
			const text = write("/api/agent/v1/postures", key, { results });
			return { kind: "postures", device, mark: id, text };
		}
		if (place < REPORTS + TASKS) {
			const tenant = tenants[number % tenants.length];
			const name = `task ${number} ${process.pid}`;
			const input = { organization_id: tenant?.organizationId, name };
			const text = write("/api/mcp/tools/addTask", tenant?.token ?? "", input);
			return { kind: "addTask", device, mark: name, text };
		}
		const body = { ...factsOf(device), hostname: `host-${number}` };
		const text = write("/api/agent/v1/heartbeat", key, body);
		return { kind: "heartbeat", device, mark: number, text };
	}

	#send(connection: Connection, then: () => void): void {
		const request = this.#next();
		const { tally } = this;
		const at = performance.now();
		tally.sent++;
		connection.send(request.text, (status, text) => {
			const ms = performance.now() - at;
			const name = status === NO_ANSWER ? "none" : String(status);
			tally.statuses[name] = (tally.statuses[name] ?? 0) + 1;
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
		const { heartbeats, reports, tasks } = this.ledger;
		if (kind === "postures") reports.set(String(mark), 3);
		else if (kind === "addTask") tasks.add(String(mark));
		else {
			// Two of a device may be under way at once here, and the older may be stored last.
			const before = heartbeats.get(device) ?? Number.POSITIVE_INFINITY;
			heartbeats.set(device, Math.min(before, Number(mark)));
		}
	}

	/** A request when the one before is answered, on each connection. Gives requests served a second. */
	async closed(connections: number, seconds: number): Promise<number> {
		this.tally = new Tally();
		const until = performance.now() + seconds * 1000;
		const began = performance.now();
		const loop = (connection: Connection) =>
			new Promise<void>((resolve) => {
				const again = () => {
					if (performance.now() > until) resolve();
					else this.#send(connection, again);
				};
				again();
			});
		const own = Array.from({ length: connections }, () => this.#connect());
		await Promise.all(own.map(loop));
		this.#idle.push(...own);
		return (this.tally.served.total / (performance.now() - began)) * 1000;
	}

	/** Requests at `perSecond` whatever the answers. Resolves when the last was sent. */
	async open(perSecond: number, seconds: number): Promise<void> {
		this.tally = new Tally();
		const began = performance.now();
		let due = 0;
		while (performance.now() - began < seconds * 1000) {
			const wanted = ((performance.now() - began) / 1000) * perSecond;
			// In portions, so that answers are read meanwhile.
			for (let n = 0; due < wanted && n < 200; n++, due++) this.#sendOne();
			await new Promise((resolve) => setImmediate(resolve));
		}
		// What it had no time for itself.
		this.tally.unsent += Math.max(0, Math.round(seconds * perSecond - due));
	}

	#sendOne(): void {
		const connection =
			this.#idle.pop() ??
			(this.#connections.length < this.#most ? this.#connect() : undefined);
		if (!connection) {
			this.tally.unsent++;
			return;
		}
		this.#send(connection, () => this.#idle.push(connection));
	}

	/** Opens all connections, not so many at once that the system drops some. */
	async openAll(): Promise<void> {
		while (this.#connections.length < this.#most) {
			const count = Math.min(100, this.#most - this.#connections.length);
			const portion = Array.from({ length: count }, () => this.#connect());
			await Promise.all(portion.map((connection) => connection.open()));
			this.#idle.push(...portion);
		}
	}

	#connect(): Connection {
		const connection = new Connection(this.#stand.service.port);
		this.#connections.push(connection);
		return connection;
	}

	close(): void {
		for (const connection of this.#connections) connection.close();
	}
}

function write(path: string, bearer: string, body: object): string {
	const text = JSON.stringify(body);
	return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\nAuthorization: Bearer ${bearer}\r\n\r\n${text}`;
}

/** Seconds until a second passes in which everything is served, none slower than `p99Ms` in 99 of 100. */
async function recover(load: Load, perSecond: number, p99Ms: number) {
	const began = performance.now();
	for (let second = 1; second <= RECOVERY_SECONDS; second++) {
		await load.open(perSecond, 1);
		const { served, refused, unanswered } = load.tally;
		await sleep(50);
		const isGood =
			refused.total === 0 &&
			unanswered === 0 &&
			served.total >= perSecond * 0.8 &&
			served.quantileMs(0.99) <= p99Ms;
		if (isGood) return (performance.now() - began) / 1000 - 1;
	}
	return undefined;
}

async function run(stand: Stand): Promise<number> {
	const { service } = stand;
	const load = new Load(stand, Number(values.connections));
	say("measuring the sustainable rate");
	await load.closed(CLOSED_CONNECTIONS, WARM_SECONDS);
	const sustainable = await load.closed(CLOSED_CONNECTIONS, MEASURE_SECONDS);
	const usual = load.tally;
	const memoryBefore = service.readMib();

	const wanted = sustainable * Number(values.times);
	const seconds = Number(values.seconds);
	say(
		`${sustainable.toFixed(0)}/s; now ${wanted.toFixed(0)}/s for ${seconds} s`,
	);
	await load.openAll();
	const watching = setInterval(() => service.readMib(), 100);
	await load.open(wanted, seconds);
	const flood = load.tally;
	const floodEnded = performance.now();
	while (load.inFlight > 0 && performance.now() - floodEnded < 60_000) {
		await sleep(10);
	}
	const drainedSeconds = (performance.now() - floodEnded) / 1000;
	say("recovery");
	const p99Ms = Math.max(250, usual.served.quantileMs(0.99) * 3);
	const recoveredSeconds = await recover(load, sustainable * 0.5, p99Ms);
	clearInterval(watching);
	const memoryAfter = service.readMib();
	load.close();
	await sleep(1_000);

	const found = await stand.asOwner((client) =>
		compare(client, stand.fleet, load.ledger),
	);
	const answered = flood.served.total + flood.refused.total;
	const ms = (value: number) => value.toFixed(0);
	const share = (part: number, whole: number) =>
		`${((part / Math.max(1, whole)) * 100).toFixed(1)} %`;
	const rows: [string, string][] = [
		[
			"Sustainable rate, closed loop, 64 connections",
			`${ms(sustainable)}/s, p50 ${ms(usual.served.quantileMs(0.5))} ms, p99 ${ms(usual.served.quantileMs(0.99))} ms`,
		],
		["Wanted", `${ms(wanted)}/s for ${seconds} s`],
		[
			"Sent by the generator",
			`${ms(flood.sent / seconds)}/s (${(flood.sent / seconds / sustainable).toFixed(1)} times); ${flood.unsent} found no free connection or no time`,
		],
		[
			"Served",
			`${ms(flood.served.total / seconds)}/s, p50 ${ms(flood.served.quantileMs(0.5))} ms, p99 ${ms(flood.served.quantileMs(0.99))} ms, at most ${ms(flood.served.maxMs)} ms`,
		],
		...Object.entries(flood.kinds).map(([kind, times]): [string, string] => [
			`… ${kind}`,
			`${ms(times.total / seconds)}/s, p50 ${ms(times.quantileMs(0.5))} ms, p99 ${ms(times.quantileMs(0.99))} ms`,
		]),
		[
			"Refused with 503",
			`${share(flood.refused.total, answered)} of what was answered, p50 ${ms(flood.refused.quantileMs(0.5))} ms, p99 ${ms(flood.refused.quantileMs(0.99))} ms, at most ${ms(flood.refused.maxMs)} ms`,
		],
		["503 without Retry-After", String(flood.withoutRetryAfter)],
		[
			"Statuses",
			Object.entries(flood.statuses)
				.map(([status, count]) => `${status}: ${count}`)
				.join(", "),
		],
		["Last answer after the flood's end", `${drainedSeconds.toFixed(1)} s`],
		[
			"Full recovery (half the sustainable rate, all served, p99 as usual)",
			recoveredSeconds === undefined
				? "never"
				: `${(drainedSeconds + recoveredSeconds).toFixed(1)} s after the flood`,
		],
		[
			"Memory before, peak, after",
			`${ms(memoryBefore)}, ${ms(service.peakMib)}, ${ms(memoryAfter)} MiB`,
		],
		[
			"Acknowledged writes lost / stored twice",
			`${found.lost} / ${found.duplicates}`,
		],
	];
	process.stdout.write(
		`${describeMachine(undefined)}; ${new Date().toISOString().slice(0, 10)}; 50 % heartbeats, 30 % posture reports, 20 % addTask\n\n${toTable(["Overload", "Figure"], rows)}\n`,
	);
	const isKept =
		found.lost === 0 &&
		found.duplicates === 0 &&
		flood.withoutRetryAfter === 0 &&
		flood.surprise === undefined &&
		service.crashes === 0 &&
		recoveredSeconds !== undefined;
	if (flood.surprise) say(`an unexpected answer: ${flood.surprise}`);
	if (!isKept) say("BROKEN: see the table");
	return isKept ? 0 : 1;
}

function say(text: string): void {
	process.stderr.write(`${text}\n`);
}

const { values } = parseArgs({
	options: {
		seconds: { type: "string", default: "30" },
		times: { type: "string", default: "10" },
		connections: { type: "string", default: "4000" },
		help: { type: "boolean", default: false },
	},
});
if (values.help) {
	process.stdout.write(USAGE);
} else {
	say("starting PostgreSQL and the service");
	const stand = await makeStand(DEVICES);
	const code = await run(stand).catch((error) => {
		say(`bench: ${error instanceof Error ? error.stack : error}`);
		return 1;
	});
	await stand.close();
	process.exit(code);
}
