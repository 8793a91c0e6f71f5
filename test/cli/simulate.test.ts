import { afterAll, beforeAll, expect, test } from "vitest";
import { enrollAll, makeCounts } from "../../simulator/enroll.ts";
import { makeFleet } from "../../simulator/fleet.ts";
import { keepReporting } from "../../simulator/keep-reporting.ts";
import { machineOf } from "../../simulator/machine.ts";
import { Pace } from "../../simulator/pace.ts";
import { resultsOf } from "../../simulator/posture.ts";
import { makeServiceClient } from "../../simulator/service-client.ts";
import {
	CHECK_KEYS,
	PLATFORMS,
	POSTURE_STATUSES,
} from "../../src/devices/terms.ts";
import { runCommand } from "../support/command.ts";
import { startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await startTools();
});
afterAll(() => tools.close());

const DAY_MS = 86_400_000;
const NOW = Date.parse("2026-11-21T12:00:00Z");
const look = { seed: 1, at: NOW, begun: NOW, drift: 0.01 };

test("simulated devices enroll and report to the real service, which shows duplicates and copies", async () => {
	const { stdout, stderr, code } = await runCommand(
		[
			...["simulate", "--url", tools.url, "--org", tools.organizationId],
			...["--devices", "10", "--rate", "500", "--duration", "1"],
			...["--seed", "5", "--json"],
		],
		{ ASSAY_TOKEN: tools.admin.token },
	);
	expect(stderr).toContain("seed 5");
	expect(code).toBe(0);
	expect(JSON.parse(stdout)).toMatchObject({
		seed: 5,
		devices: 10,
		enrolled: 10,
		failed: 0,
		revoked: 0,
	});
	const { devices } = await tools.use("listDevices", {
		organization_id: tools.organizationId,
		size: 100,
		include_evidence: true,
	});
	expect(devices).toHaveLength(10);
	const pending = devices.filter(
		(device: { status: string }) => device.status === "PENDING",
	);
	expect(pending).toMatchObject([{ conflicts: ["DUPLICATE_HARDWARE"] }]);
	const active = devices.filter(
		(device: { status: string }) => device.status === "ACTIVE",
	);
	expect(
		active.flatMap(({ conflicts }: { conflicts: string[] }) => conflicts),
	).toEqual(["POSSIBLE_CLONE"]);
	for (const device of active) {
		expect(device.postures).toHaveLength(CHECK_KEYS.length);
		for (const { evidence } of device.postures) {
			expect(Object.keys(evidence).length).toBeGreaterThan(0);
		}
	}
});

test("a revoked device stops reporting, and the others continue", async () => {
	const stop = new AbortController();
	const counts = makeCounts();
	const fleet = makeFleet(77, 0);
	const client = makeServiceClient(
		tools.url,
		tools.organizationId,
		tools.admin.token,
	);
	const pace = new Pace(1000);
	await enrollAll(fleet, client, 3, pace, stop.signal, counts);
	expect(counts).toMatchObject({ enrolled: 3, heartbeats: 3, reports: 3 });
	await tools.use("updateOrganizationSettings", {
		organization_id: tools.organizationId,
		heartbeat_interval_seconds: 30,
		posture_interval_seconds: 60,
	});
	await tools.use("revokeDevice", { id: fleet.deviceIds[0] });
	const running = keepReporting(fleet, client, pace, stop.signal, counts);
	await expect.poll(() => counts.revoked).toBeGreaterThan(0);
	stop.abort();
	await running;
	expect(fleet.keys.map((key) => key !== undefined)).toEqual([
		false,
		true,
		true,
	]);
});

test("a token that may not add devices is reported with exit code 1", async () => {
	const { code, stderr } = await runCommand(
		["simulate", "--url", tools.url, "--org", tools.organizationId],
		{ ASSAY_TOKEN: tools.viewer.token },
	);
	expect(code).toBe(1);
	expect(stderr).toContain("needs the role admin");
});

test("an address on which nothing listens is reported, and a wrong number counts as wrong usage", async () => {
	const args = ["simulate", "--org", tools.organizationId];
	const settings = { ASSAY_TOKEN: tools.admin.token };
	const away = await runCommand(
		[...args, "--url", "http://127.0.0.1:9"],
		settings,
	);
	expect(away).toMatchObject({
		code: 1,
		stderr: expect.stringContaining("no Assay service answers"),
	});
	const wrong = await runCommand([...args, "--devices", "1e9"], settings);
	expect(wrong).toMatchObject({
		code: 2,
		stderr: expect.stringContaining("from 1 to 100000"),
	});
	expect((await runCommand(args)).stderr).toContain("ASSAY_TOKEN");
});

test("the same seed gives the same devices and results, and another seed gives others", () => {
	const of = (seed: number) =>
		Array.from({ length: 50 }, (_, n) => {
			const machine = machineOf(seed, n);
			return [machine, resultsOf(machine, { ...look, seed })];
		});
	expect(of(1)).toEqual(of(1));
	expect(of(2)).not.toEqual(of(1));
});

test("a fleet has every platform and status, checks that begin to fail and some that recover", () => {
	const machines = Array.from({ length: 300 }, (_, n) => machineOf(1, n));
	expect(
		[...new Set(machines.map(({ facts }) => facts.platform))].sort(),
	).toEqual([...PLATFORMS].sort());
	expect(new Set(machines.map(({ facts }) => facts.hardware_uuid)).size).toBe(
		300,
	);
	const statusesAt = (at: number) =>
		machines.flatMap((machine) =>
			resultsOf(machine, { ...look, at }).map(({ status }) => status),
		);
	const before = statusesAt(NOW - 60 * DAY_MS);
	const now = statusesAt(NOW);
	expect([...new Set(now)].sort()).toEqual([...POSTURE_STATUSES].sort());
	const changes = (from: string, to: string) =>
		before.filter((status, at) => status === from && now[at] === to).length;
	expect(changes("PASS", "FAIL")).toBeGreaterThan(10);
	expect(changes("FAIL", "PASS")).toBeGreaterThan(10);
	const passing = now.filter((status) => status === "PASS").length;
	expect(passing / now.length).toBeGreaterThan(0.8);
});

test("simulated devices report every canonical check, as the agent does", () => {
	for (let n = 0; n < 100; n++) {
		const machine = machineOf(1, n);
		expect(resultsOf(machine, look).map(({ check_key }) => check_key)).toEqual(
			CHECK_KEYS,
		);
	}
});
