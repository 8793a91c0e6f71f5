import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { readCredentials } from "../../agent/credentials.ts";
import { listQueue } from "../../agent/queue.ts";
import { readState, writeState } from "../../agent/state.ts";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { runAgent } from "../support/command.ts";
import { startAgents, type TestAgents } from "./agents.ts";
import { makeAgentFolder, makeEnrolledFolder } from "./folders.ts";
import { startScriptedService } from "./scripted-service.ts";

let agents: TestAgents;
beforeAll(async () => {
	agents = await startAgents();
});
afterAll(() => agents.assay.close());

/** Starts `run` as a service manager does. */
function startAgent(folder: string): {
	child: ChildProcess;
	logged: () => string;
} {
	const child = spawn(
		process.execPath,
		["bin/assay.js", "agent", "run", "--dir", folder],
		{
			cwd: join(import.meta.dirname, "../.."),
			stdio: ["ignore", "ignore", "pipe"],
		},
	);
	let text = "";
	child.stderr?.setEncoding("utf8").on("data", (more) => {
		text += more;
	});
	onTestFinished(() => {
		child.kill("SIGKILL");
	});
	return { child, logged: () => text };
}

async function eventually(condition: () => Promise<boolean> | boolean) {
	while (!(await condition())) {
		await new Promise((resolve) => setTimeout(resolve, 50));
	}
}

test("`once` sends one report, which the service stores", async () => {
	const device = await agents.enroll();
	const { folder, deviceId } = device;
	const { code, stdout } = await runAgent(["once", "--json", "--dir", folder]);
	expect(code).toBe(0);
	expect(JSON.parse(stdout)).toMatchObject({
		device_id: deviceId,
		sent_reports: 1,
		queued_reports: 0,
		error: null,
	});
	expect(await agents.countReports(device)).toBe(1);
});

test("reports survive an outage of the service, and each arrives exactly once", async () => {
	const device = await agents.enroll();
	const { folder } = device;
	await agents.database.cut();
	const why = "The results are stored and sent next time";
	const first = await runAgent(["once", "--dir", folder]);
	expect([first.code, first.stdout]).toEqual([1, ""]);
	expect(first.stderr).toContain(why);
	const second = await runAgent([
		...["once", "--force", "--json", "--dir", folder],
	]);
	expect(second.code).toBe(1);
	expect(JSON.parse(second.stdout)).toMatchObject({
		sent_reports: 0,
		queued_reports: 2,
		results: expect.arrayContaining([expect.anything()]),
		error: expect.stringContaining(why),
	});
	expect(await listQueue(folder)).toHaveLength(2);
	const status = JSON.parse(
		(await runAgent(["status", "--json", "--dir", folder])).stdout,
	);
	expect(status).toMatchObject({
		enrolled: true,
		queued_reports: 2,
		trouble: { reason: expect.stringContaining("answered 503") },
	});
	await agents.database.restore();
	// The checks are not due, so this call sends only the reports that wait.
	const third = await runAgent(["once", "--dir", folder]);
	expect(third.stdout).toMatch(
		/^The checks are due at 2\S+; --force runs them now\.\n\nSent 2 reports/,
	);
	expect(await agents.countReports(device)).toBe(2);
	expect(await listQueue(folder)).toEqual([]);
	const forced = await runAgent(["once", "--force", "--dir", folder]);
	expect(forced.stdout).toContain("Sent 1 report ");
});

test("`run` reports until it is asked to stop, exits with 0, and starts again after a kill", async () => {
	const device = await agents.enroll();
	const { folder } = device;
	const first = startAgent(folder);
	await eventually(async () => (await agents.countReports(device)) === 1);
	first.child.kill("SIGKILL");
	await once(first.child, "exit");

	const second = startAgent(folder);
	await eventually(() => second.logged().includes("reporting to"));
	const refused = await runAgent(["once", "--dir", folder]);
	expect(refused.stderr).toContain(
		`is already running for ${folder} (process ${second.child.pid})`,
	);
	second.child.kill("SIGTERM");
	expect(await once(second.child, "exit")).toEqual([0, null]);
	expect(await readdir(folder)).not.toContain("run.lock");
	expect(await agents.countReports(device)).toBe(1);
});

test("a stop during a request ends the agent at once with exit code 0", async () => {
	const service = await startScriptedService();
	service.answer(() => false);
	const { folder } = await makeEnrolledFolder(service.url);
	const { child } = startAgent(folder);
	await service.until((seen) => seen.length === 1);
	child.kill("SIGTERM");
	expect(await once(child, "exit")).toEqual([0, null]);
});

