import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { restoreBackup } from "../../src/backup/restore.ts";
import { SEAL_LENGTH, type SealCheck, unseal } from "../../src/backup/seal.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { catalogue } from "../support/backups.ts";
import { runCommand } from "../support/command.ts";
import {
	createDatabase,
	createDatabaseForTest,
	createEmptyDatabase,
	type TestDatabase,
} from "../support/database.ts";
import { makeFolder } from "../support/folder.ts";

const KEY = "0123456789abcdef".repeat(4);

let folder: string;
let database: TestDatabase;
/** A backup that is sealed with KEY, and one of the same database that has no keyed seal. */
let sealed: Buffer;
let plain: Buffer;
beforeAll(async () => {
	folder = await makeFolder("assay-keyed-seal-");
	database = await createDatabase();
	await createOrganization(database.pool, "Acme");
	writeFileSync(join(folder, "key"), `${KEY}\n`);
	writeFileSync(join(folder, "other-key"), KEY.toUpperCase());
	writeFileSync(join(folder, "short-key"), "0123456789abcdef");
	await write("sealed", "key");
	await write("plain");
	sealed = readFileSync(join(folder, "sealed"));
	plain = readFileSync(join(folder, "plain"));
});
afterAll(() => database.drop());

const settings = (databaseUrl: string, key?: string) => ({
	DATABASE_URL: databaseUrl,
	...(key && { ASSAY_BACKUP_KEY_FILE: join(folder, key) }),
});

async function write(name: string, key?: string): Promise<void> {
	const command = ["backup", join(folder, name), "--no-audit-check"];
	const { code, stderr } = await runCommand(
		command,
		settings(database.url, key),
	);
	if (code !== 0) throw new Error(stderr);
}

/**
 * Restores the file into a new database. Returns the answer, and whether the database is empty
 * afterwards.
 */
async function restore(file: Buffer, key?: string) {
	const url = await createEmptyDatabase();
	const { code, stderr } = await restoreInto(url, file, key);
	return { code, stderr, isEmpty: (await catalogue(url)).length === 0 };
}

/**
 * Restores the file, which must succeed, into a new database that has the tables already. Returns
 * what the answer says about the seal.
 */
async function restored(file: Buffer, key?: string): Promise<unknown> {
	const { url } = await createDatabaseForTest();
	const { code, stdout, stderr } = await restoreInto(url, file, key);
	expect(code, stderr).toBe(0);
	expect(stderr).toContain("organizations: 1 rows");
	return JSON.parse(stdout).keyed_seal;
}

async function restoreInto(url: string, file: Buffer, key?: string) {
	const name = join(folder, "restored");
	writeFileSync(name, file);
	return runCommand(["restore", name, "--json"], settings(url, key));
}

/**
 * Reads the backup with KEY to its end, in pieces of `length` bytes. Rejects if the backup or its
 * seal is wrong.
 */
async function unsealed(file: Buffer, length = 1 << 20, key = KEY) {
	const check: SealCheck = { key: Buffer.from(key) };
	const pieces = Array.from(
		{ length: Math.ceil(file.length / length) },
		(_, at) => file.subarray(at * length, (at + 1) * length),
	);
	const bytes = await buffer(
		Readable.from(unseal(Readable.from(pieces), check)),
	);
	return { bytes, keyedSeal: check.keyedSeal };
}

/**
 * Returns a backup as somebody without the key could forge it, with other rows and a matching
 * unkeyed seal.
 */
function forged(from: Buffer, seals: number): Buffer {
	const text = zstdDecompressSync(from.subarray(0, -seals * SEAL_LENGTH));
	const frame = zstdCompressSync(
		Buffer.from(text.toString().replace('"assay":"', '"assay":"1')),
	);
	const head = from.subarray(from.length - seals * SEAL_LENGTH).subarray(0, 8);
	const hash = createHash("sha256").update(frame).digest();
	const rest = from.subarray(from.length - (seals - 1) * SEAL_LENGTH);
	return Buffer.concat([frame, head, hash, ...(seals > 1 ? [rest] : [])]);
}

