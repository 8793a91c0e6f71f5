import { afterAll, beforeAll, expect, test } from "vitest";
import { listPostureSpans } from "../../src/devices/fleet-spans.ts";
import { updateDevicePolicy } from "../../src/devices/policy-operations.ts";
import { listDevicePostures } from "../../src/devices/posture-operations.ts";
import { listPostureSummary } from "../../src/devices/posture-summary.ts";
import { listDevices } from "../../src/devices/read-operations.ts";
import { shareFleet, type TestFleet } from "../support/devices.ts";
import type { TestDevice } from "../support/service.ts";

let fleet: TestFleet;
beforeAll(async () => {
	fleet = await shareFleet();
});
afterAll(() => fleet.assay.close());

const CHECKS = ["DISK_ENCRYPTION", "SCREEN_LOCK"];

/** Returns an hour of March. */
const at = (hour: number) =>
	new Date(Date.UTC(2026, 2, 1) + hour * 3_600_000).toISOString();
const onDay = (day: number) => at((day - 1) * 24);

const report = (device: TestDevice, time: string, status = "PASS") =>
	fleet.report(
		device,
		...CHECKS.map((check_key) => ({ check_key, status, observed_at: time })),
	);

async function activate(): Promise<TestDevice> {
	const [device] = await fleet.assay.activateDevices(1);
	if (!device) throw new Error("there is no device");
	return device;
}

async function stored(device: TestDevice) {
	const { rows } = await fleet.assay.database.owner.query<{
		since: Date;
		until: Date;
	}>(
		"select since, until from device_silences where device_id = $1 order by since",
		[device.id],
	);
	return rows.map(({ since, until }) => [
		since.toISOString(),
		until.toISOString(),
	]);
}

const historyOf = (device: TestDevice, input: object = {}) =>
	fleet.call(listDevicePostures, { device_id: device.id, ...input });

test("a silence longer than the policy permits lies over every check, and a late report divides or removes it", async () => {
	const device = await activate();
	await report(device, onDay(1));
	await report(device, onDay(10));
	await report(device, onDay(12));
	const { device_postures, silences } = await historyOf(device, {
		until: onDay(13),
	});
	expect(device_postures.map(({ since, until }) => [since, until])).toEqual([
		[onDay(1), null],
		[onDay(1), null],
	]);
	// The two days are kept, but shorter than the three that are permitted.
	expect(await stored(device)).toEqual([
		[onDay(1), onDay(10)],
		[onDay(10), onDay(12)],
	]);
	expect(silences).toEqual([
		{ since: onDay(12), until: null },
		{ since: onDay(1), until: onDay(10) },
	]);
	expect((await historyOf(device, { as_of: onDay(5) })).silences).toEqual([
		{ since: onDay(1), until: onDay(10) },
	]);
	expect((await historyOf(device, { as_of: onDay(11) })).silences).toEqual([]);

	await report(device, onDay(5));
	expect(await stored(device)).toEqual([
		[onDay(1), onDay(5)],
		[onDay(5), onDay(10)],
		[onDay(10), onDay(12)],
	]);
	for (const day of [2, 3, 4, 6, 7, 8, 9]) await report(device, onDay(day));
	expect(await stored(device)).toEqual([[onDay(10), onDay(12)]]);
});

test("one request may bring all the observations of a time offline", async () => {
	const device = await activate();
	await report(device, onDay(1));
	await fleet.report(
		device,
		...[1, 2, 3, 4, 9].map((day) => ({
			check_key: "DISK_ENCRYPTION",
			observed_at: onDay(day),
		})),
	);
	expect(await stored(device)).toEqual([[onDay(4), onDay(9)]]);
});

test("a device that was silent at a time is stale in the counts and the list of that time", async () => {
	const device = await activate();
	const organization_id = fleet.assay.organizationId;
	await report(device, onDay(1), "FAIL");
	await report(device, onDay(10), "FAIL");
	const input = { organization_id };
	const stateOf = async (time: string) => {
		const { devices } = await fleet.call(listDevices, {
			organization_id,
			as_of: time,
			size: 100,
		});
		const found = devices.find(({ id }) => id === device.id);
		return [
			found && "is_stale" in found && found.is_stale,
			found?.postures[0]?.check_state,
		];
	};
	expect(await stateOf(onDay(6))).toEqual([true, "STALE"]);
	expect(await stateOf(onDay(10))).toEqual([false, "FAILING"]);
	// After a day, the last status is still believed.
	expect(await stateOf(onDay(2))).toEqual([true, "IN_GRACE"]);
	const { checks } = await fleet.call(listPostureSummary, {
		...input,
		as_of: onDay(6),
	});
	const [check] = checks.filter(({ fail }) => fail > 0);
	expect(check).toBeUndefined();
	const inSilence = async () =>
		(
			await fleet.call(listPostureSpans, {
				organization_id,
				check_key: "SCREEN_LOCK",
				from: onDay(5),
				until: onDay(6),
			})
		).posture_spans.map(({ device_id, held }) => [device_id, held]);
	expect(await inSilence()).toEqual([[device.id, "MAY_HAVE_HELD"]]);
	const listed = await fleet.call(listPostureSpans, {
		organization_id,
		check_key: "SCREEN_LOCK",
		from: onDay(5),
		until: onDay(6),
	});
	expect([listed.devices_seen, listed.devices_that_may_have]).toEqual([0, 1]);

	await fleet.call(updateDevicePolicy, {
		organization_id,
		max_silence_days: 10,
	});
	// A change does not judge the past.
	expect(await stateOf(onDay(6))).toEqual([true, "STALE"]);
	expect(await inSilence()).toEqual([[device.id, "MAY_HAVE_HELD"]]);
	expect((await historyOf(device, { as_of: onDay(6) })).silences).toHaveLength(
		1,
	);
});
