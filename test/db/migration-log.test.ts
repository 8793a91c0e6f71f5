import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { migrate, readMigrations, type Step } from "../../src/db/migrate.ts";
import { serve } from "../../src/serve.ts";
import { runCommand } from "../support/command.ts";
import {
	createDatabaseForTest,
	createEmptyDatabase,
} from "../support/database.ts";
import { ReadableLog } from "../support/readable-log.ts";

const names = readMigrations().map(({ name }) => name);

/** Starts and stops the service. Returns the log lines about migrations. */
async function startOnce(databaseUrl: string) {
	const log = new ReadableLog();
	const config = readConfig({
		ASSAY_PORT: "0",
		ASSAY_SECRET: "what the sessions of the tests are signed with",
		DATABASE_URL: databaseUrl,
	});
	await (await serve(config, log.logger)).close();
	return log.lines.filter((line) => /tables|migrat/.test(String(line.msg)));
}

test("the first start logs one line about all migrations, an upgrade one line for each, and another start none", async () => {
	const fresh = await createEmptyDatabase();
	expect(await startOnce(fresh)).toMatchObject([
		{
			migrations: names.length,
			durationMs: expect.any(Number),
			msg: expect.stringMatching(
				new RegExp(
					`^created the tables: ${names.length} migrations in [\\d.]+ s$`,
				),
			),
		},
	]);
	expect(await startOnce(fresh)).toEqual([]);

	const old = await createEmptyDatabase();
	await migrate({ connectionString: old }, readMigrations().slice(0, -2));
	expect(await startOnce(old)).toMatchObject(
		names.slice(-2).map((migration) => ({ migration, msg: "migrated" })),
	);
});

test("each step of a start is told, with the number of migrations that are left", async () => {
	const { url } = await createDatabaseForTest();
	const present = readMigrations();
	const later = ["first.sql", "second.sql"].map((name, index) => ({
		version: present.length + 1 + index,
		name,
		sql: "select 1",
		checksum: name,
	}));
	const steps: Step[] = [];
	await migrate(
		{ connectionString: url },
		[...present, ...later],
		"make",
		(step) => steps.push(step),
	);
	expect(steps).toEqual([
		"waiting until no other process changes the tables",
		"migration 1 of 2, first.sql",
		"migration 2 of 2, second.sql",
	]);
});

test("assay migrate prints one line about a new database", async () => {
	const settings = { DATABASE_URL: await createEmptyDatabase() };
	expect(await runCommand(["migrate"], settings)).toMatchObject({
		code: 0,
		stdout: `Created the tables with ${names.length} migrations.\n`,
	});
	expect((await runCommand(["migrate"], settings)).stdout).toBe(
		"The database has the newest schema.\n",
	);
});
