import { spawn } from "node:child_process";
import { once } from "node:events";
import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { expect, test } from "vitest";
import type { Step } from "../../src/db/migrate.ts";
import { withStartLock } from "../../src/db/start-lock.ts";
import {
	embeddedFolder,
	kill,
	listCommands,
	queryEmbedded,
} from "../support/embedded.ts";
import { PROGRAM, withSettings } from "../support/program.ts";

const folder = embeddedFolder();

async function ended(pid: number): Promise<void> {
	while (folder.serverPids().includes(pid)) await sleep(20);
}

test("after kill -9 of the owner, the next process takes over the server with all data and stops it when it closes", async () => {
	await folder.fillDataDir();
	const owner = await folder.openElsewhere();
	await queryEmbedded(owner, "create table kept as select 42 as answer");
	await owner.kill();
	const heir = await folder.open();
	expect(heir.origin).toBe("adopted");
	expect(heir.pid).toBe(owner.pid);
	expect(await queryEmbedded(heir, "select answer from kept")).toBe(42);
	await heir.close();
	expect(folder.serverPids()).toEqual([]);
});

test("after kill -9 of the server, the next process starts it and finds every acknowledged write", async () => {
	await folder.fillDataDir();
	const owner = await folder.openElsewhere();
	await queryEmbedded(owner, "create table kept as select 42 as answer");
	kill(owner.pid);
	await ended(owner.pid);
	const heir = await folder.open();
	expect(heir.origin).toBe("started");
	expect(await queryEmbedded(heir, "select answer from kept")).toBe(42);
	await heir.close();
});

test("a start says that PostgreSQL repairs its files only if it was not shut down, and then that it is ready", async () => {
	await folder.fillDataDir();
	const textOf = (step: Step) => (typeof step === "function" ? step() : step);
	const connecting = `connecting to the embedded PostgreSQL in ${folder.dataDir}`;
	const open = async () => {
		const told: string[] = [];
		let last: Step = "";
		const db = await folder.open({
			tell: (step) => {
				told.push(textOf(step));
				last = step;
			},
		});
		return { db, told, now: textOf(last) };
	};
	const clean = await open();
	expect(clean.told).toEqual([connecting, "starting PostgreSQL"]);
	expect(clean.now).toBe(connecting);
	await clean.db.close();
	const owner = await folder.openElsewhere();
	// An owner that still lives could shut the server down in order before the signal reaches it.
	await owner.kill();
	kill(owner.pid);
	await ended(owner.pid);
	const afterCrash = await open();
	expect(afterCrash.told).toEqual([
		connecting,
		"starting PostgreSQL, which repairs its files because it was not shut down",
	]);
	expect(afterCrash.now).toBe(connecting);
	await afterCrash.db.close();
});

test("after kill -9 of the server during a query, the next start waits until the query's process has ended", async () => {
	await folder.fillDataDir();
	const owner = await folder.openElsewhere();
	// A PostgreSQL process that waits for another program does not notice that its server has died.
	const copying = queryEmbedded(
		owner,
		"copy (select) to program 'sleep 2'",
	).catch((error: Error) => error.message);
	while (
		(await queryEmbedded(
			owner,
			"select count(*)::int from pg_stat_activity where state = 'active' and query like 'copy%'",
		)) === 0
	) {
		await sleep(10);
	}
	kill(owner.pid);
	const heir = await folder.open();
	expect(heir.origin).toBe("started");
	expect(await queryEmbedded(heir, "select 1")).toBe(1);
	await copying;
	await heir.close();
});

test("closing succeeds even if the server was killed", async () => {
	await folder.fillDataDir();
	const db = await folder.open();
	kill(db.pid);
	await ended(db.pid);
	await db.close();
});

test("after kill -9 of both, the server starts even if another process of the same user now has its process id", async () => {
	await folder.fillDataDir();
	const owner = await folder.openElsewhere();
	await queryEmbedded(owner, "create table kept as select 42 as answer");
	await owner.kill();
	kill(owner.pid);
	await ended(owner.pid);
	// PostgreSQL refuses to start if its old process id belongs to a running process of its own user.
	const { uid, gid } = statSync(owner.directory);
	const stranger = spawn("sleep", ["600"], { uid, gid, stdio: "ignore" });
	folder.children.push(stranger);
	for (const name of ["postmaster.pid", ".s.PGSQL.5432.lock"]) {
		const file = join(owner.directory, name);
		const text = readFileSync(file, "utf8");
		expect(text).toMatch(`${owner.pid}\n`);
		writeFileSync(file, text.replace(/^\d+/, String(stranger.pid)));
	}
	const heir = await folder.open();
	expect(heir.origin).toBe("started");
	expect(await queryEmbedded(heir, "select answer from kept")).toBe(42);
	await heir.close();
	expect(stranger.exitCode).toBe(null);
});

