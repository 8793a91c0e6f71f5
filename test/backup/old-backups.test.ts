import { existsSync, utimesSync, writeFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { folderPlace } from "../../src/backup/folder-place.ts";
import {
	deleteOldBackups,
	lostOrganizations,
} from "../../src/backup/old-backups.ts";
import {
	examineOrganizations,
	examineRefused,
	warnOfLostOrganizations,
} from "../../src/cli/doctor-backup.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { query } from "../support/backups.ts";
import { runCommand } from "../support/command.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { makeFolder } from "../support/folder.ts";

let database: TestDatabase;
let folder: string;
beforeEach(async () => {
	database = await createDatabase();
	folder = await makeFolder("assay-old-backups-");
});
afterEach(async () => {
	await database.drop();
	await rm(folder, { recursive: true, force: true });
});

function put(name: string, days: number): void {
	const file = join(folder, name);
	writeFileSync(file, name);
	const time = new Date(Date.now() - days * 86_400_000);
	utimesSync(file, time, time);
}

const backUp = (
	name: string,
	url = database.url,
	settings: Record<string, string> = {},
) =>
	runCommand(["backup", "--delete-old", "--json", join(folder, name)], {
		DATABASE_URL: url,
		...settings,
	});

const names = async () =>
	(await readdir(folder)).filter((name) => name.startsWith("assay-")).sort();

test("old backups are deleted, and nothing else in the folder is", async () => {
	await createOrganization(database.pool, "Acme");
	put("assay-1.backup", 31);
	put("assay-2.backup", 29);
	put("assay-3.backup", 28);
	put("before-upgrade.backup", 31);
	put("assay-notes.txt", 31);
	const { code, stdout, stderr } = await backUp("assay-4.backup");
	expect(code, stderr).toBe(0);
	expect(JSON.parse(stdout).deleted_files).toEqual(["assay-1.backup"]);
	expect((await readdir(folder)).sort()).toEqual([
		"assay-2.backup",
		"assay-3.backup",
		"assay-4.backup",
		"assay-notes.txt",
		"assay-organizations.json",
		"before-upgrade.backup",
	]);
	const sooner = { ASSAY_BACKUP_KEEP_DAYS: "28" };
	await backUp("assay-5.backup", undefined, sooner);
	expect(await names()).not.toContain("assay-2.backup");
	await backUp("assay-6.backup", undefined, { ASSAY_BACKUP_KEEP_DAYS: "0" });
	expect(await names()).toContain("assay-3.backup");
});

test("an empty database never deletes the backups of the one that was lost", async () => {
	await createOrganization(database.pool, "Acme");
	for (const number of [1, 2, 3, 4]) put(`assay-${number}.backup`, 29);
	expect((await backUp("assay-5.backup")).code).toBe(0);
	for (const number of [1, 2, 3, 4]) put(`assay-${number}.backup`, 60);
	const before = await names();

	const empty = await createDatabase();
	const lost = await backUp("assay-6.backup", empty.url);
	expect(lost.code).toBe(1);
	expect(lost.stderr).toContain("nobody deleted");
	expect(lost.stderr).toContain("restore a backup (docs/backup.md)");
	expect(await query(empty.url, "select from last_backup")).toEqual([]);
	// Somebody sets the empty installation up.
	await createOrganization(empty.pool, "Acme");
	expect((await backUp("assay-7.backup", empty.url)).code).toBe(1);
	expect(await names()).toEqual(
		[...before, "assay-6.backup.refused", "assay-7.backup.refused"].sort(),
	);
	const client = new Client({ connectionString: empty.url });
	await client.connect();
	const places = [folderPlace(folder)];
	expect(await examineOrganizations(client, places)).toMatchObject([
		{ check: "organizations", status: "problem" },
	]);
	// A start does not offer to set up the service without saying so.
	const lines: object[] = [];
	const log = pino({}, { write: (line) => lines.push(JSON.parse(line)) });
	await warnOfLostOrganizations(client, places, log);
	expect(lines).toEqual([
		expect.objectContaining({
			level: 40,
			msg: expect.stringContaining("restore a backup (docs/backup.md)"),
		}),
	]);

	// An operator says that this is right.
	await rm(join(folder, "assay-organizations.json"));
	expect(await examineOrganizations(client, places)).toEqual([]);
	expect((await backUp("assay-8.backup", empty.url)).code).toBe(0);
	// The newest three are kept. The refused ones do not count among them.
	expect((await names()).filter((name) => name.endsWith(".backup"))).toEqual([
		expect.stringContaining("assay-"),
		"assay-5.backup",
		"assay-8.backup",
	]);
	await client.end();
	await empty.drop();
});

test("only the newest three refused backups stay, and doctor names them until an accepted one deletes them", async () => {
	await createOrganization(database.pool, "Acme");
	expect((await backUp("assay-1.backup")).code).toBe(0);
	for (const number of [2, 3, 4]) put(`assay-${number}.backup.refused`, 31);
	put("before-upgrade.backup.refused", 31);
	const empty = await createDatabase();
	expect((await backUp("assay-5.backup", empty.url)).code).toBe(1);
	await empty.drop();
	expect(
		(await names()).filter((name) => name.endsWith(".refused")),
	).toHaveLength(3);
	expect(await examineRefused(folder)).toMatchObject([
		{
			check: "refused backups",
			status: "warning",
			found: expect.stringMatching(
				/assay-5\.backup\.refused and 2 earlier ones, .* ago$/,
			),
		},
	]);

	// Young ones stay until they are as old as other backups may become.
	expect((await backUp("assay-6.backup")).code).toBe(0);
	expect((await readdir(folder)).sort()).toEqual([
		"assay-1.backup",
		"assay-5.backup.refused",
		"assay-6.backup",
		"assay-organizations.json",
		"before-upgrade.backup.refused",
	]);
	put("assay-5.backup.refused", 31);
	expect((await backUp("assay-7.backup")).code).toBe(0);
	expect(await examineRefused(folder)).toEqual([]);
});

test("without any organization and without a note, nothing is deleted either", async () => {
	for (const number of [1, 2, 3, 4]) put(`assay-${number}.backup`, 60);
	expect((await backUp("assay-5.backup")).code).toBe(0);
	expect(await names()).toHaveLength(5);
	expect(existsSync(join(folder, "assay-organizations.json"))).toBe(false);
});

test("an organization that was deleted on purpose is not missed", async () => {
	const place = folderPlace(folder);
	const known = { present: ["a"], deleted: [] };
	await deleteOldBackups(place, 30, "assay-1.backup", {
		...known,
		present: ["a", "b"],
	});
	const note = await place.readNote();
	expect(lostOrganizations(note, known)).toEqual(["b"]);
	expect(lostOrganizations(note, { ...known, deleted: ["b"] })).toEqual([]);
	expect(lostOrganizations("not JSON", known)).toEqual([]);
});

test("the newest three backups stay even if the clock makes them look old", async () => {
	for (const number of [1, 2, 3, 4])
		put(`assay-${number}.backup`, 100 + number);
	const known = { present: ["a"], deleted: [] };
	const place = folderPlace(folder);
	expect(await deleteOldBackups(place, 1, "assay-4.backup", known)).toEqual([]);
	expect(await deleteOldBackups(place, 1, "assay-1.backup", known)).toEqual([
		"assay-4.backup",
	]);
});

test("--delete-old needs a folder", async () => {
	const { code, stderr } = await runCommand(["backup", "--delete-old", "-"], {
		DATABASE_URL: database.url,
	});
	expect(code).toBe(1);
	expect(stderr).toContain("--delete-old needs the name of a file");
});
