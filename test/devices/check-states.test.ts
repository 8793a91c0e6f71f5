import { afterAll, beforeAll, expect, test } from "vitest";
import { exportList } from "../../src/csv/export.ts";
import { listDevices } from "../../src/devices/read-operations.ts";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { principalOf, shareFleet, type TestFleet } from "../support/devices.ts";
import { timeBetweenChanges } from "../support/time-between-changes.ts";
import {
	DAY,
	daysAgo,
	KEY,
	makeStates,
	makeStatesFleet,
	NAMES,
	type StatesFleet,
	stateOf,
} from "./states-fleet.ts";

let fleet: TestFleet;
/** A device in each state. The tests that use them change nothing. */
let states: StatesFleet;
beforeAll(async () => {
	fleet = await shareFleet();
	states = await makeStates(fleet);
});
afterAll(() => fleet.assay.close());

test("a device has one state for each required check, and the worst decides about the device", async () => {
	const of = states;
	const found = Object.fromEntries(
		await Promise.all(
			NAMES.map(async (name) => [
				name,
				[await stateOf(of, name), (await of.read(name)).compliance],
			]),
		),
	);
	expect(found).toEqual({
		applicable: ["NOT_APPLICABLE", "COMPLIANT"],
		failing: ["FAILING", "NONCOMPLIANT"],
		grace: ["IN_GRACE", "IN_GRACE"],
		missing: ["NOT_REPORTED", "UNKNOWN"],
		passing: ["PASSING", "COMPLIANT"],
		stale: ["STALE", "UNKNOWN"],
		unknown: ["UNKNOWN", "UNKNOWN"],
	});
	const grace = await of.read("grace");
	const [posture] = grace.postures.filter(({ check_key }) => check_key === KEY);
	expect(Date.parse(posture?.in_grace_until ?? "")).toBe(
		Date.parse(posture?.since ?? "") + 3 * DAY,
	);
});

test("lists, counts and CSV files agree about states", async () => {
	const of = states;
	const state = (check_state: string) => of.find({ check: KEY, check_state });
	expect(await state("FAILING")).toEqual(["failing"]);
	expect(await state("IN_GRACE")).toEqual(["grace"]);
	expect(await state("UNKNOWN")).toEqual(["unknown"]);
	expect(await state("STALE")).toEqual(["stale"]);
	expect(await state("NOT_REPORTED")).toEqual(["missing"]);
	expect(await state("PASSING")).toEqual(["passing"]);
	expect(await state("NOT_APPLICABLE")).toEqual(["applicable"]);
	expect(await of.find({ check_state: "FAILING" })).toEqual(["failing"]);
	expect(await of.find({ check_state: "PASSING" })).toEqual([...NAMES]);
	expect(await of.find({ compliance: "NONCOMPLIANT" })).toEqual(["failing"]);
	expect(await of.find({ compliance: ["COMPLIANT", "IN_GRACE"] })).toEqual([
		"applicable",
		"grace",
		"passing",
	]);
	expect(await of.find({ compliance: "UNKNOWN" })).toEqual([
		"missing",
		"stale",
		"unknown",
	]);
	const summary = await of.summary();
	expect(summary.devices_by_compliance).toEqual({
		NONCOMPLIANT: 1,
		UNKNOWN: 3,
		IN_GRACE: 1,
		COMPLIANT: 2,
	});
	const [disk, screen] = summary.checks;
	expect(disk?.states).toEqual({
		FAILING: 1,
		UNKNOWN: 1,
		STALE: 1,
		NOT_REPORTED: 1,
		IN_GRACE: 1,
		EXCEPTED: 0,
		PASSING: 1,
		NOT_APPLICABLE: 1,
	});
	expect(screen?.states).toMatchObject({ PASSING: 7, NOT_APPLICABLE: 0 });
	// The raw statuses are what agents said.
	expect(disk).toMatchObject({ pass: 2, fail: 2, unknown: 1 });

	const { chunks } = await exportList(
		fleet.services,
		principalOf("admin", of.organization_id),
		listDevices,
		{ organization_id: of.organization_id, order_by: { field: "name" } },
	);
	let text = "";
	for await (const chunk of chunks) text += chunk;
	const [heading = "", ...lines] = text.trim().split(/\r?\n/);
	const column = (name: string) => heading.split(",").indexOf(name);
	const cells = lines.map((line) => line.split(",")[column(`${KEY}_state`)]);
	expect(cells).toEqual([
		"NOT_APPLICABLE",
		"FAILING",
		"IN_GRACE",
		"NOT_REPORTED",
		"PASSING",
		"STALE",
		"UNKNOWN",
	]);
	expect(column("compliance")).toBeGreaterThan(0);
});

test("a new device has its own days of grace", async () => {
	const of = await makeStatesFleet(fleet, ["new"]);
	await of.report("new", "FAIL", 5);
	await of.report("new", "FAIL", 0);
	expect(await stateOf(of, "new")).toBe("FAILING");
	await fleet.assay.database.owner.query(
		"update devices set activated_at = now() - interval '6 days' where organization_id = $1",
		[of.organization_id],
	);
	expect(await stateOf(of, "new")).toBe("IN_GRACE");
	await of.change({ checks: [{ check_key: KEY, new_device_grace_days: 5 }] });
	expect(await stateOf(of, "new")).toBe("FAILING");
});

