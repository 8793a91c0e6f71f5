import {
	existsSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { embeddedFolder } from "../support/embedded.ts";

const folder = embeddedFolder();

test("an installation without binaries for this platform is rejected", async () => {
	const opening = folder.open({
		resolvePackage: () => {
			throw new Error("Cannot find module");
		},
	});
	await expect(opening).rejects.toMatchObject({
		code: "bad_request",
		message: `this installation has no PostgreSQL for ${process.platform}-${process.arch}; set DATABASE_URL to a PostgreSQL 15 or newer`,
	});
});

test("a folder of another major version is rejected and not changed", async () => {
	await folder.fillDataDir();
	const version = join(folder.dataDir, "postgres", "PG_VERSION");
	writeFileSync(version, "15\n");
	await expect(folder.open()).rejects.toMatchObject({
		code: "bad_request",
		message: expect.stringContaining("was made by PostgreSQL 15"),
	});
	expect(readFileSync(version, "utf8")).toBe("15\n");
});

test("a database without its password file, and a password file without its database, are rejected", async () => {
	await folder.fillDataDir();
	const file = join(folder.dataDir, "postgres.json");
	const text = readFileSync(file, "utf8");
	rmSync(file);
	await expect(folder.open()).rejects.toThrow("which holds its password");
	writeFileSync(file, text);
	rmSync(join(folder.dataDir, "postgres"), { recursive: true });
	await expect(folder.open()).rejects.toThrow("is gone");
	expect(existsSync(join(folder.dataDir, "postgres"))).toBe(false);
});

test("if the server cannot start, the error contains PostgreSQL's own reason", async () => {
	await folder.fillDataDir();
	rmSync(join(folder.dataDir, "postgres", "global", "pg_control"));
	await expect(folder.open()).rejects.toMatchObject({
		code: "service_unavailable",
		message: expect.stringContaining("could not find the database system"),
	});
});

test("if the server's recovery fails, the error contains the reason from the server's log", async () => {
	await folder.fillDataDir();
	const wal = join(folder.dataDir, "postgres", "pg_wal");
	for (const name of readdirSync(wal)) {
		rmSync(join(wal, name), { recursive: true });
	}
	await expect(folder.open()).rejects.toThrow(
		"could not locate a valid checkpoint record",
	);
});

test("a data folder that is a file is rejected", async () => {
	writeFileSync(folder.dataDir, "");
	await expect(folder.open()).rejects.toMatchObject({
		code: "service_unavailable",
		message: expect.stringContaining(folder.dataDir),
	});
});
