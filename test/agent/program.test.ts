import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { readCredentials } from "../../agent/credentials.ts";
import { listQueue } from "../../agent/queue.ts";
import { readState } from "../../agent/state.ts";
import { createOrganization } from "../../src/access/organization.ts";
import { withTenant } from "../../src/db/pool.ts";
import { type DatabaseProxy, openDatabaseProxy } from "../database-proxy.ts";
import { assay } from "../program.ts";
import { startService, type TestService } from "../service.ts";
import { makeAgentFolder, makeEnrolledFolder } from "./folders.ts";
import { startScriptedService } from "./scripted-service.ts";

let assayService: TestService;
let database: DatabaseProxy;
beforeAll(async () => {
	assayService = await startService(async (url) => {
		database = await openDatabaseProxy(url);
		return database.url;
	});
});
afterAll(() => assayService.close());

const agent = (
	args: string[],
	settings: Record<string, string> = {},
	input = "",
) => assay(["agent", ...args], settings, process.execPath, input);

/** A token in an organization of its own, where this machine is not a device yet. */
async function makeToken() {
	const organizationId = await createOrganization(
		assayService.database.pool,
		"Acme",
	);
	return { organizationId, ...(await assayService.makeToken(organizationId)) };
}

/** Enrolls this machine in the folder without a service, with what is on standard input. */
const install = (
	folder: string,
	token = "",
	more: string[] = [],
	url = assayService.service.url,
) =>
	agent(
		["install", "--server", url, "--no-service", "--dir", folder, ...more],
		{},
		token,
	);

/** A folder with this machine enrolled in it. */
async function enroll() {
	const folder = await makeAgentFolder();
	const { id, token, organizationId } = await makeToken();
	const { code, stderr } = await install(folder, `${token}\n`);
	expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	return { folder, deviceId: id, organizationId };
}

/** The rows of a query about a device of the organization; $1 is its id. */
function query<Row extends object>(
	{ organizationId, deviceId }: { organizationId: string; deviceId: string },
	sql: string,
): Promise<Row[]> {
	return withTenant(
		assayService.database.pool,
		organizationId,
		async (client) => (await client.query<Row>(sql, [deviceId])).rows,
	);
}

const readStatus = async (device: {
	organizationId: string;
	deviceId: string;
}) => {
	const [row] = await query<{ status: string }>(
		device,
		"select status from devices where id = $1",
	);
	return row?.status;
};

async function countReports(device: {
	organizationId: string;
	deviceId: string;
}): Promise<number> {
	const rows = await query(
		device,
		"select distinct report_id from posture_reports where device_id = $1",
	);
	return rows.length;
}

/** Starts `run` as a service manager would. */
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

test("install enrolls and activates the device, keeps the key for root alone, and says what is next", async () => {
	const folder = await makeAgentFolder();
	const { id, token, organizationId } = await makeToken();
	const { stdout, code } = await agent(
		[
			"install",
			"--server",
			assayService.service.url,
			"--no-service",
			"--dir",
			folder,
		],
		{ ASSAY_ENROLLMENT_TOKEN: token },
	);
	expect(code).toBe(0);
	expect(stdout).toContain(
		`This device is enrolled with ${assayService.service.url} as ${id}.`,
	);
	expect(stdout).toContain("Next: start the agent");
	expect(stdout).not.toContain("asy_");
	expect((await stat(folder)).mode & 0o777).toBe(0o700);
	expect((await stat(join(folder, "credentials.json"))).mode & 0o777).toBe(
		0o600,
	);
	expect(await readStatus({ organizationId, deviceId: id })).toBe("ACTIVE");

	const again = await install(folder);
	expect(again.code).toBe(1);
	expect(again.stderr).toContain("this device is enrolled already");
});

test("an enrollment anew replaces the device, whose key is revoked", async () => {
	const device = await enroll();
	const { folder, organizationId } = device;
	const { id, token } = await assayService.makeToken(organizationId);
	const file = join(folder, "..", `${id}.token`);
	await writeFile(file, `${token}\n`);
	const { stdout } = await install(folder, "", [
		"--force",
		"--json",
		"--enrollment-token-file",
		file,
	]);
	expect(JSON.parse(stdout)).toMatchObject({ device_id: id, warnings: [] });
	expect(await readStatus(device)).toBe("REVOKED");
});

