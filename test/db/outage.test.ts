import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { makePool, withTenant } from "../../src/db/pool.ts";
import { createDevice } from "../../src/devices/enrollment.ts";
import { makeId } from "../../src/id.ts";
import { makeLogger } from "../../src/log.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { type Service, serve } from "../../src/serve.ts";
import {
	type EmbeddedProcess,
	startEmbeddedProcess,
} from "../support/embedded.ts";
import { makeFolder } from "../support/folder.ts";
import { copyDataFolder } from "../support/made-data.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";

let folder: string;
let postgres: EmbeddedProcess;
let service: Service;
let organizationId: string;

/**
 * Starts a PostgreSQL that belongs to a separate process, so that nothing in this process starts it
 * again.
 */
function startPostgres(): Promise<EmbeddedProcess> {
	return startEmbeddedProcess({
		dataDir: join(folder, "data"),
		baseFolder: join(folder, "base"),
	});
}

/** Kills the process that would restart the server, and then the server. */
async function endPostgres(signal: NodeJS.Signals): Promise<void> {
	await postgres.kill();
	process.kill(postgres.pid, signal);
}

function urlOf({ connection }: EmbeddedProcess): string {
	const url = new URL(`postgres://localhost:${connection.port}/assay`);
	url.username = connection.user;
	url.password = connection.password;
	url.searchParams.set("host", connection.host);
	return url.href;
}

beforeAll(async () => {
	folder = await makeFolder("assay-outage-");
	await copyDataFolder(join(folder, "data"));
	postgres = await startPostgres();
	const databaseUrl = urlOf(postgres);
	service = await serve(
		readConfig({
			ASSAY_PORT: "0",
			ASSAY_SECRET: "what the sessions of the tests are signed with",
			DATABASE_URL: databaseUrl,
		}),
		makeLogger("silent"),
	);
	const pool = makePool({ connectionString: databaseUrl }, { max: 1 });
	organizationId = await createOrganization(pool, "Acme");
	await pool.end();
});

afterAll(async () => {
	await service?.close();
	await postgres?.leave();
	await rm(folder, { recursive: true, force: true });
});

const post = (route: string, body: unknown, key?: string) =>
	fetch(`${service.url}/api/agent/v1/${route}`, {
		method: "POST",
		body: JSON.stringify(body),
		headers: key ? { authorization: `Bearer ${key}` } : {},
	});

async function makeActiveDevice() {
	const pool = makePool({ connectionString: urlOf(postgres) }, { max: 1 });
	const created = await withTenant(pool, organizationId, (client) =>
		createDevice(client, {
			organizationId,
			name: undefined,
			tokenDays: 1,
			createdBy: "test",
		}),
	);
	await pool.end();
	const enrolled = await post("enroll", { token: created.enrollment_token });
	const { api_key: key } = (await enrolled.json()) as { api_key: string };
	const facts = heartbeatBody();
	await post("heartbeat", facts, key);
	return { id: created.device_id, key, facts };
}

/** Sends requests until the service is ready again. The test's own timeout limits the wait. */
async function untilReady() {
	for (;;) {
		const { status } = await fetch(`${service.url}/health/ready`);
		if (status === 200) return;
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
}

for (const signal of ["SIGINT", "SIGQUIT"] as const) {
	const how = signal === "SIGINT" ? "stopped" : "crashed";
	test(`a database ${how} in the middle of the work: 503 with Retry-After, never 401, and no acknowledged write is lost`, async () => {
		const devices = await Promise.all(
			Array.from({ length: 12 }, makeActiveDevice),
		);
		const acknowledged: string[] = [];
		const statuses = new Set<number>();
		let isOver = false;

		const work = devices.map(async (device) => {
			while (!isOver) {
				const reportId = makeId(organizationId, "device_posture_report");
				const results = [postureResult({ correlation_id: reportId })];
				const report = await post("postures", { results }, device.key);
				statuses.add(report.status);
				if (report.status === 204) acknowledged.push(reportId);
				if (report.status === 503) {
					expect(report.headers.get("retry-after")).toMatch(/^\d+$/);
					expect(await report.json()).toMatchObject({
						error: "service_unavailable",
					});
				}
				const beat = await post("heartbeat", device.facts, device.key);
				statuses.add(beat.status);
				await beat.arrayBuffer();
			}
		});

		const until = async (reached: () => boolean) => {
			while (!reached()) await new Promise((resolve) => setTimeout(resolve, 5));
		};
		await until(() => acknowledged.length > 50);
		await endPostgres(signal);
		await until(() => statuses.has(503));

		expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
		expect((await fetch(`${service.url}/health/ready`)).status).toBe(503);
		expect((await post("enroll", { token: "nonsense" })).status).toBe(401);
		expect((await post("heartbeat", {}, "asy_dev_nonsense")).status).toBe(401);
		expect((await post("heartbeat", "broken", devices[0]?.key)).status).toBe(
			503,
		);
		expect((await post("unenroll", {}, devices[0]?.key)).status).toBe(503);

		postgres = await startPostgres();
		await untilReady();
		const before = acknowledged.length;
		await until(() => acknowledged.length > before + 50);
		isOver = true;
		await Promise.all(work);

		expect([...statuses].sort()).toEqual([200, 204, 503]);
		const client = new Client(postgres.connection);
		await client.connect();
		const { rows } = await client.query(
			"select id from unnest($1::text[]) id where not exists (select from posture_reports where report_id = id)",
			[acknowledged],
		);
		const { rows: stored } = await client.query<{ doubles: number }>(
			"select count(*)::int - count(distinct report_id)::int as doubles from posture_reports",
		);
		await client.end();
		expect(rows).toEqual([]);
		expect(stored).toEqual([{ doubles: 0 }]);
	});
}
