import { spawn } from "node:child_process";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { readCredentials } from "../../agent/credentials.ts";
import { addEnrollmentKey } from "../../src/devices/enrollment-key-operations.ts";
import { makeId } from "../../src/id.ts";
import { invoke } from "../../src/invoke.ts";
import { makeLogger } from "../../src/log.ts";
import { systemPrincipal } from "../../src/principal.ts";
import { runAgent } from "../support/command.ts";
import { startAgents, type TestAgents } from "./agents.ts";
import { makeAgentFolder } from "./folders.ts";
import { startScriptedService } from "./scripted-service.ts";

let agents: TestAgents;
beforeAll(async () => {
	agents = await startAgents();
});
afterAll(() => agents.assay.close());

test("`install` enrolls and activates the device, stores the key so that only root can read it, and names the next step", async () => {
	const folder = await makeAgentFolder();
	const { id, token, organizationId } = await agents.makeToken();
	const { stdout, code } = await runAgent(
		[
			"install",
			"--server",
			agents.assay.service.url,
			"--no-service",
			"--dir",
			folder,
		],
		{ ASSAY_ENROLLMENT_TOKEN: token },
	);
	expect(code).toBe(0);
	expect(stdout).toContain(
		`This device is enrolled with ${agents.assay.service.url} as ${id}.`,
	);
	expect(stdout).toContain("Otherwise start the agent with");
	expect(stdout).not.toContain("asy_");
	expect((await stat(folder)).mode & 0o777).toBe(0o700);
	expect((await stat(join(folder, "credentials.json"))).mode & 0o777).toBe(
		0o600,
	);
	expect(await agents.readStatus({ organizationId, deviceId: id })).toBe(
		"ACTIVE",
	);

	const again = await agents.install(folder);
	expect(again.code).toBe(1);
	expect(again.stderr).toContain("this device is already enrolled");
});

test("a second enrollment replaces the device and revokes its key", async () => {
	const device = await agents.enroll();
	const { folder, organizationId } = device;
	const { id, token } = await agents.assay.makeToken(organizationId);
	const file = join(folder, "..", `${id}.token`);
	await writeFile(file, `${token}\n`);
	const { stdout } = await agents.install(folder, "", [
		"--force",
		"--json",
		"--enrollment-token-file",
		file,
	]);
	expect(JSON.parse(stdout)).toMatchObject({ device_id: id, warnings: [] });
	expect(await agents.readStatus(device)).toBe("REVOKED");
});

/** Makes an enrollment key for one device. */
async function makeKey(organizationId: string, requiresApproval = false) {
	const services = {
		pool: agents.assay.database.pool,
		log: makeLogger("silent"),
		baseUrl: agents.assay.service.url,
	};
	const { key, enrollment_key: secret } = await invoke(
		services,
		systemPrincipal(organizationId),
		addEnrollmentKey,
		{
			organization_id: organizationId,
			name: "Laptops",
			max_devices: 1,
			requires_approval: requiresApproval,
		},
	);
	return { key, secret };
}

test("`install` takes an enrollment key from a file, and claims an owner", async () => {
	const { organizationId } = await agents.makeToken();
	const { key, secret } = await makeKey(organizationId);
	const ada = makeId(organizationId, "people");
	await agents.assay.database.owner.query(
		"insert into people (organization_id, id, full_name, primary_email_address, kind) values ($1, $2, 'Ada', 'ada@example.com', 'EMPLOYEE')",
		[organizationId, ada],
	);
	const folder = await makeAgentFolder();
	const file = join(folder, "..", `${key.id}.key`);
	await writeFile(file, `${secret}\n`);
	const { code, stdout } = await agents.install(folder, "", [
		...["--json", "--enrollment-token-file", file],
		...["--owner-email", "ada@example.com"],
	]);
	expect(code).toBe(0);
	const { device_id: deviceId } = JSON.parse(stdout);
	expect(await agents.readStatus({ organizationId, deviceId })).toBe("ACTIVE");
	expect(
		await agents.query(
			{ organizationId, deviceId },
			"select claimed_owner_id, enrollment_key_id from devices where id = $1",
		),
	).toEqual([{ claimed_owner_id: ada, enrollment_key_id: key.id }]);
});

test("`install` on a machine that is enrolled twice says what to do and who must do it", async () => {
	const { organizationId } = await agents.enroll();
	const folder = await makeAgentFolder();
	const { token } = await agents.assay.makeToken(organizationId);
	const { code, stdout } = await agents.install(folder, token);
	expect(code).toBe(0);
	expect(stdout).toContain("same device, set up again");
	expect(await readCredentials(folder)).toBeDefined();
});