test("a sealed backup is restored with its key, in pieces of any length", async () => {
	expect(sealed.length).toBeGreaterThan(plain.length);
	expect(await restored(sealed, "key")).toBe("right");
	const frame = sealed.subarray(0, -2 * SEAL_LENGTH);
	for (const length of [1, 7, 39, 40, 41, 79, 80, 81, 4096]) {
		const { bytes, keyedSeal } = await unsealed(sealed, length);
		expect(keyedSeal).toBe("right");
		expect(bytes.equals(frame)).toBe(true);
	}
});

test("a sealed backup with one changed byte anywhere is rejected", async () => {
	const step = Math.ceil(sealed.length / 500);
	for (
		let at = 0;
		at < sealed.length;
		at += at > sealed.length - 100 ? 1 : step
	) {
		const changed = Buffer.from(sealed);
		changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
		await expect(unsealed(changed), `${at}`).rejects.toMatchObject({
			code: "bad_request",
		});
	}
});

test("a backup that was forged without the key is rejected before anything reaches the database", async () => {
	const files: [Buffer, string][] = [
		[forged(sealed, 2), "was changed after it was sealed"],
		[forged(sealed, 2).subarray(0, -SEAL_LENGTH), "has no seal with a key"],
		[plain, "`ASSAY_BACKUP_KEY_FILE= "],
		[sealed.subarray(0, -SEAL_LENGTH), "has no seal with a key"],
	];
	for (const [file, why] of files) {
		const { code, stderr, isEmpty } = await restore(file, "key");
		expect({ code, isEmpty }).toEqual({ code: 1, isEmpty: true });
		expect(stderr).toContain(why);
		// The command did not begin to load rows.
		expect(stderr).not.toContain("organizations: 1 rows");
	}
	const wrong = await restore(sealed, "other-key");
	expect(wrong).toMatchObject({ code: 1, isEmpty: true });
	expect(wrong.stderr).toContain("sealed with a key other than");
});

test("a forged backup on standard input leaves the database as empty as it was", async () => {
	const empty = await createEmptyDatabase();
	await expect(
		restoreBackup(
			{ connectionString: empty },
			Readable.from([forged(sealed, 2)]),
			() => {},
			{ key: Buffer.from(KEY) },
		),
	).rejects.toThrow("was changed after it was sealed");
	expect(await catalogue(empty)).toEqual([]);
});

test("without a key, both kinds of backups are restored, and the answer says that no key was checked", async () => {
	expect(await restored(sealed)).toBe("unchecked");
	expect(await restored(plain)).toBe("none");
});

test("backup --verify checks the keyed seal too", async () => {
	const verify = async (name: string, key?: string) => {
		const { code, stdout, stderr } = await runCommand(
			["backup", "--verify", join(folder, name)],
			settings("postgres://localhost:1/none", key),
		);
		return { code, said: stdout + stderr };
	};
	expect(await verify("sealed", "key")).toEqual({
		code: 0,
		said: expect.stringContaining("seal was made with your key"),
	});
	expect(await verify("sealed")).toEqual({
		code: 0,
		said: expect.stringContaining("not checked"),
	});
	expect((await verify("sealed", "other-key")).code).toBe(1);
	expect((await verify("plain", "key")).code).toBe(1);
});

test("a key that is missing or too short stops the command, and the error names it", async () => {
	for (const [key, why] of [
		["none", "no such file"],
		["short-key", "must have 32 to 4096 bytes"],
	] as const) {
		const name = join(folder, "never");
		const made = await runCommand(
			["backup", name],
			settings(database.url, key),
		);
		expect(made).toMatchObject({ code: 1, stdout: "" });
		expect(made.stderr).toContain("ASSAY_BACKUP_KEY_FILE");
		expect(made.stderr).toContain(why);
		const { code, stderr, isEmpty } = await restore(sealed, key);
		expect({ code, isEmpty }).toEqual({ code: 1, isEmpty: true });
		expect(stderr).toContain(why);
	}
});
