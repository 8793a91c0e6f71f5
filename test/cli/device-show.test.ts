import { afterAll, beforeAll, expect, test } from "vitest";
import { getDevice } from "../../src/devices/read-operations.ts";
import { runCommand } from "../support/command.ts";
import { startFleet, type TestFleet } from "../support/devices.ts";
import type { TestDevice } from "../support/service.ts";

let fleet: TestFleet;
let device: TestDevice;
beforeAll(async () => {
	fleet = await startFleet();
	device = await fleet.assay.activateDevice();
	await fleet.report(
		device,
		{
			check_key: "PASSWORD_POLICY",
			status: "FAIL",
			evidence: { engine: "pam_unix", minimum_length: 6 },
		},
		{
			check_key: "FIREWALL_ENABLED",
			status: "UNKNOWN",
			evidence: { reason: "needs_root" },
		},
		{ check_key: "TIME_SYNC", status: "PASS", evidence: { service: "ntpd" } },
		{
			check_key: "REMOTE_LOGIN",
			status: "FAIL",
			evidence: { open_services: ["vnc\u001b[2J"] },
		},
	);
});
afterAll(() => fleet.assay.close());

test("getDevice says why a check fails or is unknown, and how to fix it", async () => {
	const { device: found } = await fleet.call(getDevice, { id: device.id });
	const [firewall, password, , time] = found.postures;
	expect(firewall).toMatchObject({
		check_key: "FIREWALL_ENABLED",
		reason: "the agent needs the rights of root",
		remediation: expect.stringContaining("as a service"),
	});
	expect(password).toMatchObject({
		check_key: "PASSWORD_POLICY",
		reason: "the minimum length is 6; at least 8 is required",
		remediation: expect.stringContaining("pwquality"),
	});
	expect(time).not.toHaveProperty("reason");
	expect(time).not.toHaveProperty("remediation");
});

test("`device show` prints the names of the checks, their evidence and how to fix them", async () => {
	const { code, stdout } = await runCommand(
		["device", "show", device.id, "--org", fleet.assay.organizationId],
		{ DATABASE_URL: fleet.assay.database.url },
	);
	expect(code).toBe(0);
	expect(stdout).toMatch(
		/^Local password policy +FAIL .* engine=pam_unix minimum_length=6$/m,
	);
	expect(stdout).toMatch(
		/^Local password policy \(FAIL\): the minimum length is 6; at least 8 is required\n {2}Ask an administrator .*\n {2}Administrators: /m,
	);
	expect(stdout).toMatch(/^Host firewall \(UNKNOWN\): /m);
	expect(stdout).not.toMatch(/^System clock synchronization \(/m);
	expect(stdout).not.toContain("\u001b");
});
