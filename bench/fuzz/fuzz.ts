import { parseArgs } from "node:util";
import { runOnStand } from "../failover/on-stand.ts";
import type { Stand } from "../faults/stand.ts";
import { describeMachine, toTable } from "../report.ts";
import { say } from "../run.ts";
import { toClassTable } from "./count.ts";
import { type Idle, withIdle } from "./idle.ts";
import { type Fuzzed, fuzz, nothingYet } from "./run.ts";
import { makeTargets } from "./seed.ts";
import { fuzzSocket, type SocketResult } from "./socket.ts";

const USAGE = `Usage: npm run bench:fuzz -- [options]

Sends valid, nearly valid and nonsensical input to every route of a service: the Device Agent API,
every tool (MCP, plain HTTP, query string), every operation of the console, and the account pages.
The cases come from the schemas. Then sends raw bytes, and opens connections that are silent or send
their headers one byte at a time.

  --cases <n>         number of requests; a tenth as many raw byte strings follow (100000)
  --seconds <n>       longest time for the requests (1200)
  --seed <n>          seed of the random cases (1)
  --connections <n>   number of silent and slow connections (10000)
  --parallel <n>      number of requests in flight (16)
  --help              print this text

The exit code is 1 if a request was answered with 5xx or not at all, if the service did not close an
idle connection in the end, or if the service ended.
`;

const DEVICES = 2_000;
const SHOWN_FAILURES = 10;
/**
 * Distances between the seeds of fast-check. They are large, so that no two runs or targets use the
 * same seed.
 */
const SEEDS_A_RUN = 1_000_000;
const SEEDS_A_TARGET = 100_000;

interface Outcome {
	fuzzed: Fuzzed;
	fuzzedSeconds: number;
	socket: SocketResult;
	idle: Idle;
	mib: { before: number; fuzzed: number; after: number };
}

function toMarkdown(
	{ service }: Stand,
	{ fuzzed, fuzzedSeconds, socket, idle, mib }: Outcome,
): string {
	const ms = (value: number) => value.toFixed(0);
	const { latencies } = fuzzed;
	const rows = [
		["Requests", `${fuzzed.cases} in ${ms(fuzzedSeconds)} s`],
		["5xx or unanswered", fuzzed.failures.length],
		[
			"Answered in",
			`p50 ${ms(latencies.quantileMs(0.5))} ms, p99 ${ms(latencies.quantileMs(0.99))} ms, at most ${ms(latencies.maxMs)} ms`,
		],
		[
			"503 with Retry-After, after which a case was sent again",
			fuzzed.busy + socket.busy,
		],
		["Raw byte strings; 5xx", `${socket.cases}; ${socket.failures.length}`],
		[
			"Connections open at once, half silent, half with slow headers",
			`${idle.opened} of ${idle.wanted}`,
		],
		[
			"… meanwhile 300 requests",
			`${idle.refused} refused, p99 ${ms(idle.latencies.quantileMs(0.99))} ms, ${ms(idle.mib)} MiB`,
		],
		[
			"… not given up by the service",
			`${idle.left} after ${ms(idle.leftAfterSeconds)} s`,
		],
		["Times the service ended", service.crashes],
		[
			"Memory before, after the requests, at peak, at the end",
			`${ms(mib.before)}, ${ms(mib.fuzzed)}, ${ms(service.peakMib)}, ${ms(mib.after)} MiB`,
		],
	] satisfies [string, string | number][];
	return [
		`${describeMachine(undefined)}; ${new Date().toISOString().slice(0, 10)}; seed ${values.seed}`,
		toClassTable("Requests, by door", fuzzed.doors),
		toClassTable("Requests, by what was sent", fuzzed.kinds),
		toClassTable("Raw bytes, by kind", socket.kinds),
		toTable(["Bad input", "Figure"], rows),
		"",
	].join("\n\n");
}

async function run(stand: Stand): Promise<number> {
	const { service } = stand;
	const targets = await makeTargets(stand);
	const cases = Number(values.cases);
	const seed = Number(values.seed) * SEEDS_A_RUN;
	const before = service.readMib();
	const watching = setInterval(() => service.readMib(), 250);
	let shown = 0;
	const onFailure = (failure: object) => {
		if (shown++ < SHOWN_FAILURES) say(JSON.stringify(failure).slice(0, 5_000));
	};
	say(`${cases} requests`);
	const began = performance.now();
	const fuzzed = nothingYet();
	const plan = {
		cases: Math.ceil(cases / targets.length),
		parallel: Math.ceil(Number(values.parallel) / targets.length),
		until: began + Number(values.seconds) * 1000,
		fuzzed,
		onFailure,
	};
	await Promise.all(
		targets.map((target, number) =>
			fuzz(target, { ...plan, seed: seed + number * SEEDS_A_TARGET }),
		),
	);
	const fuzzedSeconds = (performance.now() - began) / 1000;
	const fuzzedMib = service.readMib();

	say("raw bytes");
	const most = { cases: Math.ceil(cases / 10), seed };
	const until = performance.now() + 300_000;
	const socket = await fuzzSocket(service.port, stand.fleet.keys, most, until);
	for (const failure of socket.failures) onFailure(failure);
	say("idle connections");
	const idle = await withIdle(service, Number(values.connections));
	clearInterval(watching);

	const mib = { before, fuzzed: fuzzedMib, after: service.readMib() };
	const outcome = { fuzzed, fuzzedSeconds, socket, idle, mib };
	process.stdout.write(toMarkdown(stand, outcome));
	const failures = fuzzed.failures.length + socket.failures.length;
	if (failures > 0) say(`the service's log: ${service.log}`);
	const isFine =
		failures === 0 &&
		service.crashes === 0 &&
		idle.refused === 0 &&
		idle.left === 0;
	return isFine ? 0 : 1;
}

const { values } = parseArgs({
	options: {
		cases: { type: "string", default: "100000" },
		seconds: { type: "string", default: "1200" },
		seed: { type: "string", default: "1" },
		connections: { type: "string", default: "10000" },
		parallel: { type: "string", default: "16" },
		help: { type: "boolean", default: false },
	},
});
if (values.help) process.stdout.write(USAGE);
else await runOnStand(DEVICES, run);
