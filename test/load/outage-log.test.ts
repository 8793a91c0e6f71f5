import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { openDatabaseProxy } from "../support/database-proxy.ts";
import { makeFolder } from "../support/folder.ts";
import { startAssay } from "../support/program.ts";

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
