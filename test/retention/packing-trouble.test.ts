import {
	afterAll,
	afterEach,
	beforeAll,
	beforeEach,
	expect,
	test,
} from "vitest";
import { deleteDevice } from "../../src/devices/write-operations.ts";
import { packClosedMonths } from "../../src/retention/pack-reports.ts";
import { countPlaces, monthAgo, readReports } from "../support/closed-month.ts";
import type { TestFleet } from "../support/devices.ts";
import type { TestDevice } from "../support/service.ts";
import {
	APRIL,
	MARCH,
	makePackedFleet,
	type PackedFleet,
	readAll as readAllOf,
} from "./packed-fleet.ts";

let packed: PackedFleet;
let fleet: TestFleet;
beforeAll(async () => {
	packed = await makePackedFleet();
});
afterAll(() => packed.drop());
beforeEach(async () => {
	fleet = await packed.copy();
});
afterEach(() => fleet.assay.close());

const database = () => fleet.assay.database;
const pack = (options = {}) =>
	packClosedMonths(
		{ connectionString: database().url },
		{ rest: 0, ...options },
	);
const readAll = (device: TestDevice) => readAllOf(fleet, device);

/** Lets packing fail for a device until the test is over. */
async function breakPackingOf(
	device: TestDevice,
): Promise<() => Promise<void>> {
	await database().owner.query(`
		alter function pack_posture_reports rename to pack_posture_reports_before;
		create function pack_posture_reports(
			p_organization_id text, p_device_id text, p_month date,
			p_report_ids text[], p_received_at timestamptz[], p_results jsonb[]
		) returns packed_posture_reports language plpgsql as $$
		begin
			if p_device_id = '${device.id}' then
				raise exception 'no memory for this device';
			end if;
			return pack_posture_reports_before(
				p_organization_id, p_device_id, p_month, p_report_ids, p_received_at, p_results
			);
		end $$`);
	return async () => {
		await database().owner.query(`
			drop function pack_posture_reports;
			alter function pack_posture_reports_before rename to pack_posture_reports`);
	};
}

test("a device that cannot be packed stops neither the others nor the next month", async () => {
	const [first, broken] = packed.devices;
	const { owner } = database();
	// Only in March, so that April can be finished.
	await owner.query(
		"delete from posture_reports where device_id = $1 and received_at >= $2 and received_at < $3",
		[broken.device.id, APRIL, monthAgo(1)],
	);
	const before = await readReports(database());
	const repair = await breakPackingOf(broken.device);
	const failure = {
		organizationId: fleet.assay.organizationId,
		deviceId: broken.device.id,
		month: MARCH,
		error: expect.objectContaining({
			message: expect.stringContaining("no memory for this device"),
		}),
	};
	for (const options of [{}, { stepSize: 1 }]) {
		const packing = await pack(options);
		expect(packing).toMatchObject({ failed: [failure], isDone: true });
		expect(packing.packed).toEqual(options.stepSize ? [] : [APRIL]);
		expect(await readReports(database())).toEqual(before);
	}
	// The others of its month wait for it, and are packed already.
	const { rows } = await owner.query<{ device: string }>(
		`select device_id as device from packed_posture_reports_${MARCH.slice(0, 7).replace("-", "_")} order by 1`,
	);
	expect(rows).toHaveLength(3);
	expect(rows.map(({ device }) => device)).toContain(first.device.id);
	expect(rows.map(({ device }) => device)).not.toContain(broken.device.id);
	await repair();
	expect(await pack()).toMatchObject({ packed: [MARCH], failed: [] });
	expect(await readReports(database())).toEqual(before);
});

test("a month is given up for the day when very many devices fail, and the next one is packed", async () => {
	const { owner } = database();
	await owner.query(
		`insert into posture_reports
		select organization_id, lpad(n::text, 32, 'd'), report_id, received_at, '[{"observed_at": "wrong"}]'
		from posture_reports, generate_series(1, 30) n where device_id = $1`,
		[packed.silent.id],
	);
	await owner.query(
		`create function break_packing() returns trigger language plpgsql as $$
		begin raise exception 'a fault of Assay'; end $$`,
	);
	await owner.query("select begin_packed_month($1)", [MARCH]);
	await owner.query(
		`create trigger break_packing before insert on packed_posture_reports_${MARCH.slice(0, 7).replace("-", "_")}
		for each row execute function break_packing()`,
	);
	const { packed: months, failed, isDone } = await pack();
	expect([months, isDone]).toEqual([[APRIL], true]);
	expect(failed).toHaveLength(20);
});