test("the agent of a revoked device removes its key and says what to do", async () => {
	const device = await agents.enroll();
	const { folder } = device;
	await agents.query(
		device,
		"update devices set status = 'REVOKED', key_hash = null, revoked_at = now() where id = $1",
	);
	const first = await runAgent(["once", "--dir", folder]);
	expect(first.code).toBe(1);
	expect(first.stderr).toContain("rejected this device's key (1 of 3 times)");
	// The two later questions are not due for 15 minutes.
	const state = await readState(folder);
	const past = new Date(Date.now() - 15 * 60_000).toISOString();
	if (state) {
		await writeState(folder, {
			...state,
			rejection: { since: past, last_at: past, total: 2, from_assay: 2 },
		});
	}
	const { code, stderr } = await runAgent(["once", "--dir", folder]);
	expect(code).toBe(3);
	expect(stderr).toContain("get a new enrollment token");
	expect(await readCredentials(folder)).toBeUndefined();
	const { stdout } = await runAgent(["status", "--dir", folder]);
	expect(stdout).toContain(
		"Not enrolled: the service rejected this device's key",
	);
});

test("exit code 3 and a sentence tell a script that the device is not enrolled", async () => {
	const folder = await makeAgentFolder();
	const status = await runAgent(["status", "--json", "--dir", folder]);
	expect(status.code).toBe(3);
	expect(JSON.parse(status.stdout)).toMatchObject({ enrolled: false });
	const sent = await runAgent(["once", "--json", "--dir", folder]);
	expect(sent.code).toBe(3);
	expect(JSON.parse(sent.stdout)).toEqual({
		error: expect.stringContaining("is not enrolled"),
	});
});

test("`status` shows the agent's state and never the key", async () => {
	const device = await agents.enroll();
	const { folder, deviceId } = device;
	await runAgent(["once", "--dir", folder]);
	const { stdout } = await runAgent(["status", "--dir", folder]);
	for (const text of [
		agents.assay.service.url,
		deviceId,
		"not running",
		"0 reports",
	]) {
		expect(stdout).toContain(text);
	}
	// The agent is not running, so there is no time of a next heartbeat.
	expect(stdout).not.toContain("next about");
	const key = (await readCredentials(folder))?.api_key ?? "";
	expect(key).toMatch(/^asy_dev_/);
	const asJson = await runAgent(["status", "--json", "--dir", folder]);
	expect(stdout + asJson.stdout).not.toContain(key);
	expect(JSON.stringify(await readState(folder))).not.toContain(key);
});

test("`checks` shows the results without an enrollment or a service", async () => {
	const { code, stdout } = await runAgent(["checks"]);
	expect(code).toBe(0);
	expect(
		stdout.match(/^(PASS|FAIL|UNKNOWN|NOT_APPLICABLE) +[A-Z_]+ /gm),
	).toHaveLength(CHECK_KEYS.length);
	const asJson = await runAgent(["checks", "--json"]);
	expect(JSON.parse(asJson.stdout).results).toHaveLength(CHECK_KEYS.length);
});

test("`checks` shows everything that a heartbeat contains about the device, and writes nothing", async () => {
	const device = await agents.enroll();
	const [row] = await agents.query<Record<string, string | null>>(
		device,
		"select hardware_uuid, serial_number, hostname, platform, os_version, agent_version from devices where id = $1",
	);
	const sent = Object.entries(row ?? {}).filter(([, value]) => value !== null);
	const { stdout } = await runAgent(["checks", "--dir", device.folder]);
	for (const [name, value] of sent) {
		expect(stdout).toMatch(new RegExp(`^  ${name} +`, "m"));
		expect(stdout).toContain(value);
	}
	const asJson = await runAgent(["checks", "--json", "--dir", device.folder]);
	expect(JSON.parse(asJson.stdout).heartbeat).toEqual(Object.fromEntries(sent));

	const elsewhere = join(device.folder, "nowhere");
	await runAgent(["checks", "--dir", elsewhere]);
	await expect(stat(elsewhere)).rejects.toThrow("ENOENT");
});

test("every command has a help text", async () => {
	for (const name of [
		"install",
		"run",
		"once",
		"status",
		"checks",
		"uninstall",
	]) {
		const { code, stdout, stderr } = await runAgent([name, "--help"]);
		expect([name, code, stderr]).toEqual([name, 0, ""]);
		expect(stdout).toContain(`Usage: assay agent ${name}`);
	}
});

test("wrong usage exits with code 2 and says what is possible", async () => {
	for (const args of [[], ["install"], ["start"], ["run", "--what"]]) {
		const { code, stdout } = await runAgent(args);
		expect([args, code, stdout]).toEqual([args, 2, ""]);
	}
});
