import { spawn } from "node:child_process";
import { once } from "node:events";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { migrate, readMigrations } from "../../src/db/migrate.ts";
import { createEmptyDatabase } from "../support/database.ts";
import { PROGRAM, withSettings } from "../support/program.ts";

test("migrate says on standard error for whom it waits, and then applies the migration", async () => {
	const url = await createEmptyDatabase();
	const before = readMigrations();
	const last = before.pop()?.name;
	await migrate({ connectionString: url }, before);
	const backup = new Client({
		connectionString: url,
		application_name: "assay backup",
	});
	await backup.connect();
	onTestFinished(() => backup.end());
	// Every migration writes into this table.
	await backup.query("begin; lock table migrations in share mode");

	const command = spawn(process.execPath, [PROGRAM, "migrate", "--json"], {
		env: withSettings({ DATABASE_URL: url }),
	});
	const closed = once(command, "close");
	onTestFinished(() => void command.kill());
	let stdout = "";
	let stderr = "";
	command.stdout.on("data", (text) => {
		stdout += text;
	});
	command.stderr.on("data", (text) => {
		stderr += text;
	});
	await expect
		.poll(() => stderr)
		.toMatch(
			/^still waiting after \d+ s: migration 1 of 1, .+, which waits for assay backup \(pid \d+\)$/m,
		);
	await backup.query("commit");
	expect(await closed).toEqual([0, null]);
	expect(JSON.parse(stdout)).toEqual({ applied: [last] });
});
