import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { runOnStand } from "./failover/on-stand.ts";
import type { Ledger } from "./failover/writers.ts";
import type { Stand } from "./faults/stand.ts";
import { writeFleet } from "./fleet.ts";
import { Flood, keepToCore, type Outcome, type Times } from "./flood.ts";
import { Histogram } from "./histogram.ts";
import { type Rates, ratesBetween, readUsage } from "./measure.ts";
import { describeMachine, toTable } from "./report.ts";
import { say } from "./run.ts";
import { compare, type Found } from "./stored.ts";

const USAGE = `Usage: npm run bench:overload -- [options]

Measures which rate of heartbeats, posture reports and addTask calls a service sustains. Then sends
ten times that rate, whether or not the service answers, and looks for every acknowledged write in
the database. The service and its PostgreSQL share one core, and the load generator has another one
(with taskset, if the system has it). Takes about two minutes.

  --seconds <n>       length of the overload (30)
  --tasks <n>         number of addTask calls in 20 requests; 6 are posture reports, and the rest
                      are heartbeats (4)
  --times <n>         multiple of the sustained rate (10)
  --connections <n>   connections opened before; a request that finds none free counts as not sent
                      (6000)
  --help              print this text

The exit code is 1 if fewer requests were sent than wanted, if an acknowledged write is lost or
stored twice, if an answer was neither a success nor a 503 with Retry-After, if a health check
failed, or if the service ended or did not recover.
`;

/**
 * The machine is described before this process is bound to one core, because afterwards it sees
 * only that core.
 */
const MACHINE = describeMachine(undefined);
const DEVICES = 20_000;
const WARM_SECONDS = 4;
const MEASURE_SECONDS = 8;
const CLOSED_CONNECTIONS = 64;
const RECOVERY_SECONDS = 30;
const PROBE_MS = 200;
/** Requests are sent by the clock, so up to a hundredth of them may be missing at the end. */
const ENOUGH = 0.99;

interface Measured {
	isKept: boolean;
	usual: Outcome;
	usualCpu: Rates;
	flood: Outcome;
	floodCpu: Rates;
	health: Histogram;
	unhealthy: number;
	recoveredSeconds: number | undefined;
	memoryBefore: number;
	memoryAfter: number;
	found: Found;
}

/**
 * Returns the seconds until the service has recovered. It has recovered when, for a whole second,
 * it serves every request, and 99 % of them within `p99Ms`.
 */
async function recover(flood: Flood, perSecond: number, p99Ms: number) {
	const began = performance.now();
	for (let second = 1; second <= RECOVERY_SECONDS; second++) {
		const seen = await flood.open(CLOSED_CONNECTIONS, perSecond, 1);
		const isGood =
			seen.refused.count === 0 &&
			seen.unanswered === 0 &&
			seen.served.count >= perSecond * 0.8 &&
			seen.served.p99Ms <= p99Ms;
		if (isGood) return (performance.now() - began) / 1000 - 1;
	}
	return undefined;
}

/** Asks for the service's health again and again until the returned function is called. */
function watchHealth(port: number) {
	const times = new Histogram();
	let failures = 0;
	const timer = setInterval(async () => {
		for (const name of ["live", "ready"]) {
			const at = performance.now();
			const url = `http://127.0.0.1:${port}/health/${name}`;
			const response = await fetch(url).catch(() => undefined);
			await response?.text().catch(() => {});
			times.recordMs(performance.now() - at);
			if (!response?.ok) failures++;
		}
	}, PROBE_MS);
	return {
		stop: () => {
			clearInterval(timer);
			return { times, failures };
		},
	};
}

async function measure(stand: Stand, flood: Flood): Promise<Measured> {
	const { service } = stand;
	say("measuring the sustainable rate");
	await flood.closed(CLOSED_CONNECTIONS, WARM_SECONDS);
	const watched = {
		serverPid: service.pid ?? 0,
		...(stand.postgres.pid && { postmasterPid: stand.postgres.pid }),
	};
	const before = await readUsage(watched);
	const usual = await flood.closed(CLOSED_CONNECTIONS, MEASURE_SECONDS);
	const usualCpu = ratesBetween(before, await readUsage(watched));
	const sustainable = usual.served.count / usual.seconds;
	const memoryBefore = service.readMib();

	const wanted = sustainable * Number(values.times);
	const seconds = Number(values.seconds);
	say(
		`${sustainable.toFixed(0)}/s; now ${wanted.toFixed(0)}/s for ${seconds} s`,
	);
	const watching = setInterval(() => service.readMib(), 100);
	const health = watchHealth(service.port);
	const atFlood = await readUsage(watched);
	const flooded = await flood.open(Number(values.connections), wanted, seconds);
	const floodCpu = ratesBetween(atFlood, await readUsage(watched));
	const { times, failures } = health.stop();
	say("recovery");
	const p99Ms = Math.max(250, usual.served.p99Ms * 3);
	const recoveredSeconds = await recover(flood, sustainable * 0.5, p99Ms);
	clearInterval(watching);
	const memoryAfter = service.readMib();
	await sleep(1_000);

	const { heartbeats, reports, tasks } = await flood.acknowledged();
	const ledger: Ledger = {
		heartbeats: new Map(heartbeats),
		reports: new Map(reports.map((id) => [id, 3])),
		tasks: new Set(tasks),
		unknownTasks: new Set(),
		statuses: {},
		surprise: undefined,
		acknowledgedAt: [],
		probedAt: [],
	};
	const found = await stand.asOwner((client) =>
		compare(client, stand.fleet, ledger),
	);
	const isKept =
		flooded.sent >= flooded.wanted * ENOUGH &&
		found.lost === 0 &&
		found.duplicates === 0 &&
		flooded.withoutRetryAfter === 0 &&
		flooded.unanswered === 0 &&
		flooded.surprise === undefined &&
		failures === 0 &&
		service.crashes === 0 &&
		recoveredSeconds !== undefined;
	return {
		isKept,
		usual,
		usualCpu,
		flood: flooded,
		floodCpu,
		health: times,
		unhealthy: failures,
		recoveredSeconds,
		memoryBefore,
		memoryAfter,
		found,
	};
}

