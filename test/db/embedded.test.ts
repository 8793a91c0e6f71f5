import {
	existsSync,
	readdirSync,
	readFileSync,
	renameSync,
	statSync,
} from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EmbeddedPostgres } from "../../src/db/embedded.ts";
import { embeddedFolder, queryEmbedded } from "../support/embedded.ts";

const isRoot = process.getuid?.() === 0;

const folder = embeddedFolder();

test("an empty folder becomes a durable database with the promised settings", async () => {
	const db = await folder.open();
	expect(db.origin).toBe("started");
	expect(db.connection).toMatchObject({ user: "assay", database: "assay" });
	const settings = {
		fsync: "on",
		synchronous_commit: "on",
		full_page_writes: "on",
		data_checksums: "on",
		server_encoding: "UTF8",
		password_encryption: "scram-sha-256",
		jit: "off",
		logging_collector: "on",
	};
	for (const [name, value] of Object.entries(settings)) {
		expect(await queryEmbedded(db, `show ${name}`), name).toBe(value);
	}
	expect(
		await queryEmbedded(
			db,
			"select datlocprovider::text || datlocale from pg_database where datname = current_database()",
		),
	).toBe("bC.UTF-8");
	expect(
		await queryEmbedded(
			db,
			"select rolsuper from pg_roles where rolname = current_user",
		),
	).toBe(true);
	await queryEmbedded(db, "create extension pg_trgm");
	await queryEmbedded(db, "create extension unaccent");
	await db.close();
});

test("with a short path, the server listens on a socket in PGDATA and on no TCP port", async () => {
	await folder.fillDataDir();
	const db = await folder.open();
	expect(db.connection.host).toBe(join(folder.dataDir, "postgres"));
	expect(await queryEmbedded(db, "show listen_addresses")).toBe("");
	const socket = statSync(join(db.directory, ".s.PGSQL.5432"));
	expect(socket.mode & 0o777).toBe(0o700);
	expect(statSync(db.directory).mode & 0o777).toBe(0o700);
	await db.close();
});

test("with a path that is too long for a socket, the server listens on 127.0.0.1, always on the same port", async () => {
	folder.dataDir = join(folder.root, "long".repeat(25), "data");
	await folder.fillDataDir();
	const first = await folder.open();
	expect(first.connection.host).toBe("127.0.0.1");
	expect(await queryEmbedded(first, "show listen_addresses")).toBe("127.0.0.1");
	expect(await queryEmbedded(first, "show unix_socket_directories")).toBe("");
	await first.close();
	const second = await folder.open();
	expect(second.connection).toEqual(first.connection);
	await second.close();
});

test("a wrong password is rejected on the socket and on loopback", async () => {
	await folder.fillDataDir();
	const socket = await folder.open();
	await expectRefused(socket);
	await socket.close();
	folder.dataDir = join(folder.root, "long".repeat(25));
	await folder.fillDataDir();
	const loopback = await folder.open();
	await expectRefused(loopback);
	await loopback.close();
});

async function expectRefused(db: EmbeddedPostgres) {
	const guess = { ...db.connection, password: "guess" };
	await expect(
		queryEmbedded({ connection: guess }, "select 1"),
	).rejects.toThrow("password authentication failed");
}

test("only its owner can read the file with the password", async () => {
	const db = await folder.open();
	const file = join(folder.dataDir, "postgres.json");
	expect(statSync(file).mode & 0o777).toBe(0o600);
	expect(statSync(folder.dataDir).mode & 0o777).toBe(isRoot ? 0o711 : 0o700);
	expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({
		directory: "postgres",
		password: db.connection.password,
		ownerPid: process.pid,
	});
	await db.close();
	expect(readdirSync(folder.dataDir).sort()).toEqual([
		"postgres",
		"postgres.json",
	]);
});

test("closing stops the server, no matter how many calls there are, one after another or at the same time", async () => {
	await folder.fillDataDir();
	const db = await folder.open();
	await Promise.all([db.close(), db.close()]);
	await db.close();
	expect(folder.serverPids()).toEqual([]);
	expect(existsSync(join(db.directory, "postmaster.pid"))).toBe(false);
});

test("a folder keeps its data when it is moved as a whole", async () => {
	await folder.fillDataDir();
	const before = await folder.open();
	await queryEmbedded(before, "create table kept as select 42 as answer");
	await before.close();
	renameSync(folder.dataDir, join(folder.root, "moved"));
	folder.dataDir = join(folder.root, "moved");
	const after = await folder.open();
	expect(await queryEmbedded(after, "select answer from kept")).toBe(42);
	await after.close();
});
