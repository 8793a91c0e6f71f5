import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { embeddedFolder, kill, queryEmbedded } from "../support/embedded.ts";

const folder = embeddedFolder();

test("two processes share the server, which continues when the first one leaves and stops when the last one leaves", async () => {
	await folder.fillDataDir();
	const first = await folder.openElsewhere();
	const second = await folder.openElsewhere();
	expect(first.origin).toBe("started");
	expect(second.origin).toBe("joined");
	expect(second.pid).toBe(first.pid);
	await first.leave();
	expect(await queryEmbedded(second, "select 1")).toBe(1);
	await second.leave();
	expect(folder.serverPids()).toEqual([]);
});

test("several uses in one process share the server and end one by one", async () => {
	await folder.fillDataDir();
	const [first, second] = await Promise.all([folder.open(), folder.open()]);
	expect([first.origin, second.origin]).toEqual(["started", "joined"]);
	await first.close();
	expect(await queryEmbedded(second, "select 1")).toBe(1);
	await second.close();
	expect(folder.serverPids()).toEqual([]);
});

test("four processes that open an empty folder at the same moment get the same server", async () => {
	const opened = await Promise.all(
		Array.from({ length: 4 }, () => folder.openElsewhere()),
	);
	expect(new Set(opened.map(({ pid }) => pid)).size).toBe(1);
	expect(opened.map(({ origin }) => origin).sort()).toEqual([
		"joined",
		"joined",
		"joined",
		"started",
	]);
	for (const each of opened)
		expect(await queryEmbedded(each, "select 1")).toBe(1);
	await Promise.all(opened.map((each) => each.leave()));
	expect(folder.serverPids()).toEqual([]);
});

test("a process that leaves while another one joins never stops the server", async () => {
	await folder.fillDataDir();
	let current = await folder.openElsewhere();
	for (let round = 0; round < 5; round++) {
		const [next] = await Promise.all([folder.openElsewhere(), current.leave()]);
		expect(await queryEmbedded(next, "select 1")).toBe(1);
		current = next;
	}
	await current.leave();
	expect(folder.serverPids()).toEqual([]);
});

test("a server that dies is started again by the processes that use it and stopped by the last one", async () => {
	await folder.fillDataDir();
	const first = await folder.open();
	const second = await folder.openElsewhere();
	await queryEmbedded(first, "create table kept as select 42 as answer");
	const died = first.pid;
	kill(died);
	while (first.pid === died) await sleep(20);
	expect(await queryEmbedded(first, "select answer from kept")).toBe(42);
	await second.leave();
	expect(await queryEmbedded(first, "select answer from kept")).toBe(42);
	await first.close();
	expect(folder.serverPids()).toEqual([]);
});

test("leaving while the server is down does not start it again", async () => {
	await folder.fillDataDir();
	const db = await folder.open();
	kill(db.pid);
	await db.close();
	await sleep(1_000);
	expect(folder.serverPids()).toEqual([]);
});

test("a process that lost its connection when a backend crashed is still counted", async () => {
	await folder.fillDataDir();
	const first = await folder.open();
	const second = await folder.openElsewhere();
	await queryEmbedded(first, "create table kept as select 1");
	const backend = await queryEmbedded(
		first,
		"select pid from pg_stat_activity where backend_type = 'checkpointer'",
	);
	process.kill(Number(backend), "SIGKILL");
	let present = 0;
	while (present !== 2) {
		await sleep(50);
		present = await queryEmbedded(
			first,
			"select count(*)::int from pg_stat_activity where application_name = 'assay presence'",
		).then(Number, () => 0);
	}
	await second.leave();
	expect(await queryEmbedded(first, "select 1")).toBe(1);
	await first.close();
	expect(folder.serverPids()).toEqual([]);
});
