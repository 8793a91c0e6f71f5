import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import {
	afterAll,
	beforeAll,
	beforeEach,
	expect,
	onTestFinished,
	test,
} from "vitest";
import { readLastBackup } from "../../src/backup/last-backup.ts";
import {
	backupPlaces,
	examineOrganizations,
} from "../../src/cli/doctor-backup.ts";
import { readConfig } from "../../src/config/config.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { runCommand } from "../support/command.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { makeFolder } from "../support/folder.ts";
import { startS3Store, type TestS3Store } from "../support/s3-store.ts";

let store: TestS3Store;
let folder: string;
let database: TestDatabase;

beforeAll(async () => {
	folder = await makeFolder("assay-s3-");
	database = await createDatabase();
	await createOrganization(database.pool, "Acme");
	store = await startS3Store();
});
afterAll(async () => {
	store.close();
	await database.drop();
});
beforeEach(() => {
	store.stored.clear();
	store.failure = undefined;
});

const backUp = (name: string, settings: Record<string, string> = {}) =>
	runCommand(["backup", join(folder, name), "--json"], {
		DATABASE_URL: database.url,
		ASSAY_BACKUP_S3_URL: `${store.origin}/bucket/nightly%20backups`,
		ASSAY_BACKUP_S3_KEY: "id:secret",
		...settings,
	});

const lastBackup = async () => {
	const client = await database.pool.connect();
	try {
		return (await readLastBackup(client)).made_at;
	} finally {
		client.release();
	}
};

test("a backup that cannot be uploaded stays on the disk, fails the command and does not count", async () => {
	store.failure = { status: 403, code: "AccessDenied" };
	const { code, stderr } = await backUp("assay-denied.backup");
	expect(code).toBe(1);
	expect(stderr).toContain("the key may not do this in the bucket");
	expect(stderr).not.toContain("secret");
	expect(
		readFileSync(join(folder, "assay-denied.backup")).length,
	).toBeGreaterThan(100);
	expect(store.stored.size).toBe(0);
	expect(await lastBackup()).toBeNull();
});

test("a backup is uploaded whole, and counts then", async () => {
	const { code, stdout, stderr } = await backUp("assay-1.backup");
	expect(code, stderr).toBe(0);
	expect(JSON.parse(stdout)).toMatchObject({
		uploaded_to: `${store.origin}/bucket/nightly backups/assay-1.backup`,
		deleted: [],
	});
	expect(store.stored.get("nightly backups/assay-1.backup")?.body).toEqual(
		readFileSync(join(folder, "assay-1.backup")),
	);
	expect(await lastBackup()).not.toBeNull();
});

test("an upload never replaces a file", async () => {
	const body = Buffer.from("of another machine");
	store.stored.set("nightly backups/assay-2.backup", { body, at: new Date() });
	const { code, stderr } = await backUp("assay-2.backup");
	expect(code).toBe(1);
	expect(stderr).toContain("already has nightly backups/assay-2.backup");
	expect(store.stored.get("nightly backups/assay-2.backup")?.body).toBe(body);
});

test("a backup on standard output is not uploaded", async () => {
	const { code } = await runCommand(["backup", "-"], {
		DATABASE_URL: database.url,
		ASSAY_BACKUP_S3_URL: `${store.origin}/bucket`,
		ASSAY_BACKUP_S3_KEY: "id:secret",
	});
	expect(code).toBe(0);
	expect(store.stored.size).toBe(0);
});

test("a backup on standard output of a database that has lost an organization fails and does not count, and a store that is away keeps nobody from one", async () => {
	const empty = await createDatabase();
	onTestFinished(() => empty.drop());
	expect((await backUp("assay-compared.backup")).code).toBe(0);
	const pipe = (ASSAY_BACKUP_S3_URL: string) =>
		runCommand(["backup", "-"], {
			DATABASE_URL: empty.url,
			ASSAY_BACKUP_S3_URL,
			ASSAY_BACKUP_S3_KEY: "id:secret",
		});
	const noted = async () =>
		(await empty.owner.query("select from last_backup")).rowCount;
	const lost = await pipe(`${store.origin}/bucket/nightly%20backups`);
	expect(lost.code).toBe(1);
	expect(lost.stderr).toContain("do not keep it as a backup");
	expect(lost.stderr).toContain("bucket/nightly backups/ had organizations");
	expect(await noted()).toBe(0);

	const away = await pipe("http://127.0.0.1:1/bucket");
	expect(away.code, away.stderr).toBe(0);
	expect(away.stderr).toContain("not compared with the backups in");
	expect(await noted()).toBe(1);
});

