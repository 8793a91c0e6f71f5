import { createHash } from "node:crypto";
import { Readable, Writable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { Client } from "pg";
import {
	afterAll,
	beforeAll,
	expect,
	inject,
	onTestFinished,
	test,
} from "vitest";
import { sealAll } from "../../src/audit/sealer.ts";
import { BackupReader } from "../../src/backup/read.ts";
import { restoreBackup } from "../../src/backup/restore.ts";
import { SEAL_LENGTH, seal } from "../../src/backup/seal.ts";
import { writeBackup } from "../../src/backup/write.ts";
import { readMigrations } from "../../src/db/migrate.ts";
import {
	allRows,
	type Backup,
	backUp,
	catalogue,
	connectTo,
	query,
	restore,
} from "../support/backups.ts";
import {
	createDatabaseForTest,
	createEmptyDatabase,
	dropDatabase,
	type TestDatabase,
	withDatabaseName,
} from "../support/database.ts";
import { postureResult, startService } from "../support/service.ts";

let database: TestDatabase;
let backup: Backup;
beforeAll(async () => {
	const served = await startService();
	database = served.database;
	await database.owner.query(
		"insert into users (id, name, email) values (repeat('u', 32), $1, 'ada@example.com')",
		["\\.\n\\.\n\\N\t\\"],
	);
	const { key } = await served.activateDevice();
	await served.post("postures", { results: [postureResult()] }, { key });
	await sealAll(database.pool);
	// The tests compare all rows, and the service would count the devices again every ten seconds.
	await served.service.close();
	backup = await backUp(database.url);
});
afterAll(() => database.drop());

/** Reads the backup to its end. Rejects if it is damaged or incomplete. */
async function verify(file: Buffer, pieceLength = 1 << 20): Promise<void> {
	const pieces: Buffer[] = [];
	for (let at = 0; at < file.length; at += pieceLength) {
		pieces.push(file.subarray(at, at + pieceLength));
	}
	const reader = await BackupReader.open(Readable.from(pieces));
	await reader.drain();
}

/** Returns the backup with a changed text and a seal that matches it. */
async function rewritten(change: (text: string) => string): Promise<Buffer> {
	const frame = backup.file.subarray(0, -SEAL_LENGTH);
	const text = change(zstdDecompressSync(frame).toString());
	return buffer(Readable.from(seal(Readable.from([zstdCompressSync(text)]))));
}

const REFUSED = { code: "bad_request" };

test("a complete file is accepted when it arrives in pieces of any length", async () => {
	for (const length of [1, 2, 3, 5, 41, 4096, backup.file.length]) {
		await verify(backup.file, length);
	}
});

test("a backup cut off anywhere is rejected", async () => {
	const { length } = backup.file;
	const lengths = [
		0,
		1,
		3,
		4,
		39,
		40,
		41,
		length - 41,
		length - 40,
		length - 39,
		length - 1,
	];
	for (let at = 50; at < length; at += 389) lengths.push(at);
	for (const at of lengths) {
		await expect(
			verify(backup.file.subarray(0, at)),
			`${at}`,
		).rejects.toMatchObject(REFUSED);
	}
});

test("a backup with any byte changed, removed or inserted is rejected", async () => {
	const { file } = backup;
	for (
		let at = 0;
		at < file.length;
		at += at < 60 || at > file.length - 60 ? 1 : 389
	) {
		const changed = Buffer.from(file);
		changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
		const without = Buffer.concat([
			file.subarray(0, at),
			file.subarray(at + 1),
		]);
		const more = Buffer.concat([
			file.subarray(0, at),
			Buffer.from("x"),
			file.subarray(at),
		]);
		for (const damaged of [changed, without, more]) {
			await expect(verify(damaged), `${at}`).rejects.toMatchObject(REFUSED);
		}
	}
	for (const extra of [Buffer.from("x"), file]) {
		await expect(verify(Buffer.concat([file, extra]))).rejects.toMatchObject(
			REFUSED,
		);
	}
});

test.each([
	["another format", "{}\n"],
	["no text", Buffer.from([0xff, 0xfe, 0x00, 0x0a])],
	["a line without an end", "x".repeat(3 << 20)],
])("a file that is not a backup is rejected as such: %s", async (_, content) => {
	const inside = zstdCompressSync(content);
	const files = [
		Buffer.from(content),
		await buffer(Readable.from(seal(Readable.from([inside])))),
	];
	for (const file of files) {
		await expect(verify(file)).rejects.toThrow("not a backup of Assay");
	}
});

test("a backup whose format or schema is newer is rejected with the name of its version", async () => {
	const url = await createEmptyDatabase();
	const newer = [
		await rewritten((text) =>
			text.replace(
				'"version":1,"assay":"0.1.0"',
				'"version":2,"assay":"9.9.9"',
			),
		),
		await rewritten((text) =>
			text
				.replace('"assay":"0.1.0"', '"assay":"9.9.9"')
				.replace('"migrations":[', '"migrations":[')
				.replace(
					/("migrations":\[.*?)\]/,
					'$1,{"name":"9999_later.sql","version":9999,"checksum":"x"}]',
				),
		),
	];
	for (const file of newer) {
		const refused = restore(url, file);
		await expect(refused).rejects.toMatchObject(REFUSED);
		await expect(refused).rejects.toThrow(/newer version of Assay \(9\.9\.9/);
	}
	expect(await catalogue(url)).toEqual([]);
});

test("a backup made with other migrations is rejected", async () => {
	const [first] = readMigrations();
	const other = createHash("sha256").update("other").digest("hex");
	const file = await rewritten((text) =>
		text.replace(first?.checksum ?? "", other),
	);
	await expect(restore(await createEmptyDatabase(), file)).rejects.toThrow(
		/the migration 0001_init\.sql in the backup differs from 0001_init\.sql/,
	);
});

test("rows that the database rejects are not reported as damage of the file, and none of them stay", async () => {
	const { url } = await createDatabaseForTest();
	const before = await allRows(url);
	const file = await rewritten((text) =>
		text.replace("\tACTIVE\t", "\tACTIVATED\t"),
	);
	await expect(restore(url, file)).rejects.toThrow(
		/is intact, but .* devices \(/,
	);
	expect(await allRows(url)).toEqual(before);
});

test("a database that contains rows is rejected with a list of them, and keeps them", async () => {
	const { url } = database;
	const before = [await allRows(url), await catalogue(url)];
	const refused = restore(url, backup.file);
	await expect(refused).rejects.toMatchObject(REFUSED);
	await expect(refused).rejects.toThrow(/not empty.*organizations: 1/);
	expect([await allRows(url), await catalogue(url)]).toEqual(before);
});

test("a database with another program's tables is rejected", async () => {
	const url = await createEmptyDatabase();
	await query(url, "create table theirs (id integer)");
	await expect(restore(url, backup.file)).rejects.toThrow(
		/not Assay's \(theirs\)/,
	);
});

test("a database in use is rejected after a while", async () => {
	const { url } = await createDatabaseForTest();
	const user = await connectTo(url);
	await user.query("begin; select count(*) from users");
	await expect(restore(url, backup.file)).rejects.toThrow(
		/another program uses the database/,
	);
});

test("a migrated database without rows accepts a backup", async () => {
	const { url } = await createDatabaseForTest();
	const { migrated } = await restore(url, backup.file);
	expect(migrated).toEqual([]);
	expect((await query(url, "select from organizations")).length).toBe(1);
});

/** Returns the address of an empty database whose owner is not a superuser. */
async function createOwnedDatabase(): Promise<string> {
	const name = `assay_backup_owner_${process.pid}`;
	const server = new Client({ connectionString: inject("serverUrl") });
	await server.connect();
	await server.query(
		`create role ${name} login createrole password 'owner-password'`,
	);
	await server.query(`create database ${name} owner ${name}`);
	onTestFinished(async () => {
		await dropDatabase(server, name);
		await server.query(`drop role ${name}`);
		await server.end();
	});
	const url = new URL(withDatabaseName(inject("serverUrl"), name));
	url.username = name;
	url.password = "owner-password";
	return url.href;
}

test("a rejected file leaves an empty database as it was, and an owner without superuser rights then restores and backs up every row", async () => {
	const url = await createOwnedDatabase();
	const { file } = backup;
	const { length } = file;
	const wrong = [0, length >> 1, length - 1].flatMap((at) => {
		const changed = Buffer.from(file);
		changed[at] = (changed[at] ?? 0) ^ 0x10;
		return [changed, file.subarray(0, at)];
	});
	for (const [index, damaged] of wrong.entries()) {
		await expect(restore(url, damaged), `${index}`).rejects.toMatchObject(
			REFUSED,
		);
		expect(await catalogue(url)).toEqual([]);
	}
	await restore(url, file);
	const asSuperuser = new URL(inject("serverUrl"));
	asSuperuser.pathname = new URL(url).pathname;
	const before = await allRows(database.url);
	const after = await allRows(asSuperuser.href);
	for (const table of backup.manifest.tables) {
		expect(after[table], table).toEqual(before[table]);
	}
	const again = await backUp(url);
	expect(again.rows).toEqual(backup.rows);
});

/** Adds rows of 9 kB that hardly get smaller when they are compressed, until the test ends. */
async function addLargeRows(count: number): Promise<void> {
	const { url } = database;
	await query(
		url,
		`insert into users (id, name, email)
		select lpad(n::text, 32, 'u'), (select string_agg(md5(n + m * 0.1 || ''), '') from generate_series(1, 280) m), n::text
		from generate_series(1, ${count}) n`,
	);
	onTestFinished(async () => {
		await query(url, "delete from users where id like 'uuuuuuuu%'");
	});
}

test("damage that is found after rows were loaded leaves the database as it was", async () => {
	await addLargeRows(500);
	const { file } = await backUp(database.url);
	const { url } = await createDatabaseForTest();
	const before = await allRows(url);
	for (const at of [file.length - 100_000, file.length - 1]) {
		const changed = Buffer.from(file);
		changed[at] = (changed[at] ?? 0) ^ 0x10;
		const loaded: string[] = [];
		const restoring = restoreBackup(
			{ connectionString: url },
			Readable.from([changed]),
			(text) => loaded.push(text),
		);
		await expect(restoring, `${at}`).rejects.toMatchObject(REFUSED);
		expect(loaded).toContainEqual(expect.stringMatching(/: \d+ rows$/));
		expect(await allRows(url)).toEqual(before);
	}
});

test("a backup fails and ends if its file cannot be written or its database disappears", async () => {
	const { url } = database;
	// The rows are far larger than the buffers between the database and the file.
	await addLargeRows(2000);
	const write = (out: Writable) =>
		writeBackup({ connectionString: url }, out, () => {});
	const full = new Writable({
		write: (_chunk, _encoding, done) => done(new Error("the disk is full")),
	});
	await expect(write(full)).rejects.toThrow("the disk is full");
	const cutting = new Writable({
		write: (_chunk, _encoding, done) => {
			query(
				url,
				`select pg_terminate_backend(pid) from pg_stat_activity
				where application_name = 'assay backup' and datname = current_database()`,
			).then(() => done(), done);
		},
	});
	await expect(write(cutting)).rejects.toThrow();
});