test("a device with very many reports is packed in parts, and its reports read as before", async () => {
	await fleet.assay.close();
	fleet = await packed.copyWithService();
	const [{ device, ids }, other] = packed.devices;
	const before = {
		all: await readAll(device),
		reports: await readReports(database()),
	};
	expect(await pack({ partSize: 3, stepSize: 2 })).toMatchObject({
		packed: [MARCH, APRIL],
		failed: [],
	});
	const { owner } = database();
	const { rows } = await owner.query(
		`select part, cardinality(report_ids) as reports from packed_posture_reports
		where device_id = $1 and month = $2 order by part`,
		[device.id, MARCH],
	);
	expect(rows).toEqual([
		{ part: 1, reports: 3 },
		{ part: 2, reports: 3 },
		{ part: 3, reports: 2 },
	]);
	expect({
		all: await readAll(device),
		reports: await readReports(database()),
	}).toEqual(before);
	// A report of the last part is known and may be extended.
	const { rows: last } = await owner.query<{ id: string; at: string }>(
		`select report_ids[1] as id, to_char(received_at[1] - interval '1.234567 seconds', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at
		from packed_posture_reports where device_id = $1 and month = $2 and part = 3`,
		[device.id, MARCH],
	);
	expect(ids).toContain(last[0]?.id);
	await fleet.report(device, {
		observed_at: last[0]?.at,
		correlation_id: last[0]?.id,
		check_key: "TIME_SYNC",
		status: "UNKNOWN",
	});
	const after = await readReports(database());
	expect(after).toHaveLength(before.reports.length);
	expect(after.filter((one) => one.includes("TIME_SYNC"))).toHaveLength(1);
	await fleet.call(deleteDevice, { id: device.id });
	expect(await countPlaces(database())).toEqual({ plain: 2, packed: 33 });
	expect((await readAll(other.device)).reports).toHaveLength(17);
});

test("a device whose parts were packed only partly, when the process ended, is packed again", async () => {
	const { owner } = database();
	const before = await readReports(database());
	await owner.query("select begin_packed_month($1)", [MARCH]);
	await owner.query(
		"select pack_next_parts($1, 1, 3, '', '', 0, '', '-infinity')",
		[MARCH],
	);
	expect(await pack({ partSize: 3 })).toMatchObject({
		packed: [MARCH, APRIL],
		failed: [],
	});
	expect(await readReports(database())).toEqual(before);
});

test("reports that come to a packed month, as by an import, are moved to the packed ones", async () => {
	const [{ device }] = packed.devices;
	await pack();
	const known = await readReports(database());
	const { owner } = database();
	await owner.query("select make_posture_report_partition($1)", [MARCH]);
	await owner.query(
		`insert into posture_reports
		select organization_id, d.id, r.report_id, r.received_at, '[{"check_key": "LATE"}]'
		from (
			select p.organization_id, u.report_id, u.received_at
			from packed_posture_reports p
			cross join lateral unnest(p.report_ids, p.received_at) u (report_id, received_at)
			where p.month = $1 and p.device_id = $3
		) r, unnest(array[repeat('d', 32), $2]) d (id)`,
		[MARCH, "e".repeat(32), device.id],
	);
	// A device that has packed reports of the month already gets a further part.
	await owner.query(
		`insert into posture_reports
		select organization_id, device_id, 'r' || right(report_ids[1], 31), received_at[1], '[]'
		from packed_posture_reports where month = $1`,
		[MARCH],
	);
	const before = await readReports(database());
	expect(before).toHaveLength(known.length + 20);
	expect(await pack({ partSize: 5, stepSize: 3 })).toEqual({
		packed: [MARCH],
		failed: [],
		isDone: true,
	});
	expect(await readReports(database())).toEqual(before);
	expect(await countPlaces(database())).toEqual({ plain: 3, packed: 69 });
	const { rows } = await owner.query("select to_regclass($1) as plain", [
		`posture_reports_${MARCH.slice(0, 7).replace("-", "_")}`,
	]);
	expect(rows).toEqual([{ plain: null }]);
});

test("reports of an organization that is being deleted are not moved", async () => {
	await pack();
	const { owner } = database();
	await owner.query("select make_posture_report_partition($1)", [MARCH]);
	await owner.query(
		`insert into posture_reports
		select organization_id, device_id, 'r' || right(report_ids[1], 31), received_at[1], '[]'
		from packed_posture_reports where month = $1`,
		[MARCH],
	);
	await owner.query(
		"insert into organization_closures values ($1, 'DELETION', 'the end', now() - interval '15 days', now())",
		[fleet.assay.organizationId],
	);
	expect(await pack()).toEqual({ packed: [], failed: [], isDone: true });
	expect(await countPlaces(database())).toEqual({ plain: 7, packed: 49 });
	await owner.query("delete from organization_closures");
	expect(await pack()).toMatchObject({ packed: [MARCH] });
	expect(await countPlaces(database())).toEqual({ plain: 3, packed: 53 });
});