test("kill -9 during initdb does not prevent a later start, and its leftovers are removed", async () => {
	let failure: unknown;
	folder.openElsewhere().catch((error) => {
		failure = error;
	});
	while (drafts().length === 0) {
		if (failure) throw failure;
		await sleep(1);
	}
	for (const child of folder.children) child.kill("SIGKILL");
	expect(existsSync(join(folder.dataDir, "postgres"))).toBe(false);
	// The initdb that has lost its parent is still running.
	const db = await folder.open();
	await queryEmbedded(db, "create table kept as select 42 as answer");
	await db.close();
	const draft = `${folder.root}/data/postgres.new`;
	while (listCommands().some(({ command }) => command.includes(draft))) {
		await sleep(20);
	}
	const again = await folder.open();
	expect(await queryEmbedded(again, "select answer from kept")).toBe(42);
	await again.close();
	expect(readdirSync(folder.dataDir).sort()).toEqual([
		"postgres",
		"postgres.json",
	]);
});

const drafts = () =>
	existsSync(folder.dataDir)
		? readdirSync(folder.dataDir).filter((name) =>
				name.startsWith("postgres.new-"),
			)
		: [];

test("a server stops after its only user was killed", async () => {
	await folder.fillDataDir();
	const owner = await folder.openElsewhere({ idleMs: 600 });
	await owner.kill();
	while (folder.serverPids().length > 0) await sleep(50);
	const next = await folder.open();
	expect(next.origin).toBe("started");
	await next.close();
});

test("a server whose owner was killed continues while another program, such as pg_dump, uses it", async () => {
	await folder.fillDataDir();
	const owner = await folder.openElsewhere({ idleMs: 600 });
	const dump = new Client(owner.connection);
	await dump.connect();
	await owner.kill();
	await sleep(1500);
	expect((await dump.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
	await dump.end();
	while (folder.serverPids().length > 0) await sleep(50);
});

test("a server whose owner was killed continues while a backup runs, and stops after it", async () => {
	await folder.fillDataDir();
	const settings = { ASSAY_DATA_DIR: folder.dataDir };
	const owner = await folder.openElsewhere({ idleMs: 600 });
	const watcher = new Client(owner.connection);
	await watcher.connect();
	await owner.kill();
	const file = join(folder.root, "assay.backup");
	const backup = spawn(process.execPath, [PROGRAM, "backup", file], {
		env: withSettings(settings),
	});
	folder.children.push(backup);
	const exit = once(backup, "exit");
	const isConnected = async () =>
		(
			await watcher.query(
				"select from pg_stat_activity where datname = 'assay' and pid <> pg_backend_pid() and backend_type = 'client backend'",
			)
		).rowCount !== 0;
	while (!(await isConnected())) await sleep(2);
	// A backup that takes longer than the server may be unused.
	backup.kill("SIGSTOP");
	await watcher.end();
	await sleep(1500);
	expect(folder.serverPids()).toEqual([owner.pid]);
	backup.kill("SIGCONT");
	expect((await exit)[0]).toBe(0);
	expect(statSync(file).size).toBeGreaterThan(0);
	while (folder.serverPids().length > 0) await sleep(50);
});

test("a start lock of a dead process, or of an earlier process with the same id, is taken over", async () => {
	mkdirSync(folder.dataDir);
	const lock = join(folder.dataDir, "start.lock");
	const dead = spawn("true");
	await once(dead, "exit");
	for (const pid of [dead.pid, process.pid]) {
		writeFileSync(lock, String(pid));
		const ran = await withStartLock(folder.dataDir, async () =>
			readFileSync(lock, "utf8"),
		);
		expect(ran).toBe(String(process.pid));
		expect(existsSync(lock)).toBe(false);
	}
});
