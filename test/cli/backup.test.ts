import { execFile } from "node:child_process";
import {
	readFileSync,
	statSync,
	truncateSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { sealAll } from "../../src/audit/sealer.ts";
import { examinePartials } from "../../src/cli/doctor-backup.ts";
import { catalogue, query } from "../support/backups.ts";
import { runCommand } from "../support/command.ts";
import {
	createDatabaseForTest,
	createEmptyDatabase,
} from "../support/database.ts";
import { makeFolder } from "../support/folder.ts";
import { startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let folder: string;
let file: string;
beforeAll(async () => {
	tools = await startTools();
	folder = await makeFolder("assay-backup-");
	file = join(folder, "assay.backup");
	const { organizationId: organization_id } = tools;
	await tools.use("addVendor", { organization_id, name: "Cloud" });
	await tools.activateDevice();
	// The service seals within a second, which may be after the backup.
	await sealAll(tools.database.pool);
	const made = await backup(file);
	expect(made, made.stderr).toMatchObject({ code: 0 });
});
afterAll(async () => {
	await tools.close();
	await rm(folder, { recursive: true, force: true });
});

const at = (url = tools.database.url) => ({ DATABASE_URL: url });
const backup = (...args: string[]) => runCommand(["backup", ...args], at());

test("a backup file is readable only by its owner, and an existing file is never overwritten", async () => {
	expect(statSync(file).mode & 0o777).toBe(0o600);
	const before = readFileSync(file);
	const again = await backup(file);
	expect(again).toMatchObject({ code: 1, stdout: "" });
	expect(again.stderr).toContain("already exists");
	expect(readFileSync(file)).toEqual(before);
	expect(await readdir(folder)).toEqual(["assay.backup"]);
});

test("two backups to the same file do not mix, and the error names the remains of a killed one", async () => {
	const name = join(folder, "two");
	writeFileSync(`${name}.partial`, "");
	onTestFinished(() => rm(`${name}.partial`, { force: true }));
	const { code, stderr } = await backup(name);
	expect(code).toBe(1);
	expect(stderr).toContain(`${name}.partial already exists`);
	expect(readFileSync(`${name}.partial`, "utf8")).toBe("");
});

test("the database knows its last backup, and doctor reports one that is too old or has a broken log", async () => {
	const { owner, url } = tools.database;
	const finding = async () => {
		const { stdout } = await runCommand(["doctor", "--json"], at(url));
		return JSON.parse(stdout).findings.find(
			({ check }: { check: string }) => check === "backup",
		);
	};
	const { stdout } = await backup("--json", join(folder, "noted"));
	onTestFinished(() => rm(join(folder, "noted")));
	const { rows } = await owner.query(
		"select made_at = $1 as is_noted, has_sound_logs from last_backup",
		[JSON.parse(stdout).made_at],
	);
	expect(rows).toEqual([{ is_noted: true, has_sound_logs: true }]);
	expect(await finding()).toMatchObject({
		status: "ok",
		found: expect.stringMatching(/^the last backup was made .+ ago$/),
	});
	await owner.query(
		"update last_backup set made_at = now() - interval '50 hours'",
	);
	expect(await finding()).toMatchObject({
		status: "warning",
		found: "the last backup was made 2 days ago",
	});
	await owner.query("update last_backup set has_sound_logs = false");
	expect((await finding()).status).toBe("problem");
	await owner.query("delete from last_backup");
	expect(await finding()).toMatchObject({ status: "ok" });
	await owner.query(
		"update organizations set created_at = now() - interval '3 days'",
	);
	expect(await finding()).toMatchObject({
		status: "warning",
		found:
			"no backup was made since the first organization was created 3 days ago",
	});
});

test("a backup removes what killed backups left an hour ago, and nothing else", async () => {
	const place = await makeFolder("assay-partials-");
	onTestFinished(() => rm(place, { recursive: true }));
	const begin = readFileSync(file).subarray(0, 100);
	for (const [name, content, minutes] of [
		["old.backup.partial", begin, 61],
		["empty.backup.partial", "", 61],
		["new.backup.partial", begin, 59],
		["download.partial", "something else", 61],
		["old.backup", begin, 61],
	] as const) {
		writeFileSync(join(place, name), content);
		const time = new Date(Date.now() - minutes * 60_000);
		utimesSync(join(place, name), time, time);
	}
	expect(await examinePartials(place)).toMatchObject([
		{
			status: "warning",
			found: expect.stringMatching(/ left \S+\.partial and 1 more$/),
		},
	]);
	const { code, stderr } = await backup(join(place, "tonight.backup"));
	expect(code, stderr).toBe(0);
	expect(await examinePartials(place)).toEqual([]);
	expect((await readdir(place)).sort()).toEqual([
		"download.partial",
		"new.backup.partial",
		"old.backup",
		"tonight.backup",
	]);
	expect(stderr).toContain("old.backup.partial, which");
});

test("the error names a file that cannot be written, and no part of the file is left", async () => {
	const { code, stderr } = await backup(join(folder, "no", "such", "folder"));
	expect(code).toBe(1);
	expect(stderr).toMatch(/cannot be written: no such file or directory/);
	expect(stderr).toContain(`the folder ${join(folder, "no/such")} does not`);
	expect(stderr).not.toMatch(/node:internal|\.ts:\d/);
});

test("the error names the user who may not write or read a file, and another way", async () => {
	const { username } = userInfo();
	// Nobody may do this in these folders of Linux, not even root.
	const written = await backup("/sys/assay.backup");
	expect(written.code).toBe(1);
	expect(written.stderr).toContain(
		`this command works as the user ${username}, who may not write in /sys; name a file in a folder of this user`,
	);
	expect(written.stderr).toContain(
		"or write to standard output (- > /sys/assay.backup)",
	);
	const secret = "/proc/sys/net/ipv4/route/flush";
	const read = await runCommand(["backup", "--verify", secret]);
	expect(read.code).toBe(1);
	expect(read.stderr).toContain(
		`this command works as the user ${username}, who may not read it;`,
	);
	expect(read.stderr).toContain(
		`pass the file on standard input (- < ${secret})`,
	);
});

test("--json describes the backup, and the progress is not printed on standard output", async () => {
	const name = join(folder, "json");
	const { code, stdout, stderr } = await backup(name, "--json");
	onTestFinished(() => rm(name));
	expect(code).toBe(0);
	expect(JSON.parse(stdout)).toMatchObject({
		file: name,
		made_by: expect.stringMatching(/^\d/) as string,
		organizations: 2,
		users: 4,
		devices: 1,
		records: 1,
		rows: { vendors: 1 },
		audit_problems: [],
	});
	expect(stderr).toContain("vendors: 1 rows");
});

test("--verify reads a file without a database", async () => {
	const verify = (name: string) =>
		runCommand(
			["backup", "--verify", name, "--json"],
			at("postgres://localhost:1/none"),
		);
	const whole = await verify(file);
	expect(whole).toMatchObject({ code: 0 });
	expect(JSON.parse(whole.stdout)).toMatchObject({
		is_whole: true,
		organizations: 2,
	});

	const cut = join(folder, "cut");
	writeFileSync(cut, readFileSync(file));
	truncateSync(cut, 1000);
	onTestFinished(() => rm(cut));
	const damaged = await verify(cut);
	expect(damaged).toMatchObject({ code: 1, stdout: "" });
	expect(damaged.stderr).toContain("damaged or cut off");
	expect((await verify(join(folder, "none"))).stderr).toContain("no such file");
});

test("a pipe moves a database from one server to another", async () => {
	const url = await createEmptyDatabase();
	const program = `${process.execPath} bin/assay.js`;
	const { stdout, stderr } = await promisify(execFile)(
		"sh",
		[
			"-c",
			`DATABASE_URL='${tools.database.url}' ${program} backup - | DATABASE_URL='${url}' ${program} restore - --json`,
		],
		{ env: { PATH: process.env.PATH } },
	);
	expect(JSON.parse(stdout)).toMatchObject({
		organizations: 2,
		devices: 1,
		migrated: [],
		audit_problems: [],
	});
	expect(stderr).toContain("is complete");
	const verified = await runCommand(["audit", "verify"], at(url));
	expect(verified).toMatchObject({ code: 0 });
});

test("a backup fails with a message when its reader goes away", async () => {
	const { stderr } = await promisify(execFile)(
		"sh",
		[
			"-c",
			`{ DATABASE_URL='${tools.database.url}' ${process.execPath} bin/assay.js backup -; echo "ended with $?" >&2; } | true`,
		],
		{ env: { PATH: process.env.PATH } },
	);
	expect(stderr).toContain("the program that reads standard output has ended");
	expect(stderr).toContain("ended with 1");
	expect(stderr).not.toMatch(/node:internal/);
});

test("a damaged audit log is backed up and restored unchanged, and both commands name it and exit with 1", async () => {
	const { url: broken } = await createDatabaseForTest();
	const sound = await runCommand(["restore", file], at(broken));
	expect(sound.code).toBe(0);
	expect(sound.stdout).toMatch(/Restored the backup of \d{4}-/);
	expect(sound.stdout).toMatch(/organizations +2\n/);
	expect(sound.stdout).toContain("ASSAY_SECRET");
	expect(sound.stdout).toContain(
		"The audit log of each organization is sound.",
	);
	await query(
		broken,
		"update audit_entries e set actor_name = 'somebody else' from audit_seals s where s.entry_id = e.id and s.sequence = 1",
	);
	const name = join(folder, "broken");
	onTestFinished(() => rm(name, { force: true }));
	const unchecked = ["backup", name, "--no-audit-check", "--json"];
	const trusting = await runCommand(unchecked, at(broken));
	expect(trusting).toMatchObject({ code: 0 });
	expect(JSON.parse(trusting.stdout)).toMatchObject({ audit_problems: null });
	await rm(name);
	const careful = await runCommand(["backup", name], at(broken));
	expect(careful.code).toBe(1);
	expect(careful.stdout).toMatch(/PROBLEM .* entry 1 was changed/);
	const { url } = await createDatabaseForTest();
	const { code, stdout } = await runCommand(["restore", name], at(url));
	expect(code).toBe(1);
	expect(stdout).toMatch(/PROBLEM .* entry 1 was changed/);
	expect((await query(url, "select from organizations")).length).toBe(2);
});

test("a rejected file changes nothing, and the message reveals no internals", async () => {
	const url = await createEmptyDatabase();
	const text = join(folder, "text");
	writeFileSync(text, "this is a letter, not a backup");
	onTestFinished(() => rm(text));
	const { code, stdout, stderr } = await runCommand(["restore", text], at(url));
	expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
	expect(stderr.trim().split("\n").at(-1)).toMatch(
		/^assay: the file is not a backup of Assay/,
	);
	expect(stderr).not.toMatch(/\.ts:\d/);
	expect(await catalogue(url)).toEqual([]);
});

test("a folder without a database or a schema of Assay is not backed up, and nothing is created", async () => {
	const data = join(folder, "data");
	const none = await runCommand(["backup", join(folder, "x")], {
		ASSAY_DATA_DIR: data,
	});
	expect(none).toMatchObject({ code: 1, stdout: "" });
	expect(none.stderr).toContain(`there is no database in ${data}`);
	const empty = await runCommand(
		["backup", join(folder, "x")],
		at(await createEmptyDatabase()),
	);
	expect(empty).toMatchObject({ code: 1, stdout: "" });
	expect(empty.stderr).toContain("nothing to back up");
	expect((await readdir(folder)).sort()).toEqual(["assay.backup"]);
});