test("a machine that is enrolled twice is told who must do what", async () => {
	const { organizationId } = await enroll();
	const folder = await makeAgentFolder();
	const { token } = await assayService.makeToken(organizationId);
	const { code, stdout } = await install(folder, token);
	expect(code).toBe(0);
	expect(stdout).toContain("its earlier device is the one to revoke");
	expect(await readCredentials(folder)).toBeDefined();
});

test.each([
	["no token", "", "no enrollment token in standard input"],
	["an unknown token", "asy_enr_x", "ask an administrator for a new one"],
	["two lines", "one\ntwo", "copy it again"],
])("install with %s leaves no folder behind and says why", async (_, input, message) => {
	const outer = await makeAgentFolder();
	const folder = join(outer, "var/agent");
	const { code, stderr, stdout } = await install(folder, input);
	expect(code).toBeGreaterThan(0);
	expect(stderr).toContain(message);
	expect(stdout).toBe("");
	expect(await readdir(outer)).not.toContain("var");
	const asJson = await install(folder, input, ["--json"]);
	expect(JSON.parse(asJson.stdout)).toEqual({
		error: expect.stringContaining(message),
	});
});

test("an install that fails leaves what an earlier enrollment kept", async () => {
	const { folder } = await enroll();
	await agent(["once", "--dir", folder]);
	const before = await readdir(folder);
	const { code } = await install(folder, "asy_enr_x", ["--force"]);
	expect(code).toBe(1);
	expect(await readdir(folder)).toEqual(before);
	expect(await readCredentials(folder)).toBeDefined();
});

test("a token is spent only after the folder has proved to be the agent's and writable", async () => {
	const { token } = await assayService.makeToken();
	const folder = await makeAgentFolder();
	const other = join(folder, "queue");
	await writeFile(join(other, "thesis.txt"), "");
	expect((await install(other, token)).stderr).toContain(
		"has files that are not the agent's",
	);
	expect((await install(join(other, "thesis.txt"), token)).stderr).toContain(
		"is no folder",
	);
	expect((await install("/proc/assay-agent", token)).code).toBe(1);
	expect(await readdir(other)).toEqual(["thesis.txt"]);
	const { status } = await assayService.post("enroll", { token });
	expect(status).toBe(200);
});

test.each([
	[["--token", "asy_enr_x"]],
	[["--enrollment-token=asy_enr_x"]],
	[["asy_enr_x"]],
])("a token on the command line is refused with the reason: %j", async (args) => {
	const { code, stderr } = await agent([
		"install",
		"--server",
		"https://localhost",
		...args,
	]);
	expect(code).toBe(2);
	expect(stderr).toContain("every user of this machine can read it");
	expect(stderr).not.toContain("asy_enr_");
});

test("a token is in no command line and no environment of what the agent starts", async () => {
	const service = await startScriptedService();
	const folder = await makeAgentFolder();
	service.answer(() => false);
	const child = spawn(
		process.execPath,
		[
			"bin/assay.js",
			"agent",
			"install",
			"--server",
			service.url,
			"--no-service",
			"--dir",
			folder,
		],
		{
			cwd: join(import.meta.dirname, "../.."),
			stdio: ["pipe", "ignore", "ignore"],
		},
	);
	onTestFinished(() => {
		child.kill("SIGKILL");
	});
	child.stdin.end("asy_enr_s3cret");
	await service.until((seen) => seen.length === 1);
	expect(await readFile(`/proc/${child.pid}/cmdline`, "utf8")).not.toContain(
		"s3cret",
	);
	expect(await readFile(`/proc/${child.pid}/environ`, "utf8")).not.toContain(
		"s3cret",
	);
});

test("http is refused but for this machine", async () => {
	const { code, stderr } = await agent([
		"install",
		"--server",
		"http://assay.example.com",
	]);
	expect(code).toBe(2);
	expect(stderr).toContain("must begin with https://");
});

