import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { listDevicePostures } from "../../src/devices/posture-operations.ts";
import { getDevice } from "../../src/devices/read-operations.ts";
import { getDevicePostureReport } from "../../src/devices/report-operations.ts";
import { deleteDevice } from "../../src/devices/write-operations.ts";
import { packClosedMonths } from "../../src/retention/pack-reports.ts";
import { keepReports } from "../../src/retention/retention.ts";
import { connectTo } from "../support/backups.ts";
import {
	countPlaces,
	monthAgo,
	readReports,
	sendReportAt,
	within,
} from "../support/closed-month.ts";
import type { TestFleet } from "../support/devices.ts";
import { type FilledFleet, keepFilled } from "../support/filled-fleet.ts";
import type { TestDevice } from "../support/service.ts";
import {
	APRIL,
	MARCH,
	makePackedFleet,
	PACKED,
	type PackedFleet,
	readAll as readAllOf,
} from "./packed-fleet.ts";

let plain: PackedFleet;
/** The same after its closed months were packed. */
let packed: FilledFleet;
let fleet: TestFleet;
beforeAll(async () => {
	plain = await makePackedFleet();
	fleet = await plain.copy();
	await pack();
	packed = await keepFilled(fleet);
});
afterAll(async () => {
	await packed.drop();
	await plain.drop();
});
afterEach(() => fleet.assay.close());

/** Each of these gives a test its copy. Devices can send reports to a copy with a service. */
const takePlain = async () => {
	fleet = await plain.copy();
};
const takePacked = async () => {
	fleet = await packed.copy();
};
const servePlain = async () => {
	fleet = await plain.copyWithService();
};
const servePacked = async () => {
	fleet = await packed.copyWithService();
};

const database = () => fleet.assay.database;
const pack = (options = {}) =>
	packClosedMonths(
		{ connectionString: database().url },
		{ rest: 0, ...options },
	);
const readAll = (device: TestDevice) => readAllOf(fleet, device);

test("tools read packed reports as they read the others, to the last digit", async () => {
	await takePlain();
	const { device, ids } = plain.devices[0];
	const before = {
		all: await readAll(device),
		reports: await readReports(database()),
	};
	expect(before.all.reports).toHaveLength(17);
	expect(await pack()).toMatchObject({
		packed: [MARCH, APRIL],
		failed: [],
		isDone: true,
	});
	expect(await countPlaces(database())).toEqual(PACKED);
	expect({
		all: await readAll(device),
		reports: await readReports(database()),
	}).toEqual(before);
	const { posture_report } = await fleet.call(getDevicePostureReport, {
		device_id: device.id,
		report_id: ids[0] as string,
	});
	expect(posture_report.results[1]?.evidence).toEqual({
		text: 'a "quoted" \\ word, \u{1f512}',
	});
});

test("evidence of a device that is silent for months comes from its packed reports", async () => {
	await takePacked();
	const { id } = plain.silent;
	const { device: found } = await fleet.call(getDevice, { id });
	expect(found.postures[0]?.evidence).toEqual({ method: "luks2" });
});

test("a packed report that is sent again changes nothing, and further results extend it", async () => {
	await servePacked();
	const { device, ids } = plain.devices[0];
	const before = await readReports(database());
	const correlation_id = ids[2] as string;
	const observed_at = within(MARCH, 24);
	const again = {
		observed_at,
		correlation_id,
		status: "FAIL",
		evidence: { method: "luks2", swap: { used: 24 } },
	};
	await fleet.report(device, again);
	expect(await readReports(database())).toEqual(before);

	await fleet.report(device, again, {
		observed_at,
		correlation_id,
		check_key: "TIME_SYNC",
		status: "UNKNOWN",
	});
	const { posture_report } = await fleet.call(getDevicePostureReport, {
		device_id: device.id,
		report_id: correlation_id,
	});
	expect(posture_report.results.map(({ check_key }) => check_key)).toEqual([
		"DISK_ENCRYPTION",
		"SCREEN_LOCK",
		"FIREWALL_ENABLED",
		"TIME_SYNC",
	]);
	expect(await readReports(database())).toHaveLength(before.length);
	expect(await countPlaces(database())).toEqual(PACKED);
});

test("a late observation splits a span at the observations in packed reports", async () => {
	await servePacked();
	const { device } = plain.devices[0];
	await sendReportAt(fleet, device, within(MARCH, 66), { status: "FAIL" });
	const { device_postures } = await fleet.call(listDevicePostures, {
		device_id: device.id,
		check_key: "DISK_ENCRYPTION",
		from: within(MARCH, 49),
		until: within(MARCH, 90),
	});
	expect(
		device_postures.map(({ status, since, last_observed_at }) => [
			status,
			since,
			last_observed_at,
		]),
	).toEqual([
		["PASS", within(MARCH, 72), expect.any(String)],
		["FAIL", within(MARCH, 66), within(MARCH, 66)],
		["PASS", within(MARCH, 48), within(MARCH, 60)],
	]);
});

test("deleting a device deletes its packed reports, and no others", async () => {
	await takePacked();
	const [{ device }, other] = plain.devices;
	await fleet.call(deleteDevice, { id: device.id });
	expect(await countPlaces(database())).toEqual({ plain: 2, packed: 33 });
	expect((await readAll(other.device)).reports).toHaveLength(17);
});

