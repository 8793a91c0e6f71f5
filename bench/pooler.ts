import { execFile } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs, promisify } from "node:util";
import { Client } from "pg";
import { makePool, withTenant } from "../src/db/pool.ts";
import { createDevice } from "../src/devices/enrollment.ts";
import { makeBenchFolder } from "./faults/stand.ts";
import { POOL_SIZE, type PoolMode, startPooler } from "./own-pooler.ts";
import { OwnPostgres } from "./own-postgres.ts";
import { freePort, OwnService } from "./own-service.ts";
import { describeMachine, toTable } from "./report.ts";

const USAGE = `Usage: npm run bench:pooler

Starts PostgreSQL, Debian's PgBouncer in each of its modes, and the service through PgBouncer. Runs
the service's commands, and sends the requests of 200 devices and 200 tool calls at the same time.
Then checks that the server's connections keep no role, organization, prepared statement or lock.
Needs pgbouncer. Takes about a minute.

The exit code is 1 if something fails in session mode, or if the service accepts another mode.
`;

if (parseArgs({ options: { help: { type: "boolean" } } }).values.help) {
	process.stdout.write(USAGE);
	process.exit(0);
}

const CROWD = 200;
const GIVE_UP_MS = 40_000;
const SECRET = "what the sessions of the bench are signed with";
const run = promisify(execFile);
const program = join(import.meta.dirname, "../bin/assay.js");

const folder = makeBenchFolder();
const postgres = await OwnPostgres.create(join(folder, "db"));
const rows: string[][] = [];
try {
	for (const mode of ["session", "transaction", "statement"] as const) {
		const pooler = await startPooler(folder, postgres.url, mode);
		try {
			if (mode === "session") await walkThrough(pooler.url);
			else await expectRefusal(pooler.url, mode);
		} finally {
			await pooler.stop();
		}
	}
} finally {
	await postgres.stop();
	rmSync(folder, { recursive: true, force: true });
}
process.stdout.write(
	`${describeMachine(undefined)}\n\n${toTable(["Mode", "What", "Result", ""], rows)}\n`,
);
if (rows.some((row) => row[3] !== "ok")) process.exitCode = 1;

function note(mode: PoolMode, what: string, result: string, isGood: boolean) {
	rows.push([mode, what, result, isGood ? "ok" : "WRONG"]);
}

async function command(url: string, ...argv: string[]) {
	const { stdout } = await run(process.execPath, [program, ...argv], {
		env: {
			PATH: process.env.PATH,
			DATABASE_URL: url,
			ASSAY_SECRET: SECRET,
			ASSAY_DATA_DIR: join(folder, "commands"),
		},
	});
	return stdout.startsWith("{") ? JSON.parse(stdout) : stdout;
}

async function expectRefusal(url: string, mode: PoolMode): Promise<void> {
	const said = await command(url, "migrate").then(
		() => "it went on",
		(error: { stderr?: string }) => String(error.stderr).trim(),
	);
	note(mode, "assay migrate", said, said.includes("pool_mode to session"));
}

async function walkThrough(url: string): Promise<void> {
	const mode = "session";
	const { organization_id } = await command(
		url,
		...["org", "create", "--name", "Acme", "--json"],
	);
	await command(
		url,
		...["user", "create", "--email", "ada@example.com", "--name", "Ada"],
		...["--org", organization_id, "--role", "admin"],
	);
	const { token } = await command(
		url,
		...["api-token", "create", "--user", "ada@example.com", "--name", "bench"],
		"--json",
	);
	const service = new OwnService(
		await freePort(),
		join(folder, "service"),
		url,
	);
	await service.start();
	try {
		const { enrolled, pids } = await crowd(
			service,
			url,
			organization_id,
			token,
		);
		await service.kill();
		note(mode, ...(await leftOver(url, "service killed (kill -9)", pids)));
		await service.start();
		const again = await beat(service, enrolled);
		note(mode, "all heartbeats after that", again, again === `200: ${CROWD}`);
		const backup = join(folder, "backup");
		await command(url, "backup", backup);
		note(mode, "assay backup, while it runs", "done", true);
		const doctor = await command(url, "doctor", "--json");
		const bad = doctor.findings.filter(
			({ status }: { status: string }) => status === "problem",
		);
		note(mode, "assay doctor", `${bad.length} problems`, bad.length === 0);
	} finally {
		await service.stop();
	}
	note(mode, ...(await leftOver(url, "service stopped", [])));
}

