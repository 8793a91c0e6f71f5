import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { openEmbeddedPostgres } from "../src/db/embedded.ts";
import { stopPostmaster } from "../src/db/postmaster.ts";
import { FLEET_NAME, type LargeFleet, seedFleet } from "./fleet-seed.ts";
import { insertToken } from "./mcp-seed.ts";
import { readUsage } from "./measure.ts";
import { freePort, OwnService } from "./own-service.ts";
import { describeMachine } from "./report.ts";
import { runAndUndo, say, type Undo } from "./run.ts";

const USAGE = `Usage: npm run bench:fleet-reads -- [options]

Stores one organization with many devices and measures the tools that read all of them. Uses an
embedded database in a temporary folder, or the empty database of DATABASE_URL.

  --devices <n>   number of devices (100000)
  --times <n>     calls of each question; the table has the median (5)
  --only <text>   ask only the questions whose name contains this text
  --help          print this text
`;

const { values } = parseArgs({
	options: {
		devices: { type: "string", default: "100000" },
		times: { type: "string", default: "5" },
		only: { type: "string", default: "" },
		help: { type: "boolean", default: false },
	},
});

const DAY_MS = 86_400_000;
const ago = (days: number) =>
	new Date(Date.now() - days * DAY_MS).toISOString();
const as_of = ago(25);
const month = { from: ago(60), until: ago(30) };

const devices = (filter: object, more: object = {}) =>
	["listDevices", { filter, ...more }] as const;
const counts = (group_by: string, more: object = {}) =>
	["countRecords", { kind: "device", group_by, ...more }] as const;

const QUESTIONS: Record<string, readonly [tool: string, input: object]> = {
	summary: ["listPostureSummary", {}],
	"summary, as of": ["listPostureSummary", { as_of }],
	"summary by platform": ["listPostureSummary", { group_by: "platform" }],
	"summary by owner": ["listPostureSummary", { group_by: "owner_id" }],
	"summary by platform, as of": [
		"listPostureSummary",
		{ group_by: "platform", as_of },
	],
	overview: ["getOverview", {}],
	"spans of a month": [
		"listPostureSpans",
		{ check_key: "DISK_ENCRYPTION", ...month },
	],
	"spans of a month, seen": [
		"listPostureSpans",
		{ check_key: "DISK_ENCRYPTION", held: "SEEN", ...month },
	],
	"count by status": counts("status"),
	"count by freshness": counts("freshness"),
	"count by reporting": counts("reporting"),
	"count by compliance": counts("compliance"),
	"count by compliance, as of": counts("compliance", { as_of }),
	"count by check_state": counts("check_state", {
		filter: { check: "FIREWALL_ENABLED" },
	}),
	"count by owner": counts("owner_id"),
	"count by platform, noncompliant": counts("platform", {
		filter: { compliance: "NONCOMPLIANT" },
	}),
	page: devices({}),
	"page by name": devices({}, { order_by: { field: "name" } }),
	"page by last_seen_at": devices({}, { order_by: { field: "last_seen_at" } }),
	"page, freshness ONLINE": devices({ freshness: "ONLINE" }),
	"page, freshness MISSING": devices({ freshness: "MISSING" }),
	"page, freshness NEVER": devices({ freshness: "NEVER" }),
	"page, NOT_REPORTING": devices({ reporting: "NOT_REPORTING" }),
	"page, failing_check": devices({ failing_check: "FIREWALL_ENABLED" }),
	"page, passing_check": devices({ passing_check: "FIREWALL_ENABLED" }),
	"page, failing_since_before": devices({ failing_since_before: ago(30) }),
	"page, min_failing 3": devices({ min_failing: 3 }),
	"page, NONCOMPLIANT": devices({ compliance: "NONCOMPLIANT" }),
	"page, COMPLIANT": devices({ compliance: "COMPLIANT" }),
	"page, UNKNOWN": devices({ compliance: "UNKNOWN" }),
	"page, check_state FAILING": devices({ check_state: "FAILING" }),
	"page, check_state STALE": devices({ check_state: "STALE" }),
	"page, as of": devices({}, { as_of }),
	"page, as of, min_failing 1": devices({ min_failing: 1 }, { as_of }),
	"page, as of, min_failing 3": devices({ min_failing: 3 }, { as_of }),
	"page, as of, failing_check": devices(
		{ failing_check: "FIREWALL_ENABLED" },
		{ as_of },
	),
	"page, as of, NONCOMPLIANT": devices(
		{ compliance: "NONCOMPLIANT" },
		{ as_of },
	),
};

