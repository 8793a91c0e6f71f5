import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Client } from "pg";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { createDevice } from "../../src/devices/enrollment.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { makeSecret } from "../../src/tokens/secret.ts";
import { createDatabase } from "../support/database.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";

let child: ChildProcess | undefined;
afterAll(() => {
	child?.kill("SIGKILL");
});

// These tests examine the log of the real service at level trace, after everything has failed once.

/**
 * Starts the real service as its own process. `output` returns everything that it has written so
 * far.
 */
async function startProcess(databaseUrl: string) {
	const started = spawn(process.execPath, ["bin/assay.js", "start", "--json"], {
		cwd: new URL("../..", import.meta.url),
		env: {
			PATH: process.env.PATH,
			DATABASE_URL: databaseUrl,
			ASSAY_PORT: "0",
			ASSAY_LOG_LEVEL: "trace",
		},
		stdio: ["ignore", "pipe", "pipe"],
	});
	child = started;
	let output = "";
	let log = "";
	let announce: (url: string) => void;
	const listening = new Promise<string>((resolve, reject) => {
		announce = resolve;
		started.on("close", () => reject(new Error(`it ended: ${output}`)));
	});
	for (const stream of [started.stdout, started.stderr]) {
		stream.setEncoding("utf8").on("data", (text: string) => {
			output += text;
			if (stream === started.stderr) log += text;
			const line = /^\{"url".*\}$/m.exec(output)?.[0];
			if (line) announce((JSON.parse(line) as { url: string }).url);
		});
	}
	return {
		url: await listening,
		output: () => output,
		log: () => log,
		stop: async () => {
			const closed = once(started, "close");
			started.kill("SIGTERM");
			await closed;
		},
	};
}

const secrets = new Set<string>();
/** A secret that only appears in URLs, with its underscores written as %5F. */
const encodedSecret = makeSecret("dev");
const evidence = `evidence-${crypto.randomUUID()}`;
/** Text that would become a line of the log if it were written without escapes. */
const forged = '\r\n{"level":"fatal","msg":"forged"}\r\n';
let output = "";
let log = "";
let password = "";

/** Returns the text with what comes before it in the output, or "nowhere". */
function find(text: string): string {
	const at = output.indexOf(text);
	return at < 0
		? "nowhere"
		: output.slice(Math.max(at - 60, 0), at + text.length);
}

/**
 * Returns the random part of a secret. It is not a valid secret, but it would make guessing the
 * secret easy.
 */
const core = (secret: string) => secret.replace(/^asy_..._/, "").slice(0, 40);