/** Lets many devices and an AI client send requests at the same time. */
async function crowd(
	service: OwnService,
	url: string,
	organizationId: string,
	token: string,
) {
	const mode = "session";
	const pool = makePool({ connectionString: url }, { max: 2 });
	const tokens: string[] = [];
	for (let number = 0; number < CROWD; number++) {
		const made = await withTenant(pool, organizationId, (client) =>
			createDevice(client, {
				organizationId,
				name: `laptop ${number}`,
				tokenDays: 1,
				createdBy: "bench",
			}),
		);
		tokens.push(made.enrollment_token);
	}
	await pool.end();
	const answers = await Promise.all(
		tokens.map((enrollment) => post(service, "enroll", { token: enrollment })),
	);
	const keys = answers.map(({ body }) => String(body.api_key));
	const statuses = count(answers.map(({ status }) => status));
	note(mode, "enroll, all at once", statuses, statuses === `200: ${CROWD}`);
	const enrolled = keys.map((key) => ({ key, hardware: crypto.randomUUID() }));
	const beats = await beat(service, enrolled);
	note(mode, "heartbeats, all at once", beats, beats === `200: ${CROWD}`);
	const [reports, calls] = await Promise.all([
		Promise.all(enrolled.map(({ key }) => report(service, key))),
		Promise.all(
			enrolled.map((_, number) =>
				callTool(service, token, "addTask", {
					organization_id: organizationId,
					name: `task ${number}`,
				}),
			),
		),
	]);
	const stored = await asOwner(
		"select (select count(*) from posture_reports)::text as reports, (select count(*) from tasks)::text as tasks, array(select pid from pg_stat_activity where application_name like 'assay%') as pids",
	);
	const reported = count(reports);
	note(
		mode,
		"posture reports, all at once; stored",
		`${reported}; ${stored.reports}`,
		reported === `204: ${CROWD}` && stored.reports === `${CROWD}`,
	);
	// Calls beyond a token's share are answered with 503, the same as without a pooler.
	const done = calls.filter((status) => status === 200).length;
	note(
		mode,
		"addTask meanwhile; stored",
		`${count(calls)}; ${stored.tasks}`,
		done > 0 &&
			calls.every((status) => status === 200 || status === 503) &&
			stored.tasks === `${done}`,
	);
	return { enrolled, pids: stored.pids as number[] };
}

async function beat(
	service: OwnService,
	devices: { key: string; hardware: string }[],
): Promise<string> {
	const answers = await Promise.all(
		devices.map(({ key, hardware }, number) =>
			post(
				service,
				"heartbeat",
				{
					hardware_uuid: hardware,
					hostname: `laptop-${number}`,
					platform: "LINUX",
					os_version: "Debian 12",
					agent_version: "1.0.0",
				},
				key,
			),
		),
	);
	return count(answers.map(({ status }) => status));
}

async function report(service: OwnService, key: string): Promise<number> {
	const result = {
		check_key: "DISK_ENCRYPTION",
		status: "PASS",
		observed_at: new Date().toISOString(),
	};
	return (await post(service, "postures", { results: [result] }, key)).status;
}

/** Sends a POST request and, as the agent does, retries if it is answered with 503. */
async function post(
	service: OwnService,
	route: string,
	body: object,
	key?: string,
) {
	for (const deadline = Date.now() + GIVE_UP_MS; ; await sleep(500)) {
		const answer = await postOnce(service, route, body, key);
		if (answer.status !== 503 || Date.now() > deadline) return answer;
	}
}

async function postOnce(
	{ port }: OwnService,
	route: string,
	body: object,
	key?: string,
) {
	const answer = await fetch(`http://127.0.0.1:${port}/api/agent/v1/${route}`, {
		method: "POST",
		body: JSON.stringify(body),
		headers: key ? { authorization: `Bearer ${key}` } : {},
	});
	const text = await answer.text();
	return {
		status: answer.status,
		body: (text ? JSON.parse(text) : {}) as Record<string, unknown>,
	};
}

async function callTool(
	{ port }: OwnService,
	token: string,
	tool: string,
	input: object,
): Promise<number> {
	const answer = await fetch(`http://127.0.0.1:${port}/api/mcp/tools/${tool}`, {
		method: "POST",
		body: JSON.stringify(input),
		headers: {
			authorization: `Bearer ${token}`,
			"content-type": "application/json",
		},
	});
	await answer.arrayBuffer();
	return answer.status;
}

function count(statuses: number[]): string {
	const counts = new Map<number, number>();
	for (const status of statuses) {
		counts.set(status, (counts.get(status) ?? 0) + 1);
	}
	return [...counts].map(([status, times]) => `${status}: ${times}`).join(", ");
}

// biome-ignore lint/suspicious/noExplicitAny: the caller knows the columns of its row.
async function asOwner(sql: string): Promise<any> {
	const client = await postgres.connect();
	try {
		return (await client.query(sql)).rows[0];
	} finally {
		await client.end();
	}
}

/** Returns the state that the next client finds on the connections that the pooler has kept. */
async function leftOver(
	url: string,
	when: string,
	former: number[],
): Promise<[what: string, result: string, isGood: boolean]> {
	const clients: Client[] = [];
	const dirty: string[] = [];
	let kept = 0;
	try {
		// The clients connect at the same time, so that each gets a different connection.
		for (let number = 0; number < POOL_SIZE - 5; number++) {
			const client = new Client({ connectionString: url });
			clients.push(client);
			await client.connect();
			const { rows: found } = await client.query(`
				select pg_backend_pid() as pid,
					current_user <> session_user or coalesce(current_setting('assay.organization_id', true), '') <> ''
						or coalesce(current_setting('assay.user_id', true), '') <> ''
						or exists (select from pg_prepared_statements)
						or exists (select from pg_locks where pid = pg_backend_pid() and locktype = 'advisory') as is_dirty`);
			if (former.includes(found[0].pid)) kept++;
			if (found[0].is_dirty) dirty.push(String(found[0].pid));
		}
	} finally {
		for (const client of clients) await client.end();
	}
	const same =
		former.length > 0 ? `, ${kept} of them the service's before` : "";
	return [
		`left over when the ${when}: role, organization, user, prepared statements, locks`,
		`on ${dirty.length} of ${clients.length} connections${same}`,
		dirty.length === 0,
	];
}