function rowsOf(measured: Measured, peakMib: number): [string, string][] {
	const { usual, flood, health, found } = measured;
	const whole = (value: number) => value.toFixed(0);
	const show = ({ p50Ms, p99Ms, maxMs }: Times) =>
		`p50 ${whole(p50Ms)} ms, p99 ${whole(p99Ms)} ms, at most ${whole(maxMs)} ms`;
	const showCpu = ({ serverCpu, postgresCpu }: Rates) =>
		`service ${whole(serverCpu)} %, PostgreSQL ${whole(postgresCpu)} % of a core`;
	const perSecond = (count: number, { seconds }: Outcome) =>
		`${whole(count / seconds)}/s`;
	const sustainable = usual.served.count / usual.seconds;
	const answered = flood.served.count + flood.refused.count;
	const refusedShare = (100 * flood.refused.count) / Math.max(1, answered);
	const { drainedSeconds } = flood;
	return [
		[
			"Sustainable rate, closed loop, 64 connections",
			`${whole(sustainable)}/s, ${show(usual.served)}`,
		],
		...Object.entries(usual.kinds).map(([kind, times]): [string, string] => [
			`… ${kind}`,
			`${perSecond(times.count, usual)}, ${show(times)}`,
		]),
		["… processor", showCpu(measured.usualCpu)],
		[
			"Wanted",
			`${perSecond(flood.wanted, flood)} for ${whole(flood.seconds)} s`,
		],
		[
			"Sent by the generator",
			`${perSecond(flood.sent, flood)} (${(flood.sent / flood.seconds / sustainable).toFixed(1)} times); ${flood.unsent} found no free connection or no time`,
		],
		[
			"Served",
			`${perSecond(flood.served.count, flood)}, ${show(flood.served)}`,
		],
		...Object.entries(flood.kinds).map(([kind, times]): [string, string] => [
			`… ${kind}`,
			`${perSecond(times.count, flood)}, ${show(times)}`,
		]),
		[
			"Refused with 503",
			`${refusedShare.toFixed(1)} % of what was answered, ${show(flood.refused)}`,
		],
		["Processor meanwhile", showCpu(measured.floodCpu)],
		["503 without Retry-After", String(flood.withoutRetryAfter)],
		[
			"Statuses (0: no answer)",
			Object.entries(flood.statuses)
				.map(([status, count]) => `${status}: ${count}`)
				.join(", "),
		],
		[
			"Health checks meanwhile; failed",
			`${health.total}, p50 ${whole(health.quantileMs(0.5))} ms, at most ${whole(health.maxMs)} ms; ${measured.unhealthy}`,
		],
		["Last answer after the flood's end", `${drainedSeconds.toFixed(1)} s`],
		[
			"Full recovery (half the sustainable rate, all served, p99 as usual)",
			measured.recoveredSeconds === undefined
				? "never"
				: `${(drainedSeconds + measured.recoveredSeconds).toFixed(1)} s after the flood`,
		],
		[
			"Memory before, peak, after",
			`${whole(measured.memoryBefore)}, ${whole(peakMib)}, ${whole(measured.memoryAfter)} MiB`,
		],
		[
			"Acknowledged writes; lost / stored twice",
			`${found.acknowledged}; ${found.lost} / ${found.duplicates}`,
		],
	];
}

async function run(stand: Stand): Promise<number> {
	const { service, tenants } = stand;
	const fleetFile = join(stand.folder, "fleet.json");
	writeFleet(fleetFile, stand.fleet);
	const tasks = Number(values.tasks);
	const flood = await Flood.start(fleetFile, tenants, service.port, 1, tasks);
	const measured = await measure(stand, flood).finally(() => flood.close());
	const rows = rowsOf(measured, service.peakMib);
	const cores = isKeptToCore
		? "service and PostgreSQL on one core, generator on another"
		: "cores shared by all";
	process.stdout.write(
		`${MACHINE}; ${new Date().toISOString().slice(0, 10)}; ${cores}; ${70 - tasks * 5} % heartbeats, 30 % posture reports, ${tasks * 5} % addTask\n\n${toTable(["Overload", "Figure"], rows)}\n`,
	);
	const { surprise } = measured.flood;
	if (surprise) say(`an unexpected answer: ${surprise}`);
	if (!measured.isKept) say("BROKEN: see the table");
	return measured.isKept ? 0 : 1;
}

const { values } = parseArgs({
	options: {
		seconds: { type: "string", default: "30" },
		tasks: { type: "string", default: "4" },
		times: { type: "string", default: "10" },
		connections: { type: "string", default: "6000" },
		help: { type: "boolean", default: false },
	},
});
/** PostgreSQL and the service start later, so they are bound to this core too. */
const isKeptToCore = !values.help && keepToCore(0);
if (values.help) process.stdout.write(USAGE);
else await runOnStand(DEVICES, run);