beforeAll(async () => {
	const database = await createDatabase();
	password = decodeURIComponent(new URL(database.url).password);
	const organizationId = await createOrganization(database.pool, "Acme");
	const makeToken = () =>
		withTenant(database.pool, organizationId, async (client) => {
			const device = { organizationId, name: "x", tokenDays: 1 };
			const made = await createDevice(client, { ...device, createdBy: "test" });
			return made.enrollment_token;
		});
	const service = await startProcess(database.url);
	const statuses = new Set<number>();

	async function send(
		path: string,
		secret: string,
		body: unknown,
		headers: Record<string, string> = {},
	) {
		if (secret !== encodedSecret) secrets.add(secret);
		const answer = await fetch(`${service.url}/api/agent/v1/${path}`, {
			method: "POST",
			headers: { authorization: `Bearer ${secret}`, ...headers },
			body: typeof body === "string" ? body : JSON.stringify(body),
		});
		statuses.add(answer.status);
		return answer;
	}

	/** Sends requests with the secret in every place where one may appear. */
	async function drive(path: string, secret: string, body: unknown) {
		await send(path, secret, body);
		await send(`${path}?token=${secret}`, secret, body);
		await send(path, secret, body, { "x-request-id": secret });
		await send(path, secret, body, { "user-agent": secret, referer: secret });
		const encoded = encodedSecret.replaceAll("_", "%5F");
		await send(`${path}?token=${encoded}`, secret, body);
	}

	const token = await makeToken();
	const enrolled = await send("enroll", token, { token });
	const { api_key: key } = (await enrolled.json()) as { api_key: string };
	const spare = await makeToken();
	const facts = heartbeatBody();
	const results = (fields = {}) => ({
		results: [postureResult({ evidence: { [evidence]: evidence }, ...fields })],
	});
	const driveAll = async () => {
		const wrong = [makeSecret("dev"), `${key}x`, token, makeSecret("pat")];
		for (const secret of [key, ...wrong]) {
			await drive("heartbeat", secret, facts);
			await drive("heartbeat", secret, { ...facts, agent_version: 7 });
			await drive("postures", secret, results());
			await drive("postures", secret, results({ status: evidence }));
			await drive("postures", secret, `{"results":["${evidence}",`);
			await drive(`nothing/${secret}`, secret, { secret });
			await drive("enroll", secret, { token: secret });
			await drive("enroll", secret, { token: [secret] });
		}
	};
	const driveForged = async () => {
		const said = { hostname: forged, os_version: forged };
		await drive("heartbeat", key, { ...facts, ...said });
		await drive("postures", key, results({ check_key: forged }));
		await drive(`nothing/${encodeURIComponent(forged)}`, key, forged);
		await drive("enroll", key, { token: forged });
	};
	const elsewhere = await fetch(`${service.url}/api/auth/sign-in/email`, {
		method: "POST",
		headers: { "content-type": "application/json", origin: service.url },
		body: JSON.stringify({
			email: "nobody@example.com",
			password: evidence,
			callbackURL: `https://${evidence}.example/${forged}`,
		}),
	});
	expect(elsewhere.status).toBe(403);
	await driveForged();
	await driveAll();
	expect([...statuses].sort()).toEqual([200, 204, 400, 401, 404]);

	// The first change makes statements on devices fail. The second makes the insert of a report fail
	// while PostgreSQL has the evidence, which its error message could quote.
	const { owner } = database;
	await owner.query("alter table devices rename to devices_away");
	await driveForged();
	await driveAll();
	expect((await send("enroll", spare, { token: spare })).status).toBe(500);
	await owner.query("alter table devices_away rename to devices");
	await owner.query(
		"alter table posture_reports add check (results is null) not valid",
	);
	const refused = await send("postures", key, results({ check_key: forged }));
	expect(refused.status).toBe(500);

	// From here on, there is no database at all.
	const server = new Client({ connectionString: inject("serverUrl") });
	await server.connect();
	const name = new URL(database.url).pathname.slice(1);
	await server.query(`alter database ${name} allow_connections false`);
	await server.query(
		"select pg_terminate_backend(pid) from pg_stat_activity where datname = $1",
		[name],
	);
	await server.end();
	await driveAll();
	await service.stop();
	await database.drop();
	output = service.output();
	log = service.log();
});

test("the log contains the failures, so it is not empty", () => {
	expect(output).toContain('"level":"error"');
	expect(output).toContain('"route":"postures"');
});

test("the log contains no token and no key from a header, a body, a URL or a request id", () => {
	expect(secrets.size).toBeGreaterThanOrEqual(10);
	for (const secret of secrets) expect(find(core(secret))).toBe("nowhere");
});

test("the log contains no key from a URL that was written with percent signs", () => {
	expect(find(core(encodedSecret))).toBe("nowhere");
});

test("each line of the log comes from the service itself, whatever callers send", () => {
	const lines = log.trimEnd().split("\n");
	expect(lines.length).toBeGreaterThan(10);
	for (const line of lines) {
		const { level, msg } = JSON.parse(line) as Record<string, unknown>;
		expect(level, line).not.toBe("fatal");
		expect(msg, line).not.toBe("forged");
	}
});

test("the log contains no evidence", () => {
	expect(find(evidence)).toBe("nowhere");
});

test("the log does not contain the database's password", () => {
	// A database without a password, such as a developer's own, has nothing to hide.
	expect(password === "" ? "nowhere" : find(password)).toBe("nowhere");
});
