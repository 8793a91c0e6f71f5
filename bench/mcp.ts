import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "pg";
import { openEmbeddedPostgres } from "../src/db/embedded.ts";
import { stopPostmaster } from "../src/db/postmaster.ts";
import type { ToolLoad, ToolResult } from "./mcp-load.ts";
import { type Register, seedRegister } from "./mcp-seed.ts";
import { countStatements } from "./mcp-statements.ts";
import { ratesBetween, readUsage } from "./measure.ts";
import { startService, stopChildren } from "./processes.ts";
import { describeMachine } from "./report.ts";
import { runAndUndo, say, type Undo } from "./run.ts";

const USAGE = `Usage: npm run bench:mcp -- [options]

Starts a service with an embedded database in a temporary folder, measures the tool server, and
removes the folder. Takes about three minutes with the defaults.

  --risks <n>            number of risks in the register (100000)
  --organizations <n>    number of organizations that have these risks (50)
  --connections <n>      number of keep-alive connections (32)
  --seconds <n>          length of each measurement (10)
  --workers <n>          number of processes of the service (1)
  --only <text>          run only the measurements whose name contains this text
  --profile <folder>     folder for the service's .cpuprofile
  --json                 print JSON instead of Markdown
  --help                 print this text
`;

const WARM_MS = 5_000;
/** The number of database connections of the bare server, the same as in the service. */
const POOL = 10;
const PAGE = 20;
const DEEP_PAGE = 50;
/** The number of organizations for which the benchmark looks up the 50th page beforehand. */
const DEEP_ORGANIZATIONS = 5;

interface Row extends ToolResult {
	name: string;
	serverCpu: number;
	postgresCpu: number;
	statements: number | undefined;
}

const undo: Undo[] = [];

const { values } = parseArgs({
	options: {
		risks: { type: "string", default: "100000" },
		organizations: { type: "string", default: "50" },
		connections: { type: "string", default: "32" },
		seconds: { type: "string", default: "10" },
		workers: { type: "string", default: "1" },
		only: { type: "string", default: "" },
		profile: { type: "string" },
		json: { type: "boolean", default: false },
		help: { type: "boolean", default: false },
	},
});

/** Returns a POST request as raw HTTP. The body must be ASCII. */
function rawPost(path: string, token: string, body: object): string {
	const text = JSON.stringify(body);
	return `POST ${path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
}

function rpc(method: string, params: object): object {
	return { jsonrpc: "2.0", id: 1, method, params };
}

function callOf(token: string, name: string, input: object): string {
	const body = rpc("tools/call", { name, arguments: input });
	return rawPost("/api/mcp/v1", token, body);
}

async function measure(
	generator: ChildProcess,
	load: ToolLoad,
): Promise<ToolResult> {
	generator.send(load);
	const [message] = await once(generator, "message");
	if (message.failed) throw new Error(message.failed);
	return message.result as ToolResult;
}

/** Returns the cursor of the 50th page of an organization's list. */
async function findDeepCursor(
	port: number,
	organization_id: string,
	token: string,
): Promise<string | undefined> {
	let cursor: string | undefined;
	for (let page = 1; page < DEEP_PAGE; page++) {
		const response = await fetch(
			`http://localhost:${port}/api/mcp/tools/listRisks`,
			{
				method: "POST",
				headers: { authorization: `Bearer ${token}` },
				body: JSON.stringify({ organization_id, size: PAGE, cursor }),
			},
		);
		const body = (await response.json()) as { next_cursor: string | null };
		if (!body.next_cursor) return cursor;
		cursor = body.next_cursor;
	}
	return cursor;
}

/**
 * Returns the size of tools/list in bytes and in tokens. As a rule of thumb, a token has four
 * bytes.
 */
