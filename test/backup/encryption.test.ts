import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { catalogue, query } from "../support/backups.ts";
import { runCommand } from "../support/command.ts";
import {
	createDatabase,
	createDatabaseForTest,
	createEmptyDatabase,
	type TestDatabase,
} from "../support/database.ts";
import { makeFolder } from "../support/folder.ts";

let folder: string;
let database: TestDatabase;
/** A backup that is encrypted for two recipients, in the folder. */
let encrypted: Buffer;
beforeAll(async () => {
	folder = await makeFolder("assay-encryption-");
	database = await createDatabase();
	await createOrganization(database.pool, "A name in plain text");
	const recipients = await Promise.all(["first", "second"].map(makeIdentity));
	await makeIdentity("stranger");
	const { code, stdout, stderr } = await backUp("encrypted", {
		ASSAY_BACKUP_RECIPIENTS: recipients.join(", "),
	});
	if (code !== 0) throw new Error(stderr);
	expect(stdout).toContain("It is encrypted for 2 recipients.");
	encrypted = readFileSync(join(folder, "encrypted"));
});
afterAll(() => database.drop());

/** Writes an identity into a file as `age-keygen` does. Returns its public key. */
async function makeIdentity(name: string): Promise<string> {
	const identity = await generateX25519Identity();
	const recipient = await identityToRecipient(identity);
	writeFileSync(
		join(folder, name),
		`# created: today\n# public key: ${recipient}\n${identity}\n`,
	);
	return recipient;
}

const backUp = (name: string, settings: Record<string, string>) =>
	runCommand(["backup", join(folder, name), "--no-audit-check"], {
		DATABASE_URL: database.url,
		...settings,
	});

/** Settings with the identities in a file of the folder. */
const identities = (name: string) => ({
	ASSAY_BACKUP_IDENTITY_FILE: join(folder, name),
});

/** Restores the file, which must succeed, into a new database that has the tables already. */
async function expectRestored(file: Buffer, settings: Record<string, string>) {
	const { url } = await createDatabaseForTest();
	const { code, stderr } = await restoreInto(url, file, settings);
	expect(code, stderr).toBe(0);
	const organizations = await query(url, "select name from organizations");
	expect(organizations).toEqual([{ name: "A name in plain text" }]);
}

/** Restores the file into a new database and returns whether that stayed empty. */
async function restore(file: Buffer, settings: Record<string, string>) {
	const url = await createEmptyDatabase();
	const { code, stderr } = await restoreInto(url, file, settings);
	return { code, stderr, isEmpty: (await catalogue(url)).length === 0 };
}

async function restoreInto(
	url: string,
	file: Buffer,
	settings: Record<string, string>,
) {
	const name = join(folder, "restored");
	writeFileSync(name, file);
	return runCommand(["restore", name], { DATABASE_URL: url, ...settings });
}

test("each recipient verifies and restores the backup", async () => {
	for (const name of ["first", "second"]) {
		const verified = await runCommand(
			["backup", "--verify", join(folder, "encrypted"), "--json"],
			identities(name),
		);
		expect(JSON.parse(verified.stdout)).toMatchObject({ is_whole: true });
		await expectRestored(encrypted, identities(name));
	}
});

test("an identity also reads a backup that is not encrypted", async () => {
	const { stdout } = await backUp("plain", {});
	expect(stdout).toContain("It is not encrypted.");
	const plain = readFileSync(join(folder, "plain"));
	await expectRestored(plain, identities("first"));
});

test("a keyed seal is checked inside an encrypted backup", async () => {
	writeFileSync(join(folder, "key"), "0123456789abcdef".repeat(4));
	writeFileSync(join(folder, "other-key"), "fedcba9876543210".repeat(4));
	const key = (name: string) => ({ ASSAY_BACKUP_KEY_FILE: join(folder, name) });
	const recipient = await makeIdentity("sealer");
	await backUp("sealed", { ASSAY_BACKUP_RECIPIENTS: recipient, ...key("key") });
	const sealed = readFileSync(join(folder, "sealed"));
	const settings = identities("sealer");
	await expectRestored(sealed, { ...settings, ...key("key") });
	expect(
		await restore(sealed, { ...settings, ...key("other-key") }),
	).toMatchObject({
		code: 1,
		stderr: expect.stringContaining("sealed with a key other than the one"),
		isEmpty: true,
	});
});

describe("nothing is restored", () => {
	test.each<[string, () => Buffer, () => Record<string, string>, string]>([
		["without an identity", () => encrypted, () => ({}), "is encrypted; set"],
		[
			"with another identity",
			() => encrypted,
			() => identities("stranger"),
			"encrypted for other recipients",
		],
		[
			"if the backup is cut off",
			() => encrypted.subarray(0, -100),
			() => identities("first"),
			"damaged or cut off",
		],
		[
			"if a byte was changed",
			() => {
				const changed = Buffer.from(encrypted);
				const at = changed.length - 1000;
				changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
				return changed;
			},
			() => identities("first"),
			"damaged or cut off",
		],
	])("%s", async (_, file, settings, message) => {
		expect(await restore(file(), settings())).toEqual({
			code: 1,
			stderr: expect.stringContaining(message),
			isEmpty: true,
		});
	});
});

test("a wrong identity file is named with its line, never with its content", async () => {
	const line = "AGE-SECRET-KEY-1WRONG";
	writeFileSync(join(folder, "wrong"), `# a comment\n\n${line}\n`);
	writeFileSync(join(folder, "empty"), "# a comment\n");
	for (const [name, message] of [
		["wrong", "whose line 3 is not an identity of age"],
		["empty", "which has no identity of age"],
		["missing", "which cannot be read: no such file or directory"],
	] as const) {
		const { code, stderr } = await restore(encrypted, identities(name));
		expect(code).toBe(1);
		expect(stderr).toContain(`names ${join(folder, name)}, ${message}`);
		expect(stderr).not.toContain(line);
	}
});

test("a wrong recipient writes no file", async () => {
	for (const recipient of ["age1wrong", "AGE-SECRET-KEY-1WRONG"]) {
		const { code, stderr } = await backUp("never", {
			ASSAY_BACKUP_RECIPIENTS: recipient,
		});
		expect(code).toBe(1);
		expect(stderr).toContain("ASSAY_BACKUP_RECIPIENTS");
		expect(() => readFileSync(join(folder, "never"))).toThrow("ENOENT");
	}
});

test("an encrypted backup contains no text of the database", () => {
	expect(encrypted.toString("latin1")).not.toContain("A name in plain text");
	expect(encrypted.subarray(0, 21).toString()).toBe("age-encryption.org/v1");
});