test("a silence that is longer than the organization permits makes every check stale", async () => {
	const of = await makeStatesFleet(fleet, ["silent"]);
	for (const key of CHECK_KEYS) await of.report("silent", "PASS", 5, key);
	expect(await of.read("silent")).toMatchObject({ compliance: "UNKNOWN" });
	const { checks } = await of.summary();
	expect(checks.map(({ states }) => states.STALE)).toEqual(
		CHECK_KEYS.map(() => 1),
	);
	await of.change({ max_silence_days: 6 });
	expect(await of.read("silent")).toMatchObject({ compliance: "COMPLIANT" });
});

test("a past moment is judged by the longest silence that was permitted then", async () => {
	const of = await makeStatesFleet(fleet, ["silent"]);
	for (const key of CHECK_KEYS) await of.report("silent", "PASS", 5, key);
	const at = async (as_of: string) => ({
		found: await of.find({ compliance: "UNKNOWN" }, { as_of }),
		states: (await of.summary({ as_of })).checks.at(-1)?.states,
	});
	const stale = { found: ["silent"], states: { STALE: 1 } };
	const passing = { found: [], states: { PASSING: 1 } };
	const moments: string[] = [];
	for (const max_silence_days of [6, 2, 30]) {
		moments.push(await timeBetweenChanges(fleet.assay.database));
		await of.change({ max_silence_days });
	}
	const [first = "", withSix = "", withTwo = ""] = moments;
	expect(await at(first)).toMatchObject(stale);
	expect(await at(withSix)).toMatchObject(passing);
	expect(await at(withTwo)).toMatchObject(stale);
	expect(
		await at(await timeBetweenChanges(fleet.assay.database)),
	).toMatchObject(passing);
});

test("in a gap of one check, the status before it is believed as long as after a last report", async () => {
	const of = await makeStatesFleet(fleet, ["gap"]);
	for (let days = 40; days >= 0; days -= 2) await of.passOthers("gap", days);
	// Between these two observations, the device reports without this check.
	await of.report("gap", "PASS", 30);
	await of.report("gap", "FAIL", 20);
	await of.report("gap", "PASS", 10);
	const at = async (days: number) => ({
		compliance: await of.count({
			group_by: "compliance",
			as_of: daysAgo(days),
		}),
		states: (await of.summary({ as_of: daysAgo(days) })).checks.find(
			({ check_key }) => check_key === KEY,
		)?.states,
	});
	expect(await at(28)).toMatchObject({
		compliance: [["COMPLIANT", 1]],
		states: { PASSING: 1 },
	});
	expect(await at(25)).toMatchObject({
		compliance: [["UNKNOWN", 1]],
		states: { STALE: 1 },
	});
	expect(await at(18)).toMatchObject({
		compliance: [["IN_GRACE", 1]],
		states: { IN_GRACE: 1 },
	});
	expect(
		await of.find({ compliance: "COMPLIANT" }, { as_of: daysAgo(28) }),
	).toEqual(["gap"]);
	expect(
		await of.find({ compliance: "COMPLIANT" }, { as_of: daysAgo(25) }),
	).toEqual([]);
});

test("a check of an agent's own counts only after an administrator requires it", async () => {
	const of = await makeStatesFleet(fleet, ["own"]);
	await of.passOthers("own");
	await of.report("own", "PASS", 0);
	await of.report("own", "FAIL", 50, "VPN");
	await of.report("own", "FAIL", 0, "VPN");
	expect(await stateOf(of, "own", "VPN")).toBe("NOT_APPLICABLE");
	expect(
		await of.find({ check: "VPN", check_state: "NOT_APPLICABLE" }),
	).toEqual(["own"]);
	expect((await of.read("own")).compliance).toBe("COMPLIANT");
	await of.change({ checks: [{ check_key: "vpn", is_required: true }] });
	expect(await stateOf(of, "own", "VPN")).toBe("FAILING");
	expect((await of.read("own")).compliance).toBe("NONCOMPLIANT");
	const platform = (await of.read("own")).platform;
	const elsewhere = ["DARWIN", "WINDOWS"].filter((one) => one !== platform);
	await of.change({ checks: [{ check_key: "VPN", platforms: elsewhere }] });
	expect(await stateOf(of, "own", "VPN")).toBe("NOT_APPLICABLE");
	await expect(
		of.change({ checks: [{ check_key: "VPM", is_required: true }] }),
	).rejects.toMatchObject({ code: "bad_request" });
});

test("nothing is proved of a device if no check is required", async () => {
	const of = await makeStatesFleet(fleet, ["unproved"]);
	await of.passOthers("unproved");
	await of.change({
		checks: CHECK_KEYS.map((check_key) => ({ check_key, is_required: false })),
	});
	expect((await of.read("unproved")).compliance).toBe("UNKNOWN");
	expect(await of.find({ compliance: "UNKNOWN" })).toEqual(["unproved"]);
	expect(await of.find({ compliance: "COMPLIANT" })).toEqual([]);
	expect((await of.summary()).devices_by_compliance).toMatchObject({
		UNKNOWN: 1,
		COMPLIANT: 0,
	});
});