async function readFootprint(port: number, { byRole }: Register) {
	const sizes: { name: string; bytes: number; tokens: number }[] = [];
	for (const [name, token, query] of [
		["admin", byRole.admin, ""],
		["member", byRole.member, ""],
		["viewer", byRole.viewer, ""],
		["admin, ?toolsets=risks", byRole.admin, "?toolsets=risks"],
		[
			"admin, ?toolsets=risks,measures",
			byRole.admin,
			"?toolsets=risks,measures",
		],
	] as const) {
		const response = await fetch(
			`http://localhost:${port}/api/mcp/v1${query}`,
			{
				method: "POST",
				headers: {
					authorization: `Bearer ${token}`,
					"content-type": "application/json",
				},
				body: JSON.stringify(rpc("tools/list", {})),
			},
		);
		const bytes = Buffer.byteLength(await response.text());
		sizes.push({ name, bytes, tokens: Math.round(bytes / 4) });
	}
	return sizes;
}

async function bench() {
	const seconds = Number(values.seconds);
	const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
	undo.push(() => rmSync(folder, { recursive: true, force: true }));
	const dataDir = join(folder, "data");
	undo.push(() => stopPostmaster(join(dataDir, "postgres")), stopChildren);
	// If root runs this program, PostgreSQL runs as another user, who must be able to enter the
	// folder.
	chmodSync(folder, 0o711);

	say("starting the service");
	const service = await startService(
		dataDir,
		Number(values.workers),
		values.profile,
	);
	const postgres = await openEmbeddedPostgres(dataDir);
	undo.push(() => postgres.close());
	const client = new Client(postgres.connection);
	client.on("error", () => {});
	await client.connect();
	undo.push(() => client.end());
	say(`seeding ${values.risks} risks`);
	const register = await seedRegister(client, {
		organizations: Number(values.organizations),
		risks: Number(values.risks),
	});
	const { organizations, tokens, risks, perOrganization } = register;
	const tokenOf = (index: number) =>
		tokens[Math.floor(index / perOrganization)] ?? "";

	const each = (input: (organization_id: string, index: number) => object) =>
		organizations.map((organization, index) =>
			callOf(tokens[index] ?? "", "listRisks", input(organization, index)),
		);
	const deep: string[] = [];
	for (const [index, organization_id] of organizations
		.slice(0, DEEP_ORGANIZATIONS)
		.entries()) {
		const token = tokens[index] ?? "";
		const cursor = await findDeepCursor(service.port, organization_id, token);
		deep.push(
			callOf(token, "listRisks", { organization_id, size: PAGE, cursor }),
		);
	}
	const someRisks = risks
		.map((id, index) => ({ id, index }))
		.filter(({ index }) => index % 7 === 0)
		.sort(() => Math.random() - 0.5)
		.slice(0, 20_000);
	const getRisk = someRisks.map(({ id, index }) =>
		callOf(tokenOf(index), "getRisk", { id }),
	);
	const newRisk = (organization_id: string) => ({
		organization_id,
		name: "A risk of the benchmark",
		category: "Benchmark",
		treatment: "ACCEPTED",
		inherent_likelihood: 2,
		inherent_impact: 3,
	});
	const list = rpc("tools/list", {});
	const [organization_id = ""] = organizations;
	const [token = ""] = tokens;

	say("counting statements");
	const sized = (size: number) => ({
		label: `listRisks, ${size} rows`,
		tool: "listRisks",
		input: { organization_id, size },
		token,
	});
	const statements = await countStatements(
		postgres.connection,
		"http://localhost",
		[
			{ label: "getRisk", tool: "getRisk", input: { id: risks[0] }, token },
			sized(1),
			sized(20),
			sized(100),
			{
				label: "addRisk",
				tool: "addRisk",
				input: newRisk(organization_id),
				token,
			},
		],
	);

	const generator = fork(join(import.meta.dirname, "mcp-load.ts"));
	undo.push(() => void generator.kill("SIGKILL"));
	const rows: Row[] = [];
	const watch = async (
		name: string,
		target: { port: number; pid: number },
		requests: string[],
		label?: string,
	) => {
		if (!name.includes(values.only)) return;
		say(`measuring ${name}`);
		const watched = {
			serverPid: target.pid,
			postmasterPid: postgres.pid,
			client,
		};
		const before = await readUsage(watched);
		const result = await measure(generator, {
			port: target.port,
			connections: Number(values.connections),
			requests,
			warmMs: WARM_MS,
			measureMs: seconds * 1000,
		});
		const { serverCpu, postgresCpu } = ratesBetween(
			before,
			await readUsage(watched),
		);
		if (result.errors > 0)
			say(`  ${result.errors} errors: ${result.firstError}`);
		const count = label === undefined ? undefined : statements[label];
		rows.push({ name, ...result, serverCpu, postgresCpu, statements: count });
	};

	const rows20 = `listRisks, ${PAGE} rows`;
	await watch("getRisk", service, getRisk, "getRisk");
	await watch(
		"getRisk over plain HTTP",
		service,
		someRisks.map(({ id, index }) =>
			rawPost("/api/mcp/tools/getRisk", tokenOf(index), { id }),
		),
		"getRisk",
	);
	await watch(
		"listRisks, first page",
		service,
		each((id) => ({ organization_id: id, size: PAGE })),
		rows20,
	);
	await watch(`listRisks, page ${DEEP_PAGE}`, service, deep, rows20);
	await watch(
		"listRisks, text query",
		service,
		each((id) => ({
			organization_id: id,
			size: PAGE,
			filter: { query: "laptop fire" },
		})),
		rows20,
	);
	await watch(
		"tools/list",
		service,
		tokens.map((each) => rawPost("/api/mcp/v1", each, list)),
	);
	await watch(
		"tools/list, ?toolsets=risks",
		service,
		tokens.map((each) => rawPost("/api/mcp/v1?toolsets=risks", each, list)),
	);
	await watch(
		"addRisk",
		service,
		organizations.map((id, index) =>
			callOf(tokens[index] ?? "", "addRisk", newRisk(id)),
		),
		"addRisk",
	);

	const bare = fork(join(import.meta.dirname, "mcp-bare.ts"), {
		env: {
			...process.env,
			BENCH_CONNECTION: JSON.stringify(postgres.connection),
			BENCH_POOL: String(POOL),
		},
	});
	undo.push(() => void bare.kill("SIGKILL"));
	const [port] = await once(bare, "message");
	const bareServer = { port: port as number, pid: bare.pid as number };
	await watch("bare getRisk", bareServer, getRisk, "getRisk");

	const version = await client.query("show server_version");
	return {
		machine: describeMachine(version.rows[0].server_version),
		risks: risks.length,
		organizations: organizations.length,
		connections: Number(values.connections),
		seconds,
		rows,
		statements,
		footprint: await readFootprint(service.port, register),
	};
}

