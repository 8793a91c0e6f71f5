import { afterAll, beforeAll, expect, test } from "vitest";
import {
	deleteDeviceGroup,
	updateDeviceGroup,
} from "../../src/devices/group-operations.ts";
import { setDeviceGroupPolicy } from "../../src/devices/group-policies/operations.ts";
import { updateDevice } from "../../src/devices/write-operations.ts";
import { makeId } from "../../src/id.ts";
import { shareFleet, type TestFleet } from "../support/devices.ts";
import { makeGoverned, rule } from "./governed-devices.ts";
import { KEY, stateOf } from "./states-fleet.ts";

let fleet: TestFleet;
beforeAll(async () => {
	fleet = await shareFleet();
});
afterAll(() => fleet.assay.close());

test("a device in two groups has the policy with the lower number, and the device says which", async () => {
	const of = await makeGoverned(fleet, "both", "one");
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
	const of = await makeGoverned(fleet, "moving");
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
	const of = await makeGoverned(fleet, "added", "removed");
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
	const of = await makeGoverned(fleet, "one");
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

test("a dry run tells what would change and stores nothing, and the audit log has each change", async () => {
	const of = await makeGoverned(fleet, "failing");
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
	const [ours, theirs] = [
		await makeGoverned(fleet, "ours"),
		await makeGoverned(fleet, "x"),
	];
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