test("a state in the past follows the statuses and the policy of that time", async () => {
	const of = await makeStatesFleet(fleet, ["past"]);
	await of.report("past", "PASS", 30);
	await of.report("past", "FAIL", 20);
	for (const days of [19, 16, 13, 10, 7, 4, 2, 0]) {
		await of.report("past", "FAIL", days);
	}
	// The rule was in force from 40 to 10 days ago.
	await fleet.assay.database.owner.query(
		`insert into device_check_rules (
			organization_id, check_key, valid_from, valid_until, is_required, platforms,
			grace_days, new_device_grace_days
		) values (
			$1, $2, now() - interval '40 days', now() - interval '10 days', true,
			'{DARWIN,LINUX,FREEBSD,WINDOWS}', 8, 0
		)`,
		[of.organization_id, KEY],
	);
	const stateAt = async (days: number) => {
		const { checks } = await of.summary({ as_of: daysAgo(days) });
		const found = Object.entries(checks[0]?.states ?? {}).filter(
			([, devices]) => devices > 0,
		);
		const [[state] = []] = found;
		expect(
			await of.find(
				{ check: KEY, check_state: state },
				{ as_of: daysAgo(days) },
			),
		).toEqual(["past"]);
		return state;
	};
	expect(await stateAt(29)).toBe("PASSING");
	expect(await stateAt(25)).toBe("STALE");
	expect(await stateAt(15)).toBe("IN_GRACE");
	expect(await stateAt(11)).toBe("FAILING");
	expect(await stateAt(5)).toBe("FAILING");
	expect(
		await of.find({ compliance: "NONCOMPLIANT" }, { as_of: daysAgo(11) }),
	).toEqual(["past"]);
});

test("a dry run tells what would change and stores nothing", async () => {
	const of = states;
	const before = await of.policy();
	const { effects, policy } = await of.change({
		dry_run: true,
		checks: [{ check_key: KEY, grace_days: 0 }],
	});
	expect(policy.checks[0]).toMatchObject({ grace_days: 0 });
	expect(effects?.compliance).toEqual({
		before: { NONCOMPLIANT: 1, UNKNOWN: 3, IN_GRACE: 1, COMPLIANT: 2 },
		after: { NONCOMPLIANT: 2, UNKNOWN: 3, IN_GRACE: 0, COMPLIANT: 2 },
	});
	expect(effects?.checks).toMatchObject([
		{
			check_key: KEY,
			before: { FAILING: 1, IN_GRACE: 1 },
			after: { FAILING: 2, IN_GRACE: 0 },
		},
	]);
	expect(await of.policy()).toEqual(before);
	const { rows } = await fleet.assay.database.owner.query(
		"select from audit_entries where organization_id = $1 and operation = 'updateDevicePolicy'",
		[of.organization_id],
	);
	expect(rows).toEqual([]);
});

test("null gives a field of a rule its default again, and the audit log has the values", async () => {
	const of = await makeStatesFleet(fleet, ["one"]);
	const { policy } = await of.change({
		checks: [{ check_key: "Screen or idle lock", grace_days: 9 }],
	});
	expect(policy.checks[1]).toMatchObject({
		check_key: "SCREEN_LOCK",
		grace_days: 9,
		new_device_grace_days: 7,
	});
	await expect(
		of.change({
			if_updated_at: daysAgo(1),
			checks: [{ check_key: KEY, grace_days: 1 }],
		}),
	).rejects.toMatchObject({ code: "conflict" });
	await of.change({
		if_updated_at: policy.updated_at,
		checks: [{ check_key: "SCREEN_LOCK", grace_days: null }],
	});
	const { rows } = await fleet.assay.database.owner.query(
		`select changes from audit_entries
		where organization_id = $1 and operation = 'updateDevicePolicy' order by id`,
		[of.organization_id],
	);
	expect(rows.map(({ changes }) => changes)).toEqual([
		{ "SCREEN_LOCK.grace_days": { before: 3, after: 9 } },
		{ "SCREEN_LOCK.grace_days": { before: 9, after: 3 } },
	]);
});

test("a brief row has the state of a check only if the status does not imply it", async () => {
	const of = await makeStatesFleet(fleet, ["failing", "grace"]);
	await of.report("failing", "FAIL", 10);
	await of.report("failing", "FAIL", 0);
	await of.report("grace", "FAIL", 0);
	const { devices } = await fleet.call(
		listDevices,
		{
			organization_id: of.organization_id,
			order_by: { field: "name" },
			detail: "brief",
		},
		{ organizationId: of.organization_id },
	);
	const [failing, grace] = devices.map(({ postures }) => postures[0]);
	expect(failing).toEqual({
		check_key: KEY,
		status: "FAIL",
		since: expect.any(String),
	});
	expect(grace).toMatchObject({ status: "FAIL", check_state: "IN_GRACE" });
});