test("`install` of a device that only waits for approval speaks of nothing else", async () => {
	const { organizationId } = await agents.makeToken();
	const { secret } = await makeKey(organizationId, true);
	const { code, stdout } = await agents.install(
		await makeAgentFolder(),
		secret,
	);
	expect(code).toBe(0);
	expect(stdout).toContain("until an administrator approves it");
	expect(stdout).not.toContain("set up again");
});

test.each([
	["no token", "", "no enrollment token in standard input"],
	["an unknown token", "asy_enr_x", "ask an administrator for a new one"],
	["two lines", "one\ntwo", "copy the token again"],
])("`install` with %s leaves no folder behind and says why", async (_, input, message) => {
	const outer = await makeAgentFolder();
	const folder = join(outer, "var/agent");
	const { code, stderr, stdout } = await agents.install(folder, input);
	expect(code).toBeGreaterThan(0);
	expect(stderr).toContain(message);
	expect(stdout).toBe("");
	expect(await readdir(outer)).not.toContain("var");
	const asJson = await agents.install(folder, input, ["--json"]);
	expect(JSON.parse(asJson.stdout)).toEqual({
		error: expect.stringContaining(message),
	});
});

test("an install that fails does not change what an earlier enrollment stored", async () => {
	const { folder } = await agents.enroll();
	await runAgent(["once", "--dir", folder]);
	const before = await readdir(folder);
	const { code } = await agents.install(folder, "asy_enr_x", ["--force"]);
	expect(code).toBe(1);
	expect(await readdir(folder)).toEqual(before);
	expect(await readCredentials(folder)).toBeDefined();
});

test("a token is used only after the folder has proved to be the agent's and writable", async () => {
	const { token } = await agents.assay.makeToken();
	const folder = await makeAgentFolder();
	const other = join(folder, "queue");
	await writeFile(join(other, "thesis.txt"), "");
	expect((await agents.install(other, token)).stderr).toContain(
		"contains files that are not the agent's",
	);
	expect(
		(await agents.install(join(other, "thesis.txt"), token)).stderr,
	).toContain("is not a folder");
	expect((await agents.install("/proc/assay-agent", token)).code).toBe(1);
	expect(await readdir(other)).toEqual(["thesis.txt"]);
	const { status } = await agents.assay.post("enroll", { token });
	expect(status).toBe(200);
});

test.each([
	[["--token", "asy_enr_x"]],
	[["--enrollment-token=asy_enr_x"]],
	[["asy_enr_x"]],
	[["--enrollment-key", "asy_enk_x"]],
	[["asy_enk_x"]],
])("a token on the command line is rejected with the reason: %j", async (args) => {
	const { code, stderr } = await runAgent([
		"install",
		"--server",
		"https://localhost",
		...args,
	]);
	expect(code).toBe(2);
	expect(stderr).toContain("every user of this machine can read it");
	expect(stderr).not.toMatch(/asy_en[rk]_/);
});

test("the programs that the agent starts have the token neither in their command line nor in their environment", async () => {
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

test("an http address is rejected unless it is this machine", async () => {
	const { code, stderr } = await runAgent([
		"install",
		"--server",
		"http://assay.example.com",
	]);
	expect(code).toBe(2);
	expect(stderr).toContain("must begin with https://");
});

test("`uninstall` revokes the key, leaves nothing behind, and may be repeated", async () => {
	const device = await agents.enroll();
	const { folder } = device;
	const key = (await readCredentials(folder))?.api_key ?? "";
	const { code, stdout } = await runAgent(["uninstall", "--dir", folder]);
	expect({ code, stdout }).toEqual({
		code: 0,
		stdout:
			"The agent was removed from this device, and the service revoked its key.\n",
	});
	expect((await agents.assay.post("unenroll", "", { key })).status).toBe(401);
	expect(await agents.readStatus(device)).toBe("REVOKED");
	await expect(stat(folder)).rejects.toThrow("ENOENT");
	const again = await runAgent(["uninstall", "--dir", folder]);
	expect([again.code, again.stdout]).toEqual([
		0,
		expect.stringContaining("There was no enrolled agent"),
	]);
});

test("`uninstall` removes the key even if the service cannot be reached, and keeps files that are not the agent's", async () => {
	const service = await startScriptedService();
	const folder = await makeAgentFolder();
	await agents.install(folder, "token", [], service.url);
	await service.close();
	await writeFile(join(folder, "thesis.txt"), "");
	const { code, stdout } = await runAgent(["uninstall", "--dir", folder]);
	expect(code).toBe(0);
	expect(stdout).toContain("Ask an administrator to revoke this device");
	expect(await readdir(folder)).toEqual(["thesis.txt"]);
});