function toMarkdown(report: Awaited<ReturnType<typeof bench>>): string {
	const { rows, statements, footprint } = report;
	const rate = (name: string) =>
		rows.find((row) => row.name === name)?.perSecond ?? NaN;
	const lines = [
		`${report.machine}; ${report.risks} risks in ${report.organizations} organizations; ${report.connections} connections, ${report.seconds} s each; ${new Date().toISOString().slice(0, 10)}`,
		"",
		"| calls | per second | p50 ms | p99 ms | max ms | errors | statements | service CPU % | PostgreSQL CPU % |",
		"|---|---|---|---|---|---|---|---|---|",
		...rows.map(
			(row) =>
				`| ${row.name} | ${Math.round(row.perSecond)} | ${row.p50Ms.toFixed(1)} | ${row.p99Ms.toFixed(1)} | ${row.maxMs.toFixed(1)} | ${row.errors} | ${row.statements ?? ""} | ${Math.round(row.serverCpu)} | ${Math.round(row.postgresCpu)} |`,
		),
		"",
		`The bare server makes ${(rate("bare getRisk") / rate("getRisk")).toFixed(2)} times the getRisk calls of the service.`,
		"",
		"| call | statements |",
		"|---|---|",
		...Object.entries(statements).map(([name, n]) => `| ${name} | ${n} |`),
		"",
		"| tools/list | bytes | tokens, about |",
		"|---|---|---|",
		...footprint.map(
			({ name, bytes, tokens }) => `| ${name} | ${bytes} | ${tokens} |`,
		),
	];
	return `${lines.join("\n")}\n`;
}

if (values.help) process.stdout.write(USAGE);
else {
	await runAndUndo(async () => {
		const report = await bench();
		process.stdout.write(
			values.json ? `${JSON.stringify(report)}\n` : toMarkdown(report),
		);
		return 0;
	}, undo);
}
