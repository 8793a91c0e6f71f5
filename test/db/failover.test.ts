import { rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OwnPostgres } from "../../bench/own-postgres.ts";
import { readConfig } from "../../src/config/config.ts";
import {
	assertTakesWrites,
	makePool,
	transaction,
	withTenant,
} from "../../src/db/pool.ts";
import { createDevice } from "../../src/devices/enrollment.ts";
import { toAppError } from "../../src/errors.ts";
import { makeLogger } from "../../src/log.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { type Service, serve } from "../../src/serve.ts";
import { makeSecret } from "../../src/tokens/secret.ts";
import { nameOfRole } from "../support/database.ts";
import { makeFolder } from "../support/folder.ts";
import { startMadePostgres } from "../support/made-data.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";

let folder: string;
let postgres: OwnPostgres;
let service: Service;
let organizationId: string;

const startService = () =>
	serve(
		readConfig({
			ASSAY_PORT: "0",
			ASSAY_SECRET: "what the sessions of the tests are signed with",
			DATABASE_URL: postgres.url,
		}),
		makeLogger("silent"),
	);

beforeAll(async () => {
	folder = await makeFolder("assay-failover-");
	postgres = await startMadePostgres(join(folder, "db"));
	service = await startService();
	const pool = makePool({ connectionString: postgres.url }, { max: 1 });
	organizationId = await createOrganization(pool, "Acme");
	await pool.end();
});

afterAll(async () => {
	await service?.close();
	await postgres?.stop();
	await rm(folder, { recursive: true, force: true });
});

const post = (path: string, body: unknown, bearer?: string) =>
	fetch(`${service.url}${path}`, {
		method: "POST",
		body: JSON.stringify(body),
		headers: bearer ? { authorization: `Bearer ${bearer}` } : {},
	});

async function makeToken(): Promise<string> {
	const pool = makePool({ connectionString: postgres.url }, { max: 1 });
	const device = await withTenant(pool, organizationId, (client) =>
		createDevice(client, {
			organizationId,
			name: undefined,
			tokenDays: 1,
			createdBy: "test",
		}),
	);
	await pool.end();
	return device.enrollment_token;
}

async function activateDevice(): Promise<{ key: string; facts: object }> {
	const enrolled = await post("/api/agent/v1/enroll", {
		token: await makeToken(),
	});
	const { api_key: key } = (await enrolled.json()) as { api_key: string };
	const facts = heartbeatBody();
	await post("/api/agent/v1/heartbeat", facts, key);
	return { key, facts };
}

/**
 * Sends every request that a device and an AI client may send, one of them with an unknown
 * credential.
 */
async function askEverything(key: string, facts: object): Promise<Response[]> {
	const answers: Response[] = [];
	const results = [postureResult()];
	const agent = "/api/agent/v1";
	answers.push(
		await post(`${agent}/heartbeat`, facts, key),
		await post(`${agent}/postures`, { results }, key),
		await post(`${agent}/enroll`, { token: makeSecret("enr") }),
		await post(`${agent}/heartbeat`, facts, makeSecret("dev")),
		await post(`${agent}/unenroll`, {}, key),
		await post("/api/mcp/tools/listOrganizations", {}, makeSecret("pat")),
	);
	return answers;
}

async function expectUnavailable(answers: Response[]): Promise<void> {
	for (const answer of answers) {
		const body = await answer.json();
		expect({ status: answer.status, body }).toMatchObject({
			status: 503,
			body: { error: "service_unavailable" },
		});
		expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
	}
}

const ready = async () => (await fetch(`${service.url}/health/ready`)).status;

/**
 * Makes every commit wait for the standby `name`, or for none if it is "". Returns when this is in
 * effect.
 */
