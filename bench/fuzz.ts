import { parseArgs } from "node:util";
import { hashPassword } from "../src/access/password.ts";
import { ROLES } from "../src/access/principal.ts";
import { addMember, createUser } from "../src/access/users.ts";
import { makePool, withTenant } from "../src/db/pool.ts";
import { makeStand, type Stand } from "./fault-stand.ts";
import type { Target } from "./fuzz-cases.ts";
import { type Fuzzed, fuzz } from "./fuzz-run.ts";
import { fuzzSocket, openIdle, type SocketResult } from "./fuzz-socket.ts";
import { Histogram } from "./histogram.ts";
import { insertToken } from "./mcp-seed.ts";
import { describeMachine, toTable } from "./report.ts";

const USAGE = `Usage: npm run bench:fuzz -- [options]

Sends a service of its own what it may get and what it may not: good, nearly good and strange
input to every route of the Device Agent API, every tool (MCP, plain HTTP, query string), every
operation of the console and the account pages, from their schemas; raw bytes; idle connections.

  --cases <n>         requests (100000); a tenth as many raw byte strings beside them
  --seconds <n>       at most (1200)
  --seed <n>          of the random cases (1)
  --connections <n>   idle ones (10000)
  --parallel <n>      requests under way (16)
  --help              print this

Exit code 1 when anything was answered 5xx or not at all, or the service ended.
`;

const DEVICES = 2_000;
const SHOWN_FAILURES = 10;
const PASSWORD = "correct horse battery";

async function makeTarget(stand: Stand): Promise<Target> {
	const { fleet, tenants, postgres, service } = stand;
	const organizationId = tenants[0]?.organizationId as string;
	const url = `http://127.0.0.1:${service.port}`;
	const { tokens, ids } = await stand.asOwner(async (client) => {
		const tokens = [tenants[0]?.token as string];
		for (const role of ROLES.toReversed().slice(1)) {
			tokens.push(await insertToken(client, organizationId, role));
		}
		const { rows } = await client.query<{ id: string }>(
			"select id from risks where organization_id = $1 limit 20",
			[organizationId],
		);
		return { tokens, ids: rows.map(({ id }) => id) };
	});
	const pool = makePool({ connectionString: postgres.url }, { max: 1 });
	const email = "ada@example.com";
	const passwordHash = await hashPassword(PASSWORD);
	await withTenant(pool, organizationId, async (client) => {
		const name = "Ada";
		const { userId } = await createUser(client, { email, name, passwordHash });
		const user = { id: userId, name, email };
		await addMember(client, organizationId, user, "admin");
	});
	await pool.end();
	const response = await fetch(`${url}/api/auth/sign-in/email`, {
		method: "POST",
		headers: { "content-type": "application/json", origin: url },
		body: JSON.stringify({ email, password: PASSWORD }),
	});
	const cookie = response.headers
		.getSetCookie()
		.map((text) => text.split(";", 1)[0])
		.join("; ");
	if (!cookie) throw new Error(`no session: ${await response.text()}`);
	const devices = fleet.ids.slice(0, 20);
	// Devices of all organizations: the first of them is the one the people are of.
	return {
		url,
		organizationId,
		ids: [...ids, ...devices],
		keys: fleet.keys,
		tokens,
		cookie,
	};
}

interface Idle {
	wanted: number;
	opened: number;
	mib: number;
	/** Of heartbeats while they are open. */
	latencies: Histogram;
	refused: number;
}

/** Whether devices are served while thousands of connections are open and silent. */
async function withIdle(stand: Stand, wanted: number): Promise<Idle> {
	const { service } = stand;
	const sockets = await openIdle(service.port, wanted);
	const latencies = new Histogram();
	let refused = 0;
	for (let i = 0; i < 300; i++) {
		const began = performance.now();
		const response = await fetch(
			`http://127.0.0.1:${service.port}/health/ready`,
		);
		await response.arrayBuffer();
		if (response.status !== 200) refused++;
		latencies.recordMs(performance.now() - began);
	}
	const mib = service.readMib();
	for (const socket of sockets) socket.destroy();
	return { wanted, opened: sockets.length, mib, latencies, refused };
}

function toMarkdown(
	stand: Stand,
	fuzzed: Fuzzed,
	socket: SocketResult,
	idle: Idle,
	memory: { before: number; after: number },
): string {
	const list = (counts: Record<string, number>) =>
		Object.entries(counts)
			.map(([name, count]) => `${name}: ${count}`)
			.join(", ");
	const ms = (value: number) => value.toFixed(0);
	const rows: [string, string][] = [
		["Requests", `${fuzzed.cases}: ${list(fuzzed.statuses)}`],
		...Object.entries(fuzzed.doors).map(
			([door, statuses]): [string, string] => [`… ${door}`, list(statuses)],
		),
		["5xx or unanswered", String(fuzzed.failures.length)],
		[
			"Answered in",
			`p50 ${ms(fuzzed.latencies.quantileMs(0.5))} ms, p99 ${ms(fuzzed.latencies.quantileMs(0.99))} ms, at most ${ms(fuzzed.latencies.maxMs)} ms`,
		],
		["Raw byte strings", `${socket.cases}: ${list(socket.statuses)}`],
		["5xx to raw bytes", String(socket.failures.length)],
		[
			`Idle connections (${idle.wanted} wanted)`,
			`${idle.opened} open; meanwhile 300 requests: ${idle.refused} refused, p99 ${ms(idle.latencies.quantileMs(0.99))} ms, ${ms(idle.mib)} MiB`,
		],
		["Times the service ended", String(stand.service.crashes)],
		[
			"Memory before, peak, after",
			`${ms(memory.before)}, ${ms(stand.service.peakMib)}, ${ms(memory.after)} MiB`,
		],
	];
	return `${describeMachine(undefined)}; ${new Date().toISOString().slice(0, 10)}; seed ${values.seed}\n\n${toTable(["Bad input", "Figure"], rows)}\n`;
}

async function run(stand: Stand): Promise<number> {
	const target = await makeTarget(stand);
	const seed = Number(values.seed);
	const cases = Number(values.cases);
	const parallel = Number(values.parallel);
	const until = performance.now() + Number(values.seconds) * 1000;
	const { service } = stand;
	const before = service.readMib();
	const watching = setInterval(() => service.readMib(), 250);
	say(`${cases} requests`);
	let shown = 0;
	// At once: of a long run one wants to know before its end.
	const show = (failure: object) => {
		if (shown++ < SHOWN_FAILURES) say(JSON.stringify(failure));
	};
	const fuzzed = await fuzz(target, { cases, seed, parallel }, until, show);
	say("raw bytes");
	const most = { cases: Math.ceil(cases / 10), seed };
	const key = stand.fleet.keys[0] as string;
	const socket = await fuzzSocket(service.port, key, most, until + 60_000);
	say("idle connections");
	const idle = await withIdle(stand, Number(values.connections));
	clearInterval(watching);
	const after = service.readMib();
	const memory = { before, after };
	process.stdout.write(toMarkdown(stand, fuzzed, socket, idle, memory));
	const failures = [...fuzzed.failures, ...socket.failures];
	for (const failure of socket.failures) show(failure);
	if (failures.length > 0) say(`the service's log: ${service.log}`);
	const isFine =
		failures.length === 0 && service.crashes === 0 && idle.refused === 0;
	return isFine ? 0 : 1;
}

function say(text: string): void {
	process.stderr.write(`${text}\n`);
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
