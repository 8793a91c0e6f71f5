import { afterAll, beforeAll, expect, test } from "vitest";
import { listPostureSummary } from "../../src/devices/posture-summary.ts";
import { getDevice, listDevices } from "../../src/devices/read-operations.ts";
import { updateOrganizationSettings } from "../../src/organizations/organization-operations.ts";
import { countRecords } from "../../src/overview/count-records.ts";
import { getOverview } from "../../src/overview/overview.ts";
import { runCommand } from "../support/command.ts";
import { startFleet, type TestFleet } from "../support/devices.ts";
import {
	heartbeatBody,
	postureResult,
	type TestDevice,
} from "../support/service.ts";

let fleet: TestFleet;
let organization_id: string;
beforeAll(async () => {
	fleet = await startFleet();
	organization_id = fleet.assay.organizationId;
});
afterAll(() => fleet.assay.close());

/** Makes the device look as if it had been activated and had last reported hours ago. */
async function age({ id }: TestDevice, hours: number): Promise<void> {
	const { owner } = fleet.assay.database;
	await owner.query("alter table devices no force row level security");
	await owner.query("alter table posture_spans no force row level security");
	await owner.query(
		"update devices set activated_at = activated_at - $2 * interval '1 hour' where id = $1",
		[id, hours],
	);
	await owner.query(
		`update posture_spans set since = since - $2 * interval '1 hour',
			last_observed_at = last_observed_at - $2 * interval '1 hour'
		where device_id = $1`,
		[id, hours],
	);
	await owner.query("alter table devices force row level security");
	await owner.query("alter table posture_spans force row level security");
}

const report = ({ key }: TestDevice) =>
	fleet.assay.post(
		"postures",
		{ results: [postureResult({ status: "FAIL" })] },
		{ key },
	);
const see = async ({ id }: TestDevice) =>
	(await fleet.call(getDevice, { id })).device;
const summary = () => fleet.call(listPostureSummary, { organization_id });

test("a device that sends heartbeats but no report for two posture intervals is NOT_REPORTING in the tools, the counts and the command line", async () => {
	const device = await fleet.assay.activateDevice();
	const other = await fleet.assay.activateDevice();
	const pending = await fleet.assay.enrollDevice();
	expect(await see(pending)).toMatchObject({ reporting: null });
	// The first report of a new device is not due yet.
	expect(await see(device)).toMatchObject({
		freshness: "ONLINE",
		reporting: "REPORTING",
		last_reported_at: null,
	});
	await age(device, 3);
	expect(await see(device)).toMatchObject({ reporting: "NOT_REPORTING" });
	for (const one of [device, other]) {
		expect((await report(one)).status).toBe(204);
	}
	expect(await see(device)).toMatchObject({
		reporting: "REPORTING",
		last_reported_at: expect.any(String),
	});
	expect(await summary()).toMatchObject({ not_reporting: 0, stale_devices: 0 });
	await age(device, 3);
	const beat = heartbeatBody({ hardware_uuid: device.hardwareUuid });
	expect(
		(await fleet.assay.post("heartbeat", beat, { key: device.key })).status,
	).toBe(200);
	expect(await see(device)).toMatchObject({
		freshness: "ONLINE",
		reporting: "NOT_REPORTING",
	});
	const { checks, ...counted } = await summary();
	expect(counted).toMatchObject({
		not_reporting: 1,
		stale_devices: 1,
		devices_by_freshness: { ONLINE: 2 },
	});
	expect(
		checks.find(({ check_key }) => check_key === "DISK_ENCRYPTION"),
	).toMatchObject({ fail: 1, stale: 1 });
	const { devices } = await fleet.call(listDevices, {
		organization_id,
		filter: { reporting: "NOT_REPORTING" } as object,
		detail: "brief",
	});
	expect(devices).toMatchObject([
		{ id: device.id, reporting: "NOT_REPORTING" },
	]);
	const { groups } = await fleet.call(countRecords, {
		organization_id,
		kind: "device",
		group_by: "reporting",
	});
	expect(groups).toContainEqual({ value: "NOT_REPORTING", count: 1 });
	const { failing_longest } = await fleet.call(getOverview, {
		organization_id,
	});
	expect(failing_longest.map(({ device_id }) => device_id)).toEqual([other.id]);
	const shown = await runCommand(
		["device", "show", device.id, "--org", organization_id],
		{ DATABASE_URL: fleet.assay.database.url },
	);
	expect(shown.stdout).toContain("run its install command again");
	const listed = await runCommand(
		["device", "list", "--org", organization_id],
		{ DATABASE_URL: fleet.assay.database.url },
	);
	expect(listed.stdout).toMatch(
		new RegExp(`^${device.id} .*ACTIVE +ONLINE +no `, "m"),
	);
});

test("intervals below what common agents obey carry a warning", async () => {
	const set = async (heartbeat: number, posture: number) =>
		(
			await fleet.call(updateOrganizationSettings, {
				organization_id,
				heartbeat_interval_seconds: heartbeat,
				posture_interval_seconds: posture,
			})
		).warnings;
	expect(await set(59, 899)).toEqual([
		expect.stringContaining("every 60 seconds"),
		expect.stringContaining("every 15 minutes"),
	]);
	expect(await set(60, 900)).toEqual([]);
});