async function awaitStandby(name: string): Promise<void> {
	const [client, canceller] = [
		await postgres.connect(),
		await postgres.connect(),
	];
	await client.query(`alter system set synchronous_standby_names = '${name}'`);
	await client.query("select pg_reload_conf()");
	const pid = (await client.query("select pg_backend_pid() as pid")).rows[0]
		.pid;
	let waits = false;
	// A statement that is cancelled while it waits for a standby has committed. PostgreSQL sends a
	// warning about that, which shows that commits wait.
	client.on("notice", () => {
		waits = true;
	});
	// The checkpointer passes the setting on to the other processes when it has time.
	const commitWaits = async () => {
		waits = false;
		const commit = client.query(
			"select pg_logical_emit_message(true, 'test', '')",
		);
		// On a busy machine, the commit may end before it is canceled. This query then fails.
		const cancel = () =>
			canceller.query("select pg_cancel_backend($1)", [pid]).catch(() => {});
		const timer = setTimeout(cancel, 500);
		await commit.finally(() => clearTimeout(timer));
		return waits;
	};
	await expect.poll(commitWaits).toBe(name !== "");
	await client.end();
	await canceller.end();
}

test("a service whose database is a standby is not ready and answers 503, never 401, until the standby is promoted", async () => {
	const { key, facts } = await activateDevice();
	expect(await ready()).toBe(200);

	await postgres.stop();
	const data = dirname(postgres.socket);
	await writeFile(join(data, "standby.signal"), "", { mode: 0o666 });
	await postgres.start();

	expect(await ready()).toBe(503);
	// The second round must not find a connection that the first one left.
	await expectUnavailable(await askEverything(key, facts));
	await expectUnavailable(await askEverything(key, facts));
	expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
	const refused = await startService().catch((error) => toAppError(error));
	expect(refused).toMatchObject({
		code: "service_unavailable",
		message: expect.stringContaining("does not accept writes"),
	});

	const client = await postgres.connect();
	await client.query("select pg_promote()");
	await client.end();
	await expect.poll(ready).toBe(200);
	const statuses = (await askEverything(key, facts)).map(
		({ status }) => status,
	);
	expect(statuses).toEqual([200, 204, 401, 401, 204, 401]);
});

test("while a database has become read-only under open connections, the service is not ready and answers 503", async () => {
	const { key, facts } = await activateDevice();
	const set = async (value: string) => {
		const client = await postgres.connect();
		await client.query("set default_transaction_read_only = off");
		await client.query(
			`alter system set default_transaction_read_only = ${value}`,
		);
		await client.query("select pg_reload_conf()");
		await client.end();
	};
	await set("on");
	await expect.poll(ready).toBe(503);
	await expect
		.poll(
			async () => (await post("/api/agent/v1/heartbeat", facts, key)).status,
		)
		.toBe(503);
	await set("off");
	await expect.poll(ready).toBe(200);
	await expect
		.poll(
			async () => (await post("/api/agent/v1/heartbeat", facts, key)).status,
		)
		.toBe(200);
});

test("a write that waits for a lost synchronous standby is answered with 503 and not acknowledged", async () => {
	const { key, facts } = await activateDevice();
	const token = await makeToken();
	const results = [postureResult()];
	await awaitStandby("lost");
	try {
		// The statements time out after 10 s. PostgreSQL must not report them as committed.
		await expectUnavailable(
			await Promise.all([
				post("/api/agent/v1/heartbeat", facts, key),
				post("/api/agent/v1/postures", { results }, key),
				post("/api/agent/v1/enroll", { token }),
			]),
		);
	} finally {
		await awaitStandby("");
	}
	await expect
		.poll(
			async () => (await post("/api/agent/v1/heartbeat", facts, key)).status,
		)
		.toBe(200);
});

test("a connection whose server has become read-only is not used again, no matter which statement notices it", async () => {
	const pool = makePool({ connectionString: postgres.url }, { max: 1 });
	const write = "insert into notes values (1)";
	const owner = await postgres.connect();
	await owner.query("create table notes (id integer)");
	await owner.query(
		`grant insert on notes to ${await nameOfRole(owner, "app")}`,
	);
	await owner.end();
	const ways = {
		"a transaction": () =>
			transaction(pool, {}, async (client) => {
				await client.query(write);
			}),
		"a statement": async () => {
			await pool.query(write);
		},
		"the question whether it is ready": () => assertTakesWrites(pool),
	};
	try {
		for (const [name, use] of Object.entries(ways)) {
			// With this setting, as on a primary that was demoted, current and new transactions can only
			// read.
			await pool.query("set default_transaction_read_only = on");
			const error = await use().then(() => undefined, toAppError);
			expect(error?.code, name).toBe("service_unavailable");
			await use();
		}
	} finally {
		await pool.end();
	}
});
