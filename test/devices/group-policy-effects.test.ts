import { afterAll, beforeAll, expect, test } from "vitest";
import { makePool } from "../../src/db/pool.ts";
import { getCheckResults } from "../../src/devices/check-results/operations.ts";
import { listNonconformityDevices } from "../../src/devices/nonconformities/list-devices.ts";
import { PolicyCache } from "../../src/devices/policy-cache.ts";
import { DEFAULT_THRESHOLDS } from "../../src/devices/thresholds.ts";
import { keepDevices } from "../../src/devices/upkeep.ts";
import { shareFleet, type TestFleet } from "../support/devices.ts";
import { timeBetweenChanges } from "../support/time-between-changes.ts";
import { countChecksNow } from "../support/upkeep.ts";
import { makeGoverned, rule } from "./governed-devices.ts";
import { daysAgo, KEY, stateOf } from "./states-fleet.ts";

let fleet: TestFleet;
beforeAll(async () => {
	fleet = await shareFleet();
});
afterAll(() => fleet.assay.close());

test("a group's policy replaces single values for its devices, everywhere states are read", async () => {
	const of = await makeGoverned(fleet, "laptop", "server");
	for (const name of ["laptop", "server"]) {
		await of.report(name, "FAIL", 5);
		await of.report(name, "FAIL", 0);
	}
	const servers = await of.addGroup("Servers", ["server"]);
	await of.set(servers, rule({ grace_days: 30 }));
	expect(await stateOf(of, "laptop")).toBe("FAILING");
	expect(await stateOf(of, "server")).toBe("IN_GRACE");
	const failing = { check: KEY, check_state: "FAILING" };
	expect(await of.find(failing)).toEqual(["laptop"]);
	expect(await of.find({ compliance: "NONCOMPLIANT" })).toEqual(["laptop"]);
	expect(await of.find({ compliance: "IN_GRACE" })).toEqual(["server"]);
	expect(await of.count({ group_by: "compliance" })).toEqual(
		expect.arrayContaining([
			["NONCOMPLIANT", 1],
			["IN_GRACE", 1],
		]),
	);
	const summary = await of.summary();
	expect(summary.checks[0]?.states).toMatchObject({ FAILING: 1, IN_GRACE: 1 });
	expect(summary.devices_by_compliance).toMatchObject({
		NONCOMPLIANT: 1,
		IN_GRACE: 1,
	});

	// Not required: the check does not count for the device at all.
	await of.set(servers, rule({ is_required: false }));
	expect(await stateOf(of, "server")).toBe("NOT_APPLICABLE");
	expect((await of.read("server")).compliance).toBe("COMPLIANT");
	expect(await of.find({ check: KEY, check_state: "NOT_APPLICABLE" })).toEqual([
		"server",
	]);
	expect((await of.summary()).checks[0]?.states).toMatchObject({
		FAILING: 1,
		NOT_APPLICABLE: 1,
	});
	await countChecksNow(fleet.assay.database.pool, of.organization_id);
	const { checks } = await fleet.call(
		getCheckResults,
		{ organization_id: of.organization_id, check_keys: [KEY] },
		of.options,
	);
	expect(checks[0]).toMatchObject({ required_devices: 1, pass_percent: 0 });

	// Null is the organization's value again.
	await of.set(servers, rule({ is_required: null, grace_days: null }));
	expect(await stateOf(of, "server")).toBe("FAILING");
});

test("a group may require a check that the organization does not", async () => {
	const of = await makeGoverned(fleet, "laptop", "server");
	await of.change(rule({ is_required: false }));
	await of.report("laptop", "FAIL", 9);
	await of.report("laptop", "FAIL", 0);
	const servers = await of.addGroup("Servers", ["server"]);
	await of.set(servers, rule({ is_required: true }));
	expect((await of.read("server")).missing_checks).toEqual([KEY]);
	expect((await of.read("laptop")).compliance).toBe("COMPLIANT");
	expect(await of.find({ check: KEY, check_state: "NOT_REPORTED" })).toEqual([
		"server",
	]);
	expect(await of.find({ compliance: "UNKNOWN" })).toEqual(["server"]);
	expect((await of.summary()).checks[0]?.states).toMatchObject({
		NOT_REPORTED: 1,
		NOT_APPLICABLE: 1,
	});
	await of.report("server", "FAIL", 9);
	await of.report("server", "FAIL", 0);
	expect(await of.find({ check: KEY, check_state: "FAILING" })).toEqual([
		"server",
	]);
});

