import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { openDatabaseProxy } from "../support/database-proxy.ts";
import { makeFolder } from "../support/folder.ts";
import { startAssay } from "../support/program.ts";
import { ReadableLog } from "../support/readable-log.ts";
import { heartbeatBody, startService } from "../support/service.ts";

let database: TestDatabase;
let folder: string;
beforeAll(async () => {
	database = await createDatabase();
	folder = await makeFolder("assay-outage-log-");
});
afterAll(async () => {
	await database.drop();
	await rm(folder, { recursive: true });
});

test("an outage of the database is logged at the first failure, with the cause, and at the end, with a count", async () => {
	const proxy = await openDatabaseProxy(database.url);
	const service = await startAssay({
		DATABASE_URL: proxy.url,
		ASSAY_DATA_DIR: join(folder, "data"),
	});
	const ready = () => fetch(`${service.url}/health/ready`);
	await proxy.cut();
	for (let n = 0; n < 20; n++) {
		expect((await ready()).status).toBe(503);
	}
	await proxy.restore();
	while (!service.stderr().includes("is back")) {
		await new Promise((done) => setTimeout(done, 50));
	}
	expect((await ready()).status).toBe(200);
	expect(await service.stop("SIGTERM")).toBe(0);
	const lines = service
		.stderr()
		.split("\n")
		.filter((line) => line.startsWith("{"))
		.map((line) => JSON.parse(line));
	// The service's own daily work writes log lines too, so the test keeps only the errors.
	const failures = lines.filter(
		({ err, level }) => err !== undefined && level === "error",
	);
	expect(failures).toMatchObject([
		{
			level: "error",
			requestId: expect.any(String),
			err: { stack: expect.any(String) },
		},
	]);
	expect(lines.filter(({ refused }) => refused !== undefined)).toMatchObject([
		{ refused: 20, seconds: expect.any(Number), causes: expect.any(Object) },
	]);
});

test("when the disk of the database is full, the log says what to do, and the caller learns only to retry", async () => {
	const log = new ReadableLog();
	const { logger } = log;
	const assay = await startService(undefined, {}, undefined, logger);
	try {
		const device = await assay.activateDevice();
		// PostgreSQL reports a full disk with this code and text.
		await assay.database.owner.query(`
			create function find_no_room() returns trigger language plpgsql as $$
			begin
				raise exception using errcode = '53100',
					message = 'could not extend file "base/5/16384": No space left on device';
			end $$;
			create trigger find_no_room before insert or update on devices
				for each statement execute function find_no_room()`);
		const facts = heartbeatBody({ hardware_uuid: device.hardwareUuid });
		const answer = await assay.post("heartbeat", facts, { key: device.key });
		expect(answer.status).toBe(503);
		expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
		const { message } = (await answer.json()) as { message: string };
		expect(message).toMatch(/^the service cannot store data at the moment/);
		expect(message).not.toMatch(/disk|space|file|database/);
		expect(log.lines.filter(({ advice }) => advice)).toMatchObject([
			{
				advice: expect.stringMatching(/disk .* is full: make room on it/),
				err: { code: "53100" },
			},
		]);
	} finally {
		await assay.close();
	}
});