test("once sends one report, which the service has", async () => {
	const device = await enroll();
	const { folder, deviceId } = device;
	const { code, stdout } = await agent(["once", "--json", "--dir", folder]);
	expect(code).toBe(0);
	expect(JSON.parse(stdout)).toMatchObject({
		device_id: deviceId,
		sent_reports: 1,
		queued_reports: 0,
		error: null,
	});
	expect(await countReports(device)).toBe(1);
});

test("reports outlive an outage of the service and arrive once each", async () => {
	const device = await enroll();
	const { folder } = device;
	await database.cut();
	const why = "What was found waits and is sent next time";
	const first = await agent(["once", "--dir", folder]);
	expect([first.code, first.stdout]).toEqual([1, ""]);
	expect(first.stderr).toContain(why);
	const second = await agent(["once", "--json", "--dir", folder]);
	expect(second.code).toBe(1);
	expect(JSON.parse(second.stdout)).toMatchObject({
		sent_reports: 0,
		queued_reports: 2,
		results: expect.arrayContaining([expect.anything()]),
		error: expect.stringContaining(why),
	});
	expect(await listQueue(folder)).toHaveLength(2);
	const status = JSON.parse(
		(await agent(["status", "--json", "--dir", folder])).stdout,
	);
	expect(status).toMatchObject({
		enrolled: true,
		queued_reports: 2,
		trouble: { reason: expect.stringContaining("answered 503") },
	});
	await database.restore();
	expect((await agent(["once", "--dir", folder])).stdout).toContain(
		"Sent 3 reports",
	);
	expect(await countReports(device)).toBe(3);
	expect(await listQueue(folder)).toEqual([]);
});

test("run reports until it is asked to stop, ends then with 0, and starts again after a kill", async () => {
	const device = await enroll();
	const { folder } = device;
	const first = startAgent(folder);
	await eventually(async () => (await countReports(device)) === 1);
	first.child.kill("SIGKILL");
	await once(first.child, "exit");

	const second = startAgent(folder);
	await eventually(() => second.logged().includes("reporting to"));
	const refused = await agent(["once", "--dir", folder]);
	expect(refused.stderr).toContain(
		`is running already for ${folder} (process ${second.child.pid})`,
	);
	second.child.kill("SIGTERM");
	expect(await once(second.child, "exit")).toEqual([0, null]);
	expect(await readdir(folder)).not.toContain("run.lock");
	expect(await countReports(device)).toBe(1);
});

test("a stop in the middle of a request ends the agent at once, with 0", async () => {
	const service = await startScriptedService();
	service.answer(() => false);
	const { folder } = await makeEnrolledFolder(service.url);
	const { child } = startAgent(folder);
	await service.until((seen) => seen.length === 1);
	child.kill("SIGTERM");
	expect(await once(child, "exit")).toEqual([0, null]);
});

test("a revoked device forgets its key and says what to do", async () => {
	const device = await enroll();
	const { folder } = device;
	await query(
		device,
		"update devices set status = 'REVOKED', key_hash = null, revoked_at = now() where id = $1",
	);
	const { code, stderr } = await agent(["once", "--dir", folder]);
	expect(code).toBe(3);
	expect(stderr).toContain("get a new enrollment token");
	expect(await readCredentials(folder)).toBeUndefined();
	const { stdout } = await agent(["status", "--dir", folder]);
	expect(stdout).toContain(
		"Not enrolled: the service refused this device's key",
	);
});

test("a script tells a device that is not enrolled by the exit code 3, and reads why", async () => {
	const folder = await makeAgentFolder();
	const status = await agent(["status", "--json", "--dir", folder]);
	expect(status.code).toBe(3);
	expect(JSON.parse(status.stdout)).toMatchObject({ enrolled: false });
	const sent = await agent(["once", "--json", "--dir", folder]);
	expect(sent.code).toBe(3);
	expect(JSON.parse(sent.stdout)).toEqual({
		error: expect.stringContaining("is not enrolled"),
	});
});

