import { afterAll, beforeAll, expect, test } from "vitest";
import { makePool, withTenant } from "../../src/db/pool.ts";
import { countChecks } from "../../src/devices/check-results/count-checks.ts";
import { getCheckResults } from "../../src/devices/check-results/operations.ts";
import {
	addDeviceGroup,
	deleteDeviceGroup,
	updateDeviceGroup,
} from "../../src/devices/group-operations.ts";
import { keepGroupPolicies } from "../../src/devices/group-policies/assign.ts";
import {
	deleteDeviceGroupPolicy,
	listDeviceGroupPolicies,
	setDeviceGroupPolicy,
} from "../../src/devices/group-policies/operations.ts";
import { listNonconformityDevices } from "../../src/devices/nonconformities/list-devices.ts";
import { PolicyCache } from "../../src/devices/policy-cache.ts";
import { DEFAULT_THRESHOLDS } from "../../src/devices/thresholds.ts";
import { keepDevices } from "../../src/devices/upkeep.ts";
import { updateDevice } from "../../src/devices/write-operations.ts";
import { makeId } from "../../src/id.ts";
import { startFleet, type TestFleet } from "../support/devices.ts";
import { daysAgo, KEY, makeStatesFleet, stateOf } from "./states-fleet.ts";

let fleet: TestFleet;
beforeAll(async () => {
	fleet = await startFleet();
});
afterAll(() => fleet.assay.close());

/** Makes devices of one organization that pass everything, and calls about their groups. */
async function makeGoverned(...names: string[]) {
	const of = await makeStatesFleet(fleet, names);
	for (const name of names) await of.passOthers(name);
	const { organization_id } = of;
	const options = { organizationId: organization_id };
	const inTenant = <Result>(
		work: Parameters<typeof withTenant<Result>>[2],
	): Promise<Result> =>
		withTenant(fleet.assay.database.pool, organization_id, work);
	return {
		...of,
		options,
		addGroup: async (name: string, devices: string[] | object) =>
			(
				await fleet.call(
					addDeviceGroup,
					{
						organization_id,
						name,
						...(Array.isArray(devices)
							? { device_ids: devices.map(of.idOf) }
							: { filter: devices as Record<string, unknown> }),
					},
					options,
				)
			).device_group.id,
		set: (group_id: string, input: object) =>
			fleet.call(setDeviceGroupPolicy, { group_id, ...input }, options),
		remove: (group_id: string) =>
			fleet.call(deleteDeviceGroupPolicy, { group_id }, options),
		list: async () =>
			(
				await fleet.call(listDeviceGroupPolicies, { organization_id }, options)
			).group_policies.map(({ group_name, priority, device_count }) => [
				group_name,
				priority,
				device_count,
			]),
		/** Returns the group whose policy applies to the device. */
		governedBy: async (name: string) =>
			(await of.read(name)).group_policies?.find(({ applies }) => applies)
				?.group_name,
		/** Does the work that the service repeats each minute. */
		keep: () =>
			inTenant((client) => keepGroupPolicies(client, organization_id)),
		inTenant,
	};
}

const rule = (given: object) => ({ checks: [{ check_key: KEY, ...given }] });

