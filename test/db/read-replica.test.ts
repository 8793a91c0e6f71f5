import { Pool } from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OwnPostgres } from "../../bench/own-postgres.ts";
import { readConfig } from "../../src/config/config.ts";
import { ReadReplica } from "../../src/db/read-replica.ts";
import { makeLogger } from "../../src/log.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { type Service, serve } from "../../src/serve.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { runCommand } from "../support/command.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import type { TestDatabase } from "../support/database.ts";
import { makeApiToken, makeUser } from "../support/people.ts";
import { type Replicated, startReplicated } from "../support/replicated.ts";

let servers: Replicated;
let primary: OwnPostgres;
let standby: OwnPostgres;
let database: TestDatabase;
let service: Service;
let organization_id: string;
let cookie: string;
let token: string;

const HEADER = "x-replica-as-of";

/** Starts a service with this replica. */
const startService = (replica: string, log = makeLogger("silent")) =>
	serve(
		readConfig({
			ASSAY_PORT: "0",
			ASSAY_METRICS_PORT: "0",
			ASSAY_SECRET: "what the sessions of the tests are signed with",
			DATABASE_URL: primary.url,
			DATABASE_REPLICA_URL: replica,
		}),
		log,
	);

beforeAll(async () => {
	servers = await startReplicated();
	({ primary, standby, database } = servers);
	service = await startService(standby.url);
	organization_id = await createOrganization(database.pool, "Acme");
	const user = await makeUser(
		database,
		{ organizationId: organization_id, role: "admin" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	({ token } = await makeApiToken(database, user));
	const signIn = { email: user.email, password: PASSWORD };
	({ cookie } = await sendTo(service.url, "/api/auth/sign-in/email", signIn));
	await use("addVendor", { name: "Fire" });
});

afterAll(async () => {
	await service?.close();
	await servers?.close();
});

/** Calls a tool over plain HTTP. */
const call = (
	tool: string,
	input: object,
	query = "",
	at = service,
	by = token,
) =>
	sendTo(
		at.url,
		`/api/mcp/tools/${tool}?${query}`,
		{ organization_id, ...input },
		{ authorization: `Bearer ${by}` },
	);

async function use(tool: string, input: object) {
	const { status, body } = await call(tool, input);
	if (status !== 200) throw new Error(`${tool}: ${JSON.stringify(body)}`);
	return body;
}

const exportVendors = (query: string, at = service) =>
	fetch(
		`${at.url}/api/console/export/listVendors.csv?organization_id=${organization_id}&${query}`,
		{ headers: { cookie } },
	);

const databaseTime = async () => {
	const { rows } = await database.pool.query("select now() as now");
	return rows[0].now as string;
};

const replicaMetrics = async (at = service) => {
	const text = await (await fetch(at.metricsUrl ?? "")).text();
	const lines = text.match(/^assay_read_replica_\w+ .*$/gm) ?? [];
	return Object.fromEntries(
		lines.map((line) => {
			const [name = "", value] = line.split(" ");
			return [name.replace("assay_read_replica_", ""), Number(value)];
		}),
	);
};

const findReplica = async (url: string) => {
	const { stdout } = await runCommand(["doctor", "--json"], {
		DATABASE_URL: primary.url,
		DATABASE_REPLICA_URL: url,
	});
	const { findings } = JSON.parse(stdout) as { findings: { check: string }[] };
	return findings.find(({ check }) => check === "read replica");
};

test("an export from the replica has what was stored before it, and states its moment", async () => {
	await use("addVendor", { name: "Flood" });
	const before = await databaseTime();
	const answer = await exportVendors("read_from=replica");
	expect(answer.status).toBe(200);
	const moment = answer.headers.get(HEADER) ?? "";
	expect(moment >= before).toBe(true);
	const time = `${moment.slice(0, 19).replaceAll(":", "-")}Z`;
	expect(answer.headers.get("content-disposition")).toBe(
		`attachment; filename="assay-vendors-${time}.csv"`,
	);
	const text = await answer.text();
	expect(text).toContain("Flood");
	const same = await exportVendors("read_from=primary");
	expect(same.headers.has(HEADER)).toBe(false);
	expect(await same.text()).toBe(text);
});

test("a replica that lags answers with the data of the moment that it states", async () => {
	await servers.pause();
	try {
		const { vendor } = await use("addVendor", { name: "Theft" });
		expect(await (await exportVendors("")).text()).toContain("Theft");
		const answer = await exportVendors("read_from=replica");
		const text = await answer.text();
		expect(text).toContain("Fire");
		expect(text).not.toContain("Theft");
		const moment = answer.headers.get(HEADER) ?? "none";
		expect(moment < vendor.created_at).toBe(true);

		for (const path of [
			"/api/console/listVendors?read_from=replica",
			"/api/mcp/tools/listVendors?read_from=replica",
		]) {
			const { body, headers } = await sendTo(
				service.url,
				path,
				{ organization_id },
				path.includes("mcp")
					? { authorization: `Bearer ${token}` }
					: { cookie },
			);
			const names = body.vendors.map(({ name }: { name: string }) => name);
			expect(names).toContain("Fire");
			expect(names).not.toContain("Theft");
			expect(headers.get(HEADER)).toBe(moment);
		}
		const { behind_seconds, behind_bytes, answers } = await replicaMetrics();
		expect(behind_seconds).toBeGreaterThan(0);
		expect(behind_bytes).toBeGreaterThan(0);
		expect(answers).toBe(1);
	} finally {
		await servers.resume();
	}
	await expect
		.poll(async () => (await exportVendors("read_from=replica")).text())
		.toContain("Theft");
	expect(await replicaMetrics()).toEqual({
		answers: 1,
		behind_bytes: 0,
		behind_seconds: 0,
	});
	expect(await findReplica(standby.url)).toMatchObject({
		status: "ok",
		found: expect.stringContaining("(0.0 MB) behind"),
	});
});

test("rights are those of the primary, also while the replica lags", async () => {
	const member = await makeUser(database, {
		organizationId: organization_id,
		role: "viewer",
	});
	const { id, token: theirs } = await makeApiToken(database, member);
	const read = () =>
		call("listVendors", {}, "read_from=replica", service, theirs);
	expect((await read()).status).toBe(200);
	await servers.pause();
	try {
		await database.owner.query("delete from api_tokens where id = $1", [id]);
		expect((await read()).status).toBe(401);
	} finally {
		await servers.resume();
	}
});

test("read_from takes two values, and a call that writes or is about the caller reads the primary only", async () => {
	const wrong = await call("listVendors", {}, "read_from=standby");
	expect(wrong.status).toBe(400);
	expect(wrong.body.message).toBe("read_from: must be primary or replica");
	const write = await call("addVendor", { name: "No" }, "read_from=replica");
	expect(write.status).toBe(400);
	expect(write.body.message).toBe(
		"read_from: must be primary, because addVendor writes",
	);
	const own = await sendTo(
		service.url,
		"/api/mcp/tools/listOrganizations?read_from=replica",
		{},
		{ authorization: `Bearer ${token}` },
	);
	expect(own.status).toBe(400);
});

test("a replica that is more than five minutes behind is not read", async () => {
	// In the search path of this pool, another function hides the one that tells the time.
	await database.owner.query(
		`create function public.now() returns timestamptz language sql
		return pg_catalog.now() + interval '6 minutes'`,
	);
	const later = new Pool({
		connectionString: primary.url,
		options: "-c search_path=public,pg_catalog -c timezone=UTC",
		max: 1,
	});
	const replica = new ReadReplica(
		later,
		{ connectionString: standby.url },
		makeLogger("silent"),
	);
	await servers.pause();
	try {
		await use("addVendor", { name: "Fraud" });
		const reads = replica.beginReads();
		await expect(
			reads.read({ isReadOnly: true }, async () => "read"),
		).rejects.toMatchObject({
			code: "service_unavailable",
			message: expect.stringContaining("is 6 minutes behind, more than 5;"),
		});
		expect(reads.moment).toBe(undefined);
	} finally {
		await servers.resume();
		await replica.close();
		await later.end();
		await database.owner.query("drop function public.now()");
	}
});

test("an address that leads to the primary is refused, and the service goes on", async () => {
	const lines: string[] = [];
	const log = pino({}, { write: (line: string) => lines.push(line) });
	const other = await startService(primary.url, log);
	try {
		const { status, body } = await call(
			"listVendors",
			{},
			"read_from=replica",
			other,
		);
		expect(status).toBe(503);
		expect(body.message).toMatch(
			/^the read replica is not a standby; .* leave out read_from=replica/,
		);
		expect((await call("listVendors", {}, "", other)).status).toBe(200);
		expect(await replicaMetrics(other)).toEqual({ answers: 0 });
		const told = lines.filter((line) => line.includes("read replica"));
		expect(told).toHaveLength(1);
		expect(told[0]).toContain('"reason":"it is not a standby"');
	} finally {
		await other.close();
	}
	expect(await findReplica(primary.url)).toMatchObject({
		status: "problem",
		found: "it is not a standby",
		advice: expect.stringContaining("DATABASE_REPLICA_URL"),
	});
});

test("doctor names a wrong password and another database", async () => {
	const wrong = new URL(standby.url);
	wrong.password = "wrong";
	expect(await findReplica(wrong.href)).toMatchObject({
		status: "problem",
		found: expect.stringContaining("password authentication failed"),
		advice: expect.stringContaining("password in DATABASE_REPLICA_URL"),
	});
	await database.owner.query("create database other");
	const other = new URL(primary.url);
	other.pathname = "/other";
	await runCommand(["migrate"], { DATABASE_URL: other.href });
	const copied = new URL(standby.url);
	copied.pathname = "/other";
	await expect
		.poll(() => findReplica(copied.href))
		.toMatchObject({
			status: "problem",
			found: "it is a replica of another database",
		});
});

test("while the replica is away, requests to it get 503 and all others are answered", async () => {
	await standby.stop();
	const gone = await exportVendors("read_from=replica");
	expect(gone.status).toBe(503);
	expect(gone.headers.get("retry-after")).not.toBe(null);
	expect(((await gone.json()) as { message: string }).message).toMatch(
		/^the read replica does not answer, or refuses; .* leave out read_from=replica/,
	);
	expect((await exportVendors("")).status).toBe(200);
	expect(await replicaMetrics()).toEqual({ answers: 0 });
	await standby.start();
	await expect
		.poll(async () => (await exportVendors("read_from=replica")).status)
		.toBe(200);
});

test("a service without a replica says so", async () => {
	const other = await serve(
		readConfig({
			ASSAY_PORT: "0",
			ASSAY_SECRET: "what the sessions of the tests are signed with",
			DATABASE_URL: primary.url,
		}),
		makeLogger("silent"),
	);
	try {
		const { status, body } = await call(
			"listVendors",
			{},
			"read_from=replica",
			other,
		);
		expect(status).toBe(400);
		expect(body.message).toContain("this service has no replica");
	} finally {
		await other.close();
	}
});