test("old backups are deleted, and nothing else in the bucket is", async () => {
	const at = (days: number) => new Date(Date.now() - days * 86_400_000);
	const put = (name: string, days: number) =>
		store.stored.set(name, { body: Buffer.from(name), at: at(days) });
	put("nightly backups/assay-a b.backup", 31);
	put("nightly backups/assay-old.backup", 31);
	put("nightly backups/assay-young.backup", 29);
	put("nightly backups/assay-younger.backup", 28);
	put("nightly backups/notes.txt", 31);
	put("nightly backups/sub/assay-old.backup", 31);
	put("assay-elsewhere.backup", 31);
	const { code, stdout, stderr } = await backUp("assay-new.backup", {
		ASSAY_BACKUP_S3_KEEP_DAYS: "30",
	});
	expect(code, stderr).toBe(0);
	expect(JSON.parse(stdout).deleted.sort()).toEqual([
		"assay-a b.backup",
		"assay-old.backup",
	]);
	expect([...store.stored.keys()].sort()).toEqual([
		"assay-elsewhere.backup",
		"nightly backups/assay-new.backup",
		"nightly backups/assay-organizations.json",
		"nightly backups/assay-young.backup",
		"nightly backups/assay-younger.backup",
		"nightly backups/notes.txt",
		"nightly backups/sub/assay-old.backup",
	]);
});

test("a database that has lost an organization of the last upload deletes nothing in the store", async () => {
	const body = Buffer.from('{"organizations":["gone"]}');
	const note = "nightly backups/assay-organizations.json";
	const at = new Date(0);
	store.stored.set(note, { body, at });
	for (const name of ["a", "b", "c", "d"]) {
		store.stored.set(`nightly backups/assay-${name}.backup`, { body, at });
	}
	const { code, stderr } = await backUp("assay-lost.backup", {
		ASSAY_BACKUP_S3_KEEP_DAYS: "30",
	});
	expect(code).toBe(1);
	expect(stderr).toContain("that nobody deleted (gone)");
	expect(store.stored.size).toBe(5);
	expect(store.stored.get(note)?.body).toBe(body);
});

test("a store that keeps all backups takes none of a database that has lost an organization", async () => {
	const empty = await createDatabase();
	const { code, stderr } = await backUp("assay-kept.backup");
	expect(code, stderr).toBe(0);
	const before = [...store.stored.keys()].sort();
	expect(before).toEqual([
		"nightly backups/assay-kept.backup",
		"nightly backups/assay-organizations.json",
	]);
	const lost = await backUp("assay-lost-2.backup", { DATABASE_URL: empty.url });
	expect(lost.code).toBe(1);
	expect(lost.stderr).toContain(
		"assay-lost-2.backup.refused, was not uploaded",
	);
	expect([...store.stored.keys()].sort()).toEqual(before);

	const client = new Client({ connectionString: empty.url });
	await client.connect();
	const settings = {
		DATABASE_URL: empty.url,
		ASSAY_BACKUP_S3_URL: `${store.origin}/bucket/nightly%20backups`,
		ASSAY_BACKUP_S3_KEY: "id:secret",
	};
	const examine = (more = {}) =>
		examineOrganizations(
			client,
			backupPlaces(folder, readConfig({ ...settings, ...more })),
		);
	expect(await examine()).toMatchObject([
		{
			check: "organizations",
			status: "problem",
			found: expect.stringContaining(
				"bucket/nightly backups/ had organizations",
			),
		},
	]);
	expect(await examine({ ASSAY_BACKUP_S3_KEY: "other:secret" })).toMatchObject([
		{
			check: "store of backups",
			status: "problem",
			found: expect.stringContaining("check the secret in ASSAY_BACKUP_S3_KEY"),
		},
	]);
	await client.end();
	await empty.drop();
});

test("a store that cannot be reached is named, and the file stays", async () => {
	const { code, stderr } = await backUp("assay-3.backup", {
		ASSAY_BACKUP_S3_URL: "http://127.0.0.1:1/bucket",
	});
	expect(code).toBe(1);
	expect(stderr).toContain("http://127.0.0.1:1 cannot be reached");
	expect(stderr).toContain("assay-3.backup is complete, but its upload failed");
});