test("a group's policy replaces single values for its devices, everywhere states are read", async () => {
	const of = await makeGoverned("laptop", "server");
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
	await of.inTenant((client) => countChecks(client, of.organization_id));
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
	const of = await makeGoverned("laptop", "server");
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

test("a device in two groups has the policy with the lower number, and the device says which", async () => {
	const of = await makeGoverned("both", "one");
	const first = await of.addGroup("First", ["both"]);
	const second = await of.addGroup("Second", ["both", "one"]);
	await of.set(first, rule({ grace_days: 10 }));
	await of.set(second, rule({ grace_days: 20 }));
	expect(await of.list()).toEqual([
		["First", 1, 1],
		["Second", 2, 1],
	]);
	expect(await of.governedBy("both")).toBe("First");
	expect(await of.governedBy("one")).toBe("Second");
	await of.set(second, { priority: 1 });
	expect(await of.list()).toEqual([
		["Second", 1, 2],
		["First", 2, 0],
	]);
	expect((await of.read("both")).group_policies).toMatchObject([
		{ group_name: "Second", priority: 1, applies: true },
		{ group_name: "First", priority: 2, applies: false },
	]);
	// The policies are not mixed: of Second, only what it replaces itself.
	await of.set(first, rule({ is_required: false }));
	await of.report("both", "FAIL", 5);
	await of.report("both", "FAIL", 0);
	expect(await stateOf(of, "both")).toBe("IN_GRACE");

	await of.remove(second);
	expect(await of.list()).toEqual([["First", 1, 1]]);
	expect(await of.governedBy("both")).toBe("First");
	expect(await of.governedBy("one")).toBeUndefined();
	await fleet.call(deleteDeviceGroup, { id: first }, of.options);
	expect(await of.list()).toEqual([]);
	expect(await of.governedBy("both")).toBeUndefined();
	expect(await stateOf(of, "both")).toBe("FAILING");
});

test("a group with a filter gives its policy to the devices that enter, and takes it when they leave", async () => {
	const of = await makeGoverned("moving");
	await of.report("moving", "FAIL", 5);
	await of.report("moving", "FAIL", 0);
	const group = await of.addGroup("Owned", { owner_id: null });
	await of.set(group, rule({ grace_days: 30 }));
	expect(await stateOf(of, "moving")).toBe("IN_GRACE");
	const personId = makeId(of.organization_id, "people");
	await fleet.assay.database.owner.query(
		`insert into people (organization_id, id, full_name, primary_email_address, kind)
		values ($1, $2, 'Ada', 'ada@example.org', 'EMPLOYEE')`,
		[of.organization_id, personId],
	);
	const own = (owner_id: string | null) =>
		fleet.call(updateDevice, { id: of.idOf("moving"), owner_id }, of.options);
	await own(personId);
	await of.keep();
	expect(await of.governedBy("moving")).toBeUndefined();
	expect(await stateOf(of, "moving")).toBe("FAILING");
	await own(null);
	await of.keep();
	expect(await of.governedBy("moving")).toBe("Owned");
	expect(await stateOf(of, "moving")).toBe("IN_GRACE");
});

test("the list of a group's devices changes whose policy applies at once, and only administrators may do that", async () => {
	const of = await makeGoverned("added", "removed");
	const id = await of.addGroup("Listed", ["removed"]);
	const change = (input: object, role: "admin" | "member" = "admin") =>
		fleet.call(updateDeviceGroup, { id, ...input }, { ...of.options, role });
	await of.set(id, rule({ grace_days: 30 }));
	for (const input of [
		{ add_device_ids: [of.idOf("added")] },
		{ remove_device_ids: [of.idOf("removed")] },
	]) {
		await expect(change(input, "member")).rejects.toMatchObject({
			code: "forbidden",
		});
		await change(input);
	}
	expect(await of.governedBy("added")).toBe("Listed");
	expect(await of.governedBy("removed")).toBeUndefined();
	await change({ description: "Anybody may say more" }, "member");
	await expect(
		fleet.call(
			setDeviceGroupPolicy,
			{ group_id: id, priority: 1 },
			{
				...of.options,
				role: "member",
			},
		),
	).rejects.toMatchObject({ code: "forbidden" });
});

test("a group whose filter depends on states can have no policy", async () => {
	const of = await makeGoverned("one");
	const failing = await of.addGroup("Failing", { compliance: "NONCOMPLIANT" });
	await expect(of.set(failing, { priority: 1 })).rejects.toMatchObject({
		code: "bad_request",
		message: expect.stringContaining("compliance"),
	});
	const linux = await of.addGroup("Linux", { platform: "LINUX" });
	await of.set(linux, {});
	await expect(
		fleet.call(
			updateDeviceGroup,
			{ id: linux, filter: { compliance: "NONCOMPLIANT" } },
			of.options,
		),
	).rejects.toMatchObject({ code: "bad_request" });
});

test("nonconformities follow the policy: a longer grace takes the device out of one", async () => {
	const of = await makeGoverned("failing");
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
	const of = await makeGoverned();
	const two = await makeGoverned("quiet", "usual");
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

test("a state in the past follows the group's policy of that time", async () => {
	const of = await makeGoverned("past");
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
	const of = await makeGoverned("laptop", "server");
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

test("a dry run tells what would change and stores nothing, and the audit log has each change", async () => {
	const of = await makeGoverned("failing");
	await of.report("failing", "FAIL", 5);
	await of.report("failing", "FAIL", 0);
	const group = await of.addGroup("Group", ["failing"]);
	const change = { priority: 1, ...rule({ is_required: false }) };
	const { effects } = await of.set(group, { ...change, dry_run: true });
	expect(effects).toMatchObject({
		compliance: { before: { NONCOMPLIANT: 1 }, after: { COMPLIANT: 1 } },
		checks: [{ check_key: KEY, before: { FAILING: 1 } }],
	});
	expect(await of.list()).toEqual([]);
	expect(await stateOf(of, "failing")).toBe("FAILING");

	const { group_policy } = await of.set(group, change);
	await of.set(group, change);
	await of.set(group, { min_password_length: 12 });
	await expect(
		of.set(group, { priority: 1, if_updated_at: group_policy.updated_at }),
	).rejects.toMatchObject({ code: "conflict" });
	await of.remove(group);
	await expect(of.remove(group)).rejects.toMatchObject({ code: "not_found" });
	const { rows } = await fleet.assay.database.owner.query(
		`select operation, record_name, changes from audit_entries
		where organization_id = $1 and record_kind = 'device_group_policy' order by id`,
		[of.organization_id],
	);
	const required = `${KEY}.is_required`;
	expect(rows).toEqual([
		{
			operation: "setDeviceGroupPolicy",
			record_name: "Group",
			changes: { priority: { after: 1 }, [required]: { after: false } },
		},
		{
			operation: "setDeviceGroupPolicy",
			record_name: "Group",
			changes: { min_password_length: { before: null, after: 12 } },
		},
		{
			operation: "deleteDeviceGroupPolicy",
			record_name: "Group",
			changes: {
				priority: { before: 1 },
				min_password_length: { before: 12 },
				[required]: { before: false },
			},
		},
	]);
});

test("a group of another organization is not found, and its policies are not listed", async () => {
	const [ours, theirs] = [await makeGoverned("ours"), await makeGoverned("x")];
	const group = await theirs.addGroup("Theirs", ["x"]);
	await theirs.set(group, rule({ is_required: false }));
	await expect(ours.set(group, { priority: 1 })).rejects.toMatchObject({
		code: expect.stringMatching(/forbidden|not_found/),
	});
	expect(await ours.list()).toEqual([]);
	await ours.report("ours", "FAIL", 9);
	await ours.report("ours", "FAIL", 0);
	expect(await stateOf(ours, "ours")).toBe("FAILING");
	await theirs.report("x", "FAIL", 9);
	expect(await stateOf(theirs, "x")).toBe("NOT_APPLICABLE");
});
