import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { catalogue } from "../support/backups.ts";
import { runCommand } from "../support/command.ts";
import { createEmptyDatabase } from "../support/database.ts";
import { makeFolder } from "../support/folder.ts";

let folder: string;
beforeAll(async () => {
	folder = await makeFolder("assay-missing-");
});
afterAll(() => rm(folder, { recursive: true }));

const ID = "A".repeat(32);
const EMAIL = ["--email", "ada@example.com"];
/**
 * Commands that need existing data, at least one from each file in src/cli/ that has such commands.
 */
const COMMANDS = [
	["audit", "verify"],
	["audit", "export"],
	["org", "list"],
	["setup-link"],
	["user", "list", "--org", ID],
	["user", "reset-link", ...EMAIL],
	["user", "export", ...EMAIL],
	["person", "export", "--org", ID, "--person", ID],
	["api-token", "list", "--user", "ada@example.com"],
	["device", "list", "--org", ID],
	["backup", "-"],
	["doctor"],
];

test("a folder that has a database is not called empty", async () => {
	const data = join(folder, "without-json");
	await mkdir(join(data, "postgres"), { recursive: true });
	const { stdout } = await runCommand(["doctor"], { ASSAY_DATA_DIR: data });
	expect(stdout).toContain("not postgres.json");
	expect(stdout).not.toContain("there is no database");
});

test("commands fail in a folder without a database and do not create one", async () => {
	const data = join(folder, "data");
	for (const command of COMMANDS) {
		const ended = await runCommand(command, { ASSAY_DATA_DIR: data });
		expect(ended.code, command.join(" ")).toBe(1);
		expect(ended.stdout + ended.stderr).toContain(
			`there is no database in ${data}`,
		);
	}
	expect(existsSync(data)).toBe(false);
});

test("a database without Assay's schema is rejected and not changed", async () => {
	const url = await createEmptyDatabase();
	for (const command of COMMANDS) {
		const ended = await runCommand(command, { DATABASE_URL: url });
		expect(ended.code, command.join(" ")).toBe(1);
		expect(ended.stdout + ended.stderr).toContain("no schema of Assay");
	}
	expect(await catalogue(url)).toEqual([]);
});

test("`org create` creates the database if there is none, and says so", async () => {
	const url = await createEmptyDatabase();
	const create = ["org", "create", "--name", "Acme"];
	const made = await runCommand(create, { DATABASE_URL: url });
	expect(made).toMatchObject({ code: 0 });
	expect(made.stderr).toContain("created a new database: the PostgreSQL named");
	expect((await runCommand(create, { DATABASE_URL: url })).stderr).toBe("");
	expect((await runCommand(["org", "list"], { DATABASE_URL: url })).code).toBe(
		0,
	);
});
