import { afterAll, beforeAll, expect, test } from "vitest";
import { listDevicePostures } from "../../src/devices/posture-operations.ts";
import { getDevice, listDevices } from "../../src/devices/read-operations.ts";
import {
	getDevicePostureReport,
	listDevicePostureReports,
} from "../../src/devices/report-operations.ts";
import { makeId } from "../../src/id.ts";
import { shareFleet, type TestFleet } from "../support/devices.ts";
import type { TestDevice } from "../support/service.ts";

let fleet: TestFleet;
beforeAll(async () => {
	fleet = await shareFleet();
});
afterAll(() => fleet.assay.close());

/** Returns noon of a day in March. */
const on = (day: number) => `2026-03-${String(day).padStart(2, "0")}T12:00:00Z`;
const shown = (day: number) => on(day).replace("Z", ".000Z");

async function statesAt(device: TestDevice, as_of: string) {
	const { device_postures } = await fleet.call(listDevicePostures, {
		device_id: device.id,
		as_of,
	});
	return Object.fromEntries(
		device_postures.map(({ check_key, status }) => [check_key, status]),
	);
}

test("the history lists the newest spans first and can be filtered by check and time and read page by page", async () => {
	const device = await fleet.assay.activateDevice();
	await fleet.report(device, { observed_at: on(1) });
	await fleet.report(device, { observed_at: on(3) });
	await fleet.report(device, { observed_at: on(5), status: "FAIL" });
	await fleet.report(device, { observed_at: on(7), check_key: "OWN" });
	await fleet.report(device, { observed_at: on(9), status: "PASS" });

	const read = async (input: object = {}) =>
		(await fleet.call(listDevicePostures, { device_id: device.id, ...input }))
			.device_postures;
	const all = await read();
	expect(all).toMatchObject([
		{ check_key: "DISK_ENCRYPTION", status: "PASS", is_current: true },
		{ check_key: "OWN", check_name: null, status: "PASS", until: null },
		{ status: "FAIL", since: shown(5), until: shown(9), is_current: false },
		{
			device_id: device.id,
			check_key: "DISK_ENCRYPTION",
			check_name: "Full-disk encryption",
			status: "PASS",
			since: shown(1),
			last_observed_at: shown(3),
			until: shown(5),
		},
	]);
	expect(await read({ check_key: "OWN" })).toEqual([all[1]]);
	expect(await read({ check_key: "own" })).toEqual([all[1]]);
	expect(await read({ check_key: "Full-disk encryption" })).toHaveLength(3);
	await expect(read({ check_key: "disk" })).rejects.toThrow(
		'check_key: no device has reported the check "disk"; the checks are DISK_ENCRYPTION',
	);
	expect(await read({ from: on(6), until: on(8) })).toEqual([all[1], all[2]]);
	expect(await read({ until: on(1) })).toEqual([all[3]]);
	expect(await read({ from: on(2), until: on(2) })).toEqual([all[3]]);
	await expect(read({ from: on(8), until: on(6) })).rejects.toThrow(
		"until: must not be before from",
	);

	const paged = [];
	let cursor: string | null = null;
	do {
		const page: { device_postures: object[]; next_cursor: string | null } =
			await fleet.call(listDevicePostures, {
				device_id: device.id,
				size: 1,
				cursor,
			});
		paged.push(...page.device_postures);
		cursor = page.next_cursor;
	} while (cursor !== null);
	expect(paged).toEqual(all);
});

test("as_of gives the state of every check at that time, also if reports arrived in another order", async () => {
	const device = await fleet.assay.activateDevice();
	await fleet.report(
		device,
		{ observed_at: on(20) },
		{ observed_at: on(20), check_key: "SCREEN_LOCK" },
	);
	expect(await statesAt(device, on(19))).toEqual({});
	// This report comes late from a queue. It says that the disk was not encrypted from the 10th to
	// the 15th.
	await fleet.report(device, { observed_at: on(10), status: "FAIL" });
	await fleet.report(device, { observed_at: on(15), status: "PASS" });
	expect(await statesAt(device, on(9))).toEqual({});
	expect(await statesAt(device, "2026-03-10T13:00:00+01:00")).toEqual({
		DISK_ENCRYPTION: "FAIL",
	});
	expect(await statesAt(device, on(14))).toEqual({ DISK_ENCRYPTION: "FAIL" });
	expect(await statesAt(device, on(15))).toEqual({ DISK_ENCRYPTION: "PASS" });
	expect(await statesAt(device, on(31))).toEqual({
		DISK_ENCRYPTION: "PASS",
		SCREEN_LOCK: "PASS",
	});
});