const undo: Undo[] = [];

/** Returns the connection to DATABASE_URL, or to the embedded server of the service. */
async function connect(dataDir: string): Promise<Client> {
	const { DATABASE_URL } = process.env;
	if (DATABASE_URL) return new Client({ connectionString: DATABASE_URL });
	undo.push(() => stopPostmaster(join(dataDir, "postgres")));
	const postgres = await openEmbeddedPostgres(dataDir);
	undo.push(() => postgres.close());
	return new Client(postgres.connection);
}

/** Uses the fleet of an earlier run, if the database has one. */
async function findOrSeed(client: Client): Promise<LargeFleet> {
	const { rows } = await client.query<{ id: string }>(
		"select id from organizations where name = $1",
		[FLEET_NAME],
	);
	const organization = rows[0]?.id;
	if (organization !== undefined) {
		const token = await insertToken(client, organization, "admin");
		return { organization, token };
	}
	say(`storing ${values.devices} devices`);
	return seedFleet(client, Number(values.devices));
}

async function bench(): Promise<number> {
	const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
	undo.push(() => rmSync(folder, { recursive: true, force: true }));
	const dataDir = join(folder, "data");
	// PostgreSQL may run as another user, who must be able to enter the folder.
	chmodSync(folder, 0o711);
	const { DATABASE_URL = "" } = process.env;
	const service = new OwnService(await freePort(), dataDir, DATABASE_URL);
	undo.push(() => service.stop());
	await service.start();
	const client = await connect(dataDir);
	await client.connect();
	undo.push(() => client.end());
	const { token, organization } = await findOrSeed(client);
	const { rows } = await client.query("show server_version");
	const times = Number(values.times);
	const pid = await client.query(
		"select split_part(pg_read_file('postmaster.pid'), chr(10), 1)::integer as pid",
	);
	const watched = { serverPid: process.pid, postmasterPid: pid.rows[0].pid };
	console.log(`${describeMachine(rows[0].server_version)}\n`);
	console.log(
		"| question | median ms | largest ms | CPU ms of PostgreSQL |\n|---|---:|---:|---:|",
	);
	questions: for (const [name, [tool, input]] of Object.entries(QUESTIONS)) {
		if (!name.includes(values.only)) continue;
		const took: number[] = [];
		const before = await readUsage(watched);
		for (let call = 0; call < times; call++) {
			const began = performance.now();
			const response = await fetch(
				`http://localhost:${service.port}/api/mcp/tools/${tool}`,
				{
					method: "POST",
					headers: { authorization: `Bearer ${token}` },
					body: JSON.stringify({ organization_id: organization, ...input }),
				},
			);
			const text = await response.text();
			took.push(performance.now() - began);
			if (response.status === 503) {
				console.log(`| ${name} | timed out | ${took[0]?.toFixed(0)} | |`);
				continue questions;
			}
			if (!response.ok) throw new Error(`${name}: ${text}`);
		}
		took.sort((a, b) => a - b);
		const [median = 0, largest = 0] = [took[times >> 1], took.at(-1)];
		const { postgres } = await readUsage(watched);
		const cpu = ((postgres - before.postgres) * 1000) / times;
		console.log(
			`| ${[name, median.toFixed(0), largest.toFixed(0), cpu.toFixed(0)].join(" | ")} |`,
		);
	}
	return 0;
}

if (values.help) process.stdout.write(USAGE);
else await runAndUndo(bench, undo);
