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
import { withStartLock } from "../../src/db/start-lock.ts";
import {
	embeddedFolder,
	kill,
	listCommands,
	queryEmbedded,
} from "../support/embedded.ts";

const folder = embeddedFolder();

async function ended(pid: number): Promise<void> {
	while (folder.serverPids().includes(pid)) await sleep(20);
}

test("kill -9 of the owner: the next one adopts the server with all data, and its close stops it", async () => {
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

test("kill -9 of the server: the next one starts it and finds what was acknowledged", async () => {
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

test("kill -9 of the server under a running query: the next start waits until its backend has gone", async () => {
	await folder.fillDataDir();
	const owner = await folder.openElsewhere();
	const counting = queryEmbedded(
		owner,
		"select count(*) from generate_series(1, 10000000) as n",
	).catch((error: Error) => error.message);
	while (
		(await queryEmbedded(
			owner,
			"select count(*)::int from pg_stat_activity where state = 'active' and query like '%as n'",
		)) === 0
	) {
		await sleep(10);
	}
	kill(owner.pid);
	const heir = await folder.open();
	expect(heir.origin).toBe("started");
	expect(await queryEmbedded(heir, "select 1")).toBe(1);
	await counting;
	await heir.close();
});

test("a close whose server was killed ends without an error", async () => {
	await folder.fillDataDir();
	const db = await folder.open();
	kill(db.pid);
	await ended(db.pid);
	await db.close();
});

test("kill -9 of both, and the server's number now belongs to a process of the same user: it starts", async () => {
	await folder.fillDataDir();
	const owner = await folder.openElsewhere();
	await queryEmbedded(owner, "create table kept as select 42 as answer");
	await owner.kill();
	kill(owner.pid);
	await ended(owner.pid);
	// PostgreSQL itself refuses to start beside a live process of its own user.
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

test("kill -9 during initdb disturbs no later start, and its leftovers go", async () => {
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
	// The orphaned initdb is still at work.
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

test("a server whose only user was killed stops by itself", async () => {
	await folder.fillDataDir();
	const owner = await folder.openElsewhere({ idleMs: 600 });
	await owner.kill();
	while (folder.serverPids().length > 0) await sleep(50);
	const next = await folder.open();
	expect(next.origin).toBe("started");
	await next.close();
});

test("a server whose owner was killed goes on while another program uses it, such as pg_dump", async () => {
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

test("a start lock left by a dead process, or by an earlier life with our pid, is taken over", async () => {
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