test("nonconformities follow the policy: a longer grace takes the device out of one", async () => {
	const of = await makeGoverned(fleet, "failing");
	await of.report("failing", "FAIL", 5);
	await of.report("failing", "FAIL", 0);
	const settle = () =>
		of.inTenant((client) => keepDevices(client, of.organization_id));
	await settle();
	const { rows } = await fleet.assay.database.owner.query(
		"select nonconformity_id as id from check_nonconformities where organization_id = $1",
		[of.organization_id],
	);
	expect(rows).toHaveLength(1);
	const group = await of.addGroup("Old", ["failing"]);
	await of.set(group, rule({ grace_days: 60 }));
	await settle();
	const { nonconformity_devices: devices } = await fleet.call(
		listNonconformityDevices,
		{ id: rows[0].id },
		of.options,
	);
	expect(devices.map(({ end_reason }) => end_reason)).toEqual(["POLICY"]);
});

test("a group's longest silence replaces the organization's for its devices only", async () => {
	const of = await makeGoverned(fleet);
	const two = await makeGoverned(fleet, "quiet", "usual");
	for (const name of ["quiet", "usual"]) await two.report(name, "PASS", 5);
	const group = await two.addGroup("Field", ["quiet"]);
	await two.set(group, { max_silence_days: 20 });
	expect(await stateOf(two, "quiet")).toBe("PASSING");
	expect(await stateOf(two, "usual")).toBe("STALE");
	const states = (await two.summary()).checks[0]?.states;
	expect(states).toMatchObject({ PASSING: 1, STALE: 1 });
	expect(await two.find({ check: KEY, check_state: "STALE" })).toEqual([
		"usual",
	]);
	// A shorter one, too.
	await two.change({ max_silence_days: 30 });
	await two.set(group, { max_silence_days: 1 });
	expect(await stateOf(two, "quiet")).toBe("STALE");
	expect(await stateOf(two, "usual")).toBe("PASSING");
	expect(await of.list()).toEqual([]);
});

test("a past moment is judged by the longest silence that the group's policy permitted then", async () => {
	const of = await makeGoverned(fleet, "quiet");
	await of.report("quiet", "PASS", 5);
	const group = await of.addGroup("Field", ["quiet"]);
	const moments: string[] = [];
	for (const max_silence_days of [20, null, 1, 10]) {
		await of.set(group, { max_silence_days });
		moments.push(await timeBetweenChanges(fleet.assay.database));
	}
	const stale: boolean[] = [];
	for (const as_of of moments) {
		const filter = { check: KEY, check_state: "STALE" };
		stale.push((await of.find(filter, { as_of })).length === 1);
	}
	expect(stale).toEqual([false, true, true, false]);
});

test("a state in the past follows the group's policy of that time", async () => {
	const of = await makeGoverned(fleet, "past");
	for (const days of [20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0]) {
		await of.report("past", "FAIL", days);
	}
	const group = await of.addGroup("Then", ["past"]);
	await of.set(group, rule({ grace_days: 90 }));
	// As if the policy had applied from 15 to 7 days ago.
	await fleet.assay.database.owner.query(
		"update device_group_policy_rules set valid_from = now() - interval '40 days' where organization_id = $1",
		[of.organization_id],
	);
	await of.remove(group);
	await fleet.assay.database.owner.query(
		`update device_group_policy_spans
		set since = now() - interval '15 days', until = now() - interval '7 days'
		where organization_id = $1`,
		[of.organization_id],
	);
	for (const [days, state] of [
		[16, "FAILING"],
		[10, "IN_GRACE"],
		[5, "FAILING"],
	] as const) {
		const as_of = daysAgo(days);
		const { checks } = await of.summary({ as_of });
		expect(checks[0]?.states, `${days} days ago`).toMatchObject({ [state]: 1 });
		const filter = { check: KEY, check_state: state };
		expect(await of.find(filter, { as_of })).toEqual(["past"]);
		// The other checks were not reported yet.
		const compliance = state === "FAILING" ? "NONCOMPLIANT" : "UNKNOWN";
		expect(await of.find({ compliance }, { as_of })).toContain("past");
		expect(await of.count({ group_by: "compliance", as_of })).toContainEqual([
			compliance,
			1,
		]);
	}
});

test("the answer to a heartbeat has the thresholds of the policy that applies, without a further statement", async () => {
	const of = await makeGoverned(fleet, "laptop", "server");
	const group = await of.addGroup("Servers", ["server"]);
	await of.change({ min_password_length: 10 });
	await of.set(group, { max_lock_delay_seconds: 300 });
	const pool = makePool(
		{ connectionString: fleet.assay.database.url },
		{ max: 1, name: "policies" },
	);
	let statements = 0;
	pool.on("acquire", () => statements++);
	const cache = new PolicyCache(pool, 3_600_000);
	const { rows } = await fleet.assay.database.owner.query(
		"select id, group_policy_id from devices where organization_id = $1 order by name",
		[of.organization_id],
	);
	const found = [];
	for (const { id, group_policy_id } of rows) {
		found.push(await cache.thresholdsOf(id, group_policy_id));
	}
	await pool.end();
	expect(statements).toBe(1);
	const usual = { ...DEFAULT_THRESHOLDS, min_password_length: 10 };
	expect(found).toEqual([usual, { ...usual, max_lock_delay_seconds: 300 }]);
});