test("status tells what a person asks, and never the key", async () => {
	const device = await enroll();
	const { folder, deviceId } = device;
	await agent(["once", "--dir", folder]);
	const { stdout } = await agent(["status", "--dir", folder]);
	for (const text of [
		assayService.service.url,
		deviceId,
		"not running",
		"0 reports",
	]) {
		expect(stdout).toContain(text);
	}
	// It does not run, so nothing comes next.
	expect(stdout).not.toContain("next about");
	const key = (await readCredentials(folder))?.api_key ?? "";
	expect(key).toMatch(/^asy_dev_/);
	const asJson = await agent(["status", "--json", "--dir", folder]);
	expect(stdout + asJson.stdout).not.toContain(key);
	expect(JSON.stringify(await readState(folder))).not.toContain(key);
});

test("checks shows what is found, and needs neither enrollment nor service", async () => {
	const { code, stdout } = await agent(["checks"]);
	expect(code).toBe(0);
	expect(
		stdout.match(/^(PASS|FAIL|UNKNOWN|NOT_APPLICABLE) +[A-Z_]+ /gm),
	).toHaveLength(9);
	const asJson = await agent(["checks", "--json"]);
	expect(JSON.parse(asJson.stdout).results).toHaveLength(9);
});

test("checks shows all that a heartbeat says of the device, and writes nothing", async () => {
	const device = await enroll();
	const [row] = await query<Record<string, string | null>>(
		device,
		"select hardware_uuid, serial_number, hostname, platform, os_version, agent_version from devices where id = $1",
	);
	const sent = Object.entries(row ?? {}).filter(([, value]) => value !== null);
	const { stdout } = await agent(["checks", "--dir", device.folder]);
	for (const [name, value] of sent) {
		expect(stdout).toMatch(new RegExp(`^  ${name} +`, "m"));
		expect(stdout).toContain(value);
	}
	const asJson = await agent(["checks", "--json", "--dir", device.folder]);
	expect(JSON.parse(asJson.stdout).heartbeat).toEqual(Object.fromEntries(sent));

	const elsewhere = join(device.folder, "nowhere");
	await agent(["checks", "--dir", elsewhere]);
	await expect(stat(elsewhere)).rejects.toThrow("ENOENT");
});

test("uninstall revokes the key, leaves nothing, and may be repeated", async () => {
	const device = await enroll();
	const { folder } = device;
	const key = (await readCredentials(folder))?.api_key ?? "";
	const { code, stdout } = await agent(["uninstall", "--dir", folder]);
	expect({ code, stdout }).toEqual({
		code: 0,
		stdout:
			"The agent is removed from this device, and the service revoked its key.\n",
	});
	expect((await assayService.post("unenroll", "", { key })).status).toBe(401);
	expect(await readStatus(device)).toBe("REVOKED");
	await expect(stat(folder)).rejects.toThrow("ENOENT");
	const again = await agent(["uninstall", "--dir", folder]);
	expect([again.code, again.stdout]).toEqual([
		0,
		expect.stringContaining("No enrolled agent"),
	]);
});

test("uninstall removes the key also when the service is away, and leaves what is not its own", async () => {
	const service = await startScriptedService();
	const folder = await makeAgentFolder();
	await install(folder, "token", [], service.url);
	await service.close();
	await writeFile(join(folder, "thesis.txt"), "");
	const { code, stdout } = await agent(["uninstall", "--dir", folder]);
	expect(code).toBe(0);
	expect(stdout).toContain("Ask an administrator to revoke this device");
	expect(await readdir(folder)).toEqual(["thesis.txt"]);
});

test("every command explains itself", async () => {
	for (const name of [
		"install",
		"run",
		"once",
		"status",
		"checks",
		"uninstall",
	]) {
		const { code, stdout, stderr } = await agent([name, "--help"]);
		expect([name, code, stderr]).toEqual([name, 0, ""]);
		expect(stdout).toContain(`Usage: assay agent ${name}`);
	}
});

test("wrong usage ends with 2 and says what is possible", async () => {
	for (const args of [[], ["install"], ["start"], ["run", "--what"]]) {
		const { code, stdout } = await agent(args);
		expect([args, code, stdout]).toEqual([args, 2, ""]);
	}
});
