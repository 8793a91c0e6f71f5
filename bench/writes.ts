import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { openEmbeddedPostgres } from "../src/db/embedded.ts";
import { stopPostmaster } from "../src/db/postmaster.ts";
import type { ToolLoad, ToolResult } from "./mcp-load.ts";
import { insertToken } from "./mcp-seed.ts";
import { ratesBetween, readUsage, type Watched } from "./measure.ts";
import { type Server, startService, stopChildren } from "./processes.ts";
import { describeMachine } from "./report.ts";
import { runAndUndo, say, type Undo } from "./run.ts";
import { seedWrites, type Writes } from "./writes-seed.ts";

const USAGE = `Usage: npm run bench:writes -- [options]

Measures writes to one organization through the tool server. With --other, measures another checkout
in turn with this one, on the same machine and in the same run.

  --other <folder>       checkout to compare with
  --connections <n,n>    numbers of keep-alive connections, with one measurement each (1,32,128)
  --seconds <n>          length of each measurement (5)
  --rounds <n>           rounds; the table has the median of each figure (3)
  --only <text>          run only the tools whose name contains this text
  --profile <folder>     folder for the .cpuprofile of this checkout's service
  --json                 print JSON instead of Markdown
  --help                 print this text
`;

const WARM_MS = 1_000;
/** One API token may have 64 calls at a time. */
const TOKENS = 8;

const { values } = parseArgs({
	options: {
		other: { type: "string" },
		connections: { type: "string", default: "1,32,128" },
		seconds: { type: "string", default: "5" },
		rounds: { type: "string", default: "3" },
		only: { type: "string", default: "" },
		profile: { type: "string" },
		json: { type: "boolean", default: false },
		help: { type: "boolean", default: false },
	},
});

interface Side {
	name: string;
	service: Server;
	watched: Watched;
	writes: Writes;
}

interface Figures {
	perSecond: number;
	p50Ms: number;
	p99Ms: number;
	/** Processor time of one write, in milliseconds. */
	serviceMs: number;
	postgresMs: number;
	errors: number;
}

const undo: Undo[] = [];

async function openSide(name: string, root: string): Promise<Side> {
	const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
	undo.push(() => rmSync(folder, { recursive: true, force: true }));
	const dataDir = join(folder, "data");
	undo.push(() => stopPostmaster(join(dataDir, "postgres")));
	// If root runs this program, PostgreSQL runs as another user, who must be able to enter the
	// folder.
	chmodSync(folder, 0o711);
	say(`starting ${name}`);
	const profile = name === "this" ? values.profile : undefined;
	const service = await startService(dataDir, 1, profile, root);
	undo.push(stopChildren);
	const postgres = await openEmbeddedPostgres(dataDir);
	undo.push(() => postgres.close());
	const client = new Client(postgres.connection);
	client.on("error", () => {});
	await client.connect();
	undo.push(() => client.end());
	const url = `http://localhost:${service.port}`;
	const writes = await seedWrites(client, url, (organization) =>
		Promise.all(
			Array.from({ length: TOKENS }, () =>
				insertToken(client, organization, "admin"),
			),
		),
	);
	const watched = {
		serverPid: service.pid,
		postmasterPid: postgres.pid,
		client,
	};
	return { name, service, watched, writes };
}

async function measure(
	generator: ChildProcess,
	{ service, watched, writes }: Side,
	tool: string,
	connections: number,
): Promise<Figures> {
	const load: ToolLoad = {
		port: service.port,
		connections,
		requests: writes.requestsOf(tool),
		warmMs: WARM_MS,
		measureMs: Number(values.seconds) * 1000,
	};
	const before = await readUsage(watched);
	generator.send(load);
	const [message] = await once(generator, "message");
	if (message.failed) throw new Error(message.failed);
	const after = await readUsage(watched);
	const result = message.result as ToolResult;
	if (result.firstError) say(`${tool}: ${result.firstError}`);
	const { serverCpu, postgresCpu } = ratesBetween(before, after);
	// The usage includes the warm-up, during which writes come at the same rate.
	return {
		perSecond: result.perSecond,
		p50Ms: result.p50Ms,
		p99Ms: result.p99Ms,
		serviceMs: (serverCpu * 10) / result.perSecond,
		postgresMs: (postgresCpu * 10) / result.perSecond,
		errors: result.errors,
	};
}

function median(all: readonly Figures[], name: keyof Figures): number {
	const sorted = all.map((one) => one[name]).sort((a, b) => a - b);
	return sorted[Math.floor(sorted.length / 2)] ?? NaN;
}

async function bench(): Promise<number> {
	const sides = [await openSide("this", join(import.meta.dirname, ".."))];
	if (values.other) {
		sides.push(await openSide("other", resolve(values.other)));
	}
	const generator = fork(join(import.meta.dirname, "mcp-load.ts"));
	undo.push(() => void generator.kill("SIGKILL"));
	const tools = (sides[0] as Side).writes.tools.filter((tool) =>
		tool.includes(values.only),
	);
	const found = new Map<string, Figures[]>();
	for (let round = 1; round <= Number(values.rounds); round++) {
		for (const tool of tools) {
			for (const connections of values.connections.split(",").map(Number)) {
				for (const side of round % 2 ? sides : sides.toReversed()) {
					say(`round ${round}: ${tool}, ${connections}, ${side.name}`);
					const key = `${tool} | ${connections} | ${side.name}`;
					const figures = await measure(generator, side, tool, connections);
					found.set(key, [...(found.get(key) ?? []), figures]);
				}
			}
		}
	}
	const names = [
		"perSecond",
		"p50Ms",
		"p99Ms",
		"serviceMs",
		"postgresMs",
		"errors",
	] as const;
	const rows = [...found].map(([key, all]) => ({
		key,
		...Object.fromEntries(names.map((name) => [name, median(all, name)])),
	})) as ({ key: string } & Figures)[];
	if (values.json) {
		console.log(JSON.stringify(rows, null, 2));
		return 0;
	}
	console.log(`${describeMachine(undefined)}\n`);
	console.log(
		"| tool | connections | checkout | writes/s | p50 ms | p99 ms | service ms | PostgreSQL ms | errors |",
	);
	console.log("|---|---|---|---|---|---|---|---|---|");
	for (const row of rows) {
		console.log(
			`| ${row.key} | ${Math.round(row.perSecond)} | ${row.p50Ms.toFixed(1)} | ${row.p99Ms.toFixed(1)} | ${row.serviceMs.toFixed(2)} | ${row.postgresMs.toFixed(2)} | ${row.errors} |`,
		);
	}
	return 0;
}

if (values.help) console.log(USAGE);
else await runAndUndo(bench, undo);