test("if a displayed time is used as as_of, the result includes what happened at that time", async () => {
	const device = await fleet.assay.activateDevice();
	await fleet.report(device, { observed_at: "2026-03-01T08:00:00.123456Z" });
	expect(await statesAt(device, "2026-03-01T08:00:00.122Z")).toEqual({});
	expect(await statesAt(device, "2026-03-01T08:00:00.123Z")).toEqual({
		DISK_ENCRYPTION: "PASS",
	});
});

test.each([
	"yesterday",
	"2026-03-01",
	"2026-13-01T00:00:00Z",
])("as_of %j is rejected with an example of a time", async (as_of) => {
	const device_id = makeId(fleet.assay.organizationId, "device");
	await expect(
		fleet.call(listDevicePostures, { device_id, as_of }),
	).rejects.toMatchObject({
		code: "bad_request",
		message: expect.stringMatching(/^as_of: .*RFC 3339/) as string,
	});
});

test("the evidence comes from the last report that confirmed the state, and is null if that report has been removed", async () => {
	const device = await fleet.assay.activateDevice();
	const own = "K".repeat(200);
	await fleet.report(device, {
		observed_at: on(1),
		evidence: { seen: "first" },
	});
	await fleet.report(
		device,
		{ observed_at: on(2), evidence: { seen: "earlier" } },
		{ observed_at: on(3), evidence: { seen: "last" } },
		{ observed_at: on(3), check_key: own, evidence: { seen: "own" } },
	);
	const seen = async () => {
		const { device: found } = await fleet.call(getDevice, { id: device.id });
		const { devices } = await fleet.call(listDevices, {
			organization_id: fleet.assay.organizationId,
			include_evidence: true,
			size: 100,
		});
		const { group_policies, ...rest } = found;
		expect(devices.find(({ id }) => id === device.id)).toEqual(rest);
		expect(group_policies).toEqual([]);
		return found.postures.map(({ evidence }) => evidence);
	};
	expect(await seen()).toEqual([{ seen: "last" }, { seen: "own" }]);
	await fleet.assay.database.owner.query(
		"delete from posture_reports where device_id = $1",
		[device.id],
	);
	expect(await seen()).toEqual([null, null]);
});

test("a raw report contains the evidence that was sent, and the history and the list contain its id", async () => {
	const device = await fleet.assay.activateDevice();
	const report_id = makeId(fleet.assay.organizationId, "device_posture_report");
	await fleet.report(device, {
		observed_at: on(4),
		status: "UNKNOWN",
		evidence: { error: "no tool" },
		correlation_id: report_id,
	});
	await fleet.report(device, { observed_at: on(5), correlation_id: "" });
	const { posture_reports } = await fleet.call(listDevicePostureReports, {
		device_id: device.id,
	});
	expect(posture_reports).toHaveLength(2);
	expect(posture_reports[1]).toEqual({
		report_id,
		device_id: device.id,
		received_at: expect.stringMatching(/Z$/),
		observed_at: "2026-03-04T12:00:00.000000Z",
		// The test calls the operation without the service, and only the service knows how long it
		// keeps reports.
		kept_until: null,
		failing_checks: [],
		pass: 0,
		fail: 0,
		unknown: 1,
		not_applicable: 0,
	});
	const history = await fleet.call(listDevicePostures, {
		device_id: device.id,
	});
	expect(history.device_postures[1]?.first_report_id).toBe(report_id);
	const read = await fleet.call(
		getDevicePostureReport,
		{ device_id: device.id, report_id },
		{ role: "viewer" },
	);
	const gone = makeId(fleet.assay.organizationId, "device_posture_report");
	await expect(
		fleet.call(getDevicePostureReport, {
			device_id: device.id,
			report_id: gone,
		}),
	).rejects.toMatchObject({
		code: "not_found",
		message: expect.stringContaining(
			`${gone}, or the report was deleted after the retention period`,
		) as string,
	});
	expect(read.posture_report).toEqual({
		report_id,
		device_id: device.id,
		received_at: posture_reports[1]?.received_at,
		results: [
			{
				check_key: "DISK_ENCRYPTION",
				check_name: "Full-disk encryption",
				status: "UNKNOWN",
				observed_at: "2026-03-04T12:00:00.000000Z",
				evidence: { error: "no tool" },
			},
		],
	});
});
