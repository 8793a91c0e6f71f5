import { copyFileSync, truncateSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sealAll } from "../../src/audit/sealer.ts";
import { catalogue } from "../support/backups.ts";
import { runCommand } from "../support/command.ts";
import { createEmptyDatabase } from "../support/database.ts";
import { makeFolder } from "../support/folder.ts";
import { startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let file: string;
beforeAll(async () => {
	tools = await startTools();
	file = join(await makeFolder("assay-rehearsed-"), "assay.backup");
	await tools.use("addVendor", {
		organization_id: tools.organizationId,
		name: "Cloud",
	});
	await sealAll(tools.database.pool);
});
afterAll(() => tools.close());

const backUp = (name: string) =>
	runCommand(["backup", name], { DATABASE_URL: tools.database.url });

const rehearse = (name: string, ...options: string[]) =>
	runCommand(["restore", "--rehearse", name, ...options], {
		ASSAY_SECRET: "of-the-service-".padEnd(40, "x"),
	});

const rehearsals = async () =>
	(await readdir(tmpdir())).filter((name) =>
		name.startsWith("assay-rehearsal-"),
	);

test("a rehearsal restores into a database of its own, reports it, and removes it", async () => {
	expect((await backUp(file)).code).toBe(0);
	const url = await createEmptyDatabase();
	const { code, stdout, stderr } = await runCommand(
		["restore", "--rehearse", file],
		{ DATABASE_URL: url },
	);
	// It would be 1 if there were a problem of the audit log or of second factors.
	expect(code, stderr).toBe(0);
	expect(stdout).toMatch(/^This backup can be restored\. It took /);
	expect(stdout).toMatch(/organizations +2\n/);
	expect(stdout).not.toContain("This version then applied");
	expect(stdout).toContain("The audit log of each organization is sound.");
	expect(stdout).toContain("Second factors: ");
	expect(await catalogue(url)).toEqual([]);
	expect(await rehearsals()).toEqual([]);
});

test("a rehearsal ends with 1 if a log is broken, a second factor cannot be decrypted, or the file is cut off", async () => {
	const { owner } = tools.database;
	await owner.query(
		"insert into two_factors (id, user_id, secret, backup_codes) select repeat('x', 32), id, 'x', 'x' from users limit 1",
	);
	await owner.query(
		"update audit_entries e set actor_name = 'somebody else' from audit_seals s where s.entry_id = e.id and s.sequence = 1",
	);
	const second = `${file}-2`;
	await backUp(second);
	const found = await rehearse(second, "--json");
	expect(found.code).toBe(1);
	expect(JSON.parse(found.stdout)).toMatchObject({
		organizations: 2,
		records: 1,
		migrated: [],
		second_factors: { status: "problem" },
		audit_problems: [
			{ problem: expect.stringContaining("entry 1 was changed") },
			{ problem: expect.stringContaining("entry 1 was changed") },
		],
	});
	const cut = `${file}-cut`;
	copyFileSync(file, cut);
	truncateSync(cut, 2000);
	const rejected = await rehearse(cut);
	expect(rejected).toMatchObject({ code: 1, stdout: "" });
	expect(rejected.stderr).toContain("cut off");
	expect(await rehearsals()).toEqual([]);
});

test("options that would have no effect are refused", async () => {
	for (const option of ["--revoke-tokens", "--revoke-credentials"]) {
		const { code, stderr } = await rehearse(file, option);
		expect(code).toBe(1);
		expect(stderr).toContain("leave them out");
	}
});