test("reports that are extended or deleted while their month is being packed end as they should", async () => {
	await servePlain();
	const [extended, deleted, other] = plain.devices;
	const { owner } = database();
	// As a packing that was interrupted after it had packed all devices of the month.
	await owner.query("select begin_packed_month($1)", [MARCH]);
	await owner.query("select pack_next_reports($1, '', '', 1000)", [MARCH]);
	await fleet.report(extended.device, {
		observed_at: within(MARCH, 0),
		correlation_id: extended.ids[0],
		check_key: "TIME_SYNC",
	});
	await fleet.call(deleteDevice, { id: deleted.device.id });
	const before = await readReports(database());
	expect(before).toHaveLength(35);
	expect(await pack()).toMatchObject({
		packed: [MARCH, APRIL],
		failed: [],
		isDone: true,
	});
	expect(await readReports(database())).toEqual(before);
	expect((await readAll(other.device)).reports).toHaveLength(17);
	const { rows } = await owner.query("select from posture_report_changes");
	expect(rows).toEqual([]);
});

test("a month is not finished while a transaction has changed one of its reports", async () => {
	await takePlain();
	const [{ device }] = plain.devices;
	const writer = await connectTo(database().url);
	const { owner } = database();
	await owner.query("select begin_packed_month($1)", [MARCH]);
	await owner.query("select begin_packed_month($1)", [APRIL]);
	await writer.query("begin");
	await writer.query(
		`update posture_reports set results = results || '[{"check_key": "LATE"}]'
		where device_id = $1 and received_at < $2`,
		[device.id, APRIL],
	);
	expect(await pack()).toMatchObject({ packed: [], isDone: false });
	await writer.query("commit");
	const before = await readReports(database());
	expect(await pack()).toMatchObject({
		packed: [MARCH, APRIL],
		failed: [],
		isDone: true,
	});
	expect(await readReports(database())).toEqual(before);
	expect(before.filter((report) => report.includes("LATE"))).toHaveLength(8);
});

test("months are packed two weeks after their end, and the running month never", async () => {
	await takePlain();
	const { owner } = database();
	const { rows } = await owner.query<{ isClosed: boolean }>(
		`select extract(day from now() at time zone 'UTC') >= 15 as "isClosed"`,
	);
	await owner.query("select make_posture_report_partition($1)", [monthAgo(1)]);
	expect((await pack()).packed).toEqual([
		MARCH,
		APRIL,
		...(rows[0]?.isClosed ? [monthAgo(1)] : []),
	]);
});

test("months that retention drops are not packed", async () => {
	await takePlain();
	expect(await pack({ keptMonths: 2 })).toMatchObject({
		packed: [APRIL],
		isDone: true,
	});
	expect(await countPlaces(database())).toEqual({ plain: 28, packed: 24 });
	expect(await pack({ keptMonths: 3 })).toMatchObject({ packed: [MARCH] });
	expect(await countPlaces(database())).toEqual(PACKED);
});

test("of processes that pack at the same time, one does the work", async () => {
	await takePlain();
	const before = await readReports(database());
	const all = await Promise.all([pack(), pack(), pack()]);
	expect(all.flatMap(({ packed }) => packed)).toEqual([MARCH, APRIL]);
	expect(await readReports(database())).toEqual(before);
});

test("an aborted packing goes on later", async () => {
	await takePlain();
	const before = await readReports(database());
	expect(await pack({ signal: AbortSignal.abort() })).toEqual({
		packed: [],
		failed: [],
		isDone: false,
	});
	expect(await readReports(database())).toEqual(before);
	expect((await pack({ stepSize: 1 })).packed).toEqual([MARCH, APRIL]);
	expect(await readReports(database())).toEqual(before);
});

test("retention drops packed months, and what was packed of a month that it dropped before", async () => {
	await takePacked();
	const { owner } = database();
	await owner.query("select make_posture_report_partition($1)", [monthAgo(4)]);
	await owner.query("select begin_packed_month($1)", [monthAgo(4)]);
	const { dropped } = await keepReports(
		{ connectionString: database().url },
		2,
	);
	const name = (month: string) => month.slice(0, 7).replace("-", "_");
	expect(dropped).toEqual([
		`posture_reports_${name(monthAgo(4))}`,
		`packed_posture_reports_${name(MARCH)}`,
	]);
	expect(await countPlaces(database())).toEqual({ plain: 3, packed: 24 });
	await pack();
	const { rows } = await owner.query<{ name: string }>(
		"select relname as name from pg_class where relname ~ '^packed_.*\\d\\d$' and relkind = 'r'",
	);
	expect(rows.map((row) => row.name)).toEqual([
		`packed_posture_reports_${name(APRIL)}`,
	]);
});

test("the service's role sees packed reports of its organization only, and may not change them", async () => {
	await takePacked();
	const { pool } = database();
	const { rows } = await pool.query("select from packed_posture_reports");
	expect(rows).toEqual([]);
	for (const sql of [
		"update packed_posture_reports set report_ids = '{}'",
		"select pack_next_reports('2026-01-01', '', '', 1)",
		"select finish_packed_month('2026-01-01')",
	]) {
		await expect(pool.query(sql), sql).rejects.toMatchObject({ code: "42501" });
	}
});
