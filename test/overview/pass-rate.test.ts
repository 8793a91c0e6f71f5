import { afterAll, beforeAll, expect, test } from "vitest";
import { getCheckResults } from "../../src/devices/check-results/operations.ts";
import { listPostureSummary } from "../../src/devices/posture-summary.ts";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { getBoardSummary } from "../../src/overview/board-summary.ts";
import { getTrends } from "../../src/overview/trends.ts";
import { percentOf } from "../../src/units.ts";
import { shareFleet, type TestFleet } from "../support/devices.ts";
import { countChecksNow } from "../support/upkeep.ts";

let fleet: TestFleet;
let organization_id: string;
beforeAll(async () => {
	fleet = await shareFleet();
	organization_id = fleet.assay.organizationId;
});
afterAll(() => fleet.assay.close());

test("a share is rounded down, so 100 % means all of them", () => {
	expect(percentOf(2, 3)).toBe(66.6);
	expect(percentOf(9999, 10_000)).toBe(99.9);
	expect(percentOf(29, 100)).toBe(29);
	expect(percentOf(3, 3)).toBe(100);
	expect(percentOf(0, 0)).toBeNull();
});

test("Home, the board summary and the last point of the trends show one pass rate, although the last count is old", async () => {
	const [passing] = await fleet.assay.activateDevices(2);
	if (!passing) throw new Error("no device");
	await fleet.report(passing, {});
	// The last count of today, before the report.
	await fleet.assay.database.owner.query(
		`insert into check_count_days (organization_id, day, counts, compliance)
		values ($1, (now() at time zone 'UTC')::date, '{"DISK_ENCRYPTION": {"PASSING": 9, "FAILING": 1}}', '{}')
		on conflict (organization_id, day) do update set counts = excluded.counts`,
		[organization_id],
	);
	const summary = await fleet.call(listPostureSummary, { organization_id });
	const required = summary.checks.filter(
		({ states }) => states.NOT_APPLICABLE < summary.active_devices,
	);
	// One device passes one check. It is not rounded up.
	expect(required).toHaveLength(CHECK_KEYS.length);
	const percent = Math.floor(1000 / (2 * CHECK_KEYS.length)) / 10;
	expect(summary.pass_percent).toBe(percent);
	const { now } = await fleet.call(getBoardSummary, {
		organization_id,
		compared_with: "2026-01-31",
	});
	expect(now.fleet.pass_percent).toBe(percent);
	const { points } = await fleet.call(getTrends, { organization_id });
	expect(points.at(-1)?.pass_percent).toBe(percent);
	const uncounted = await fleet.call(getTrends, {
		organization_id,
		counts_today: false,
	});
	expect(uncounted.points).toEqual([
		...points.slice(0, -1),
		{ ...points.at(-1), pass_percent: null },
	]);
});

test("the pass rate of a check counts silent devices and leaves out excepted ones, as for measures", async () => {
	const { checks } = await fleet.call(listPostureSummary, { organization_id });
	const disk = checks.find(({ check_key }) => check_key === "DISK_ENCRYPTION");
	expect(disk).toMatchObject({ pass: 1, fail: 0, pass_percent: 50 });
	expect(disk?.states).toMatchObject({ PASSING: 1, NOT_REPORTED: 1 });
	// A measure reads the last count. Its definition is the same.
	await countChecksNow(fleet.assay.database.pool, organization_id);
	const counted = await fleet.call(getCheckResults, {
		organization_id,
		check_keys: ["DISK_ENCRYPTION"],
	});
	expect(counted.checks[0]).toMatchObject({ pass_percent: 50 });
});
