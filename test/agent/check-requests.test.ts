import { type ChildProcess, spawn } from "node:child_process";
import { once as onceOf } from "node:events";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { storeCredentials } from "../../agent/credentials.ts";
import { once } from "../../agent/once.ts";
import { listQueue } from "../../agent/queue.ts";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { runAgent } from "../support/command.ts";
import { makeAgentFolder, makeEnrolledFolder, makeParts } from "./folders.ts";
import { count, eventually, start } from "./running-agent.ts";
import {
	refuse,
	respond,
	type ScriptedService,
	startScriptedService,
} from "./scripted-service.ts";

/** Starts `run` as a service manager does, and waits until everything that was due has been sent. */
async function startReported(): Promise<{
	service: ScriptedService;
	folder: string;
	child: ChildProcess;
}> {
	const service = await startScriptedService();
	const { folder } = await makeEnrolledFolder(service.url);
	const child = spawn(
		process.execPath,
		["bin/assay.js", "agent", "run", "--dir", folder],
		{ cwd: join(import.meta.dirname, "../.."), stdio: "ignore" },
	);
	onTestFinished(() => {
		child.kill("SIGKILL");
	});
	await service.until((seen) => count(seen, "postures") === 1);
	await eventually(async () => (await listQueue(folder)).length === 0);
	return { service, folder, child };
}

const requestsIn = (folder: string) => readdir(join(folder, "requests"));

test("`once --force` lets the running agent check and report, and prints its results", async () => {
	const { service, folder, child } = await startReported();
	const asJson = await runAgent([
		...["once", "--force", "--json", "--dir", folder],
	]);
	expect(asJson.code).toBe(0);
	const done = JSON.parse(asJson.stdout);
	expect(done).toMatchObject({
		device_id: service.deviceId,
		sent_reports: 1,
		queued_reports: 0,
		error: null,
	});
	const keys = done.results.map((one: { check_key: string }) => one.check_key);
	expect(keys).toEqual(CHECK_KEYS);
	expect(service.seen.map(({ route }) => route)).toEqual([
		"heartbeat",
		"postures",
		"heartbeat",
		"postures",
	]);
	expect(service.seen.at(-1)?.body?.results).toMatchObject(done.results);
	expect(asJson.stderr).toContain(`an agent is running (process ${child.pid})`);
	expect(await requestsIn(folder)).toEqual([]);

	const asText = await runAgent(["once", "--force", "--dir", folder]);
	expect(asText.stdout).toContain(`Sent 1 report as ${service.deviceId}.`);
	const refused = await runAgent(["once", "--dir", folder]);
	expect([refused.code, refused.stderr]).toEqual([
		1,
		expect.stringContaining("is already running"),
	]);
	expect(child.exitCode).toBeNull();
	child.kill("SIGTERM");
	expect(await onceOf(child, "exit")).toEqual([0, null]);
});

test("an agent of an older version is not asked, and the error says so", async () => {
	const { service, folder, child } = await startReported();
	const path = join(folder, "run.lock");
	const { pid, token } = JSON.parse(await readFile(path, "utf8"));
	await writeFile(path, JSON.stringify({ pid, token }));
	const before = service.seen.length;
	const { code, stdout, stderr } = await runAgent([
		...["once", "--force", "--dir", folder],
	]);
	expect([code, stdout]).toEqual([1, ""]);
	expect(stderr).toContain(
		`the running agent (process ${child.pid}) is of an older version, which cannot be asked`,
	);
	expect(service.seen).toHaveLength(before);
	expect(await requestsIn(folder)).toEqual([]);
});

test("an agent that ends before it answers is reported, and the request is withdrawn", async () => {
	const { folder, child } = await startReported();
	child.kill("SIGSTOP");
	const asked = runAgent(["once", "--force", "--dir", folder]);
	await eventually(async () => (await requestsIn(folder)).length === 1);
	child.kill("SIGKILL");
	const { code, stderr } = await asked;
	expect(code).toBe(1);
	expect(stderr).toContain(
		`the running agent (process ${child.pid}) ended before it answered`,
	);
	expect(await requestsIn(folder)).toEqual([]);
});

test("requests that come together are answered by one report", async () => {
	const service = await startScriptedService();
	const { folder } = await makeEnrolledFolder(service.url);
	const held: (() => void)[] = [];
	service.answer(({ route }, response) => {
		if (route !== "heartbeat" || held.length > 0) return true;
		held.push(() => refuse(response, 400));
		return false;
	});
	start(folder);
	await eventually(() => held.length === 1);
	const asked = [1, 2, 3].map(() =>
		once({ folder, force: true, ...makeParts() }),
	);
	await eventually(async () => (await requestsIn(folder)).length === 3);
	held[0]?.();
	const done = await Promise.all(asked);
	expect(done[1]).toEqual(done[0]);
	expect(done[2]).toEqual(done[0]);
	expect(count(service.seen, "postures")).toBe(1);
});

test("a request says why the service cannot be reached, and waits as long as the service demands", async () => {
	const service = await startScriptedService();
	const { folder } = await makeEnrolledFolder(service.url);
	const agent = start(folder);
	await service.until((seen) => count(seen, "postures") === 1);
	await eventually(async () => (await listQueue(folder)).length === 0);
	service.answer((_, response) => {
		respond(response, 503, undefined, { "retry-after": "3600" });
		return false;
	});
	const ask = () => once({ folder, force: true, ...makeParts() });
	expect(await ask()).toMatchObject({
		queued_reports: 1,
		error: expect.stringContaining("answered 503"),
	});
	const before = service.seen.length;
	expect(await ask()).toMatchObject({
		queued_reports: 2,
		error: expect.stringMatching(
			/it has asked to wait until 2\S+\. The results are stored/,
		),
	});
	expect(service.seen).toHaveLength(before);
	await agent.stop();
});

test("a request to an agent whose device is not active yet fails with the reason", async () => {
	const service = await startScriptedService();
	const { folder } = await makeEnrolledFolder(service.url);
	service.answer(({ route }, response) => {
		if (route === "heartbeat") refuse(response, 400);
		return route !== "heartbeat";
	});
	const agent = start(folder);
	await eventually(() => agent.logged().includes("rejected"));
	await expect(once({ folder, force: true, ...makeParts() })).rejects.toThrow(
		"the service rejected this device's heartbeat",
	);
});

test("a request wakes an agent that waits for an enrollment", async () => {
	const service = await startScriptedService();
	const folder = await makeAgentFolder();
	const agent = start(folder, { idleMs: 1_000_000_000 });
	await eventually(() => agent.logged().includes("is not enrolled"));
	await storeCredentials(folder, service.url, "asy_dev_key");
	expect(await once({ folder, force: true, ...makeParts() })).toMatchObject({
		sent_reports: 1,
		error: null,
	});
});
