import { afterAll, beforeAll, expect, test } from "vitest";
import { makeId, makeOrganizationId } from "../../src/id.ts";
import { postureResult } from "../support/service.ts";
import type { Json } from "../support/tools.ts";
import { type KeyEnrollments, shareKeyEnrollments } from "./key-enrollments.ts";

let assay: KeyEnrollments;
beforeAll(async () => {
	assay = await shareKeyEnrollments();
});
afterAll(() => assay.close());

test("devices join the group of their key, and keep it when the key is used again", async () => {
	const { organizationId: organization_id } = assay;
	const { device_group: group } = await assay.use("addDeviceGroup", {
		organization_id,
		name: "Berlin",
	});
	const { id, secret } = await assay.addKey({ group_id: group.id });
	expect(await assay.findKey(id)).toMatchObject({
		group_id: group.id,
		group_name: "Berlin",
	});
	const devices = [await assay.enroll(secret), await assay.enroll(secret)];
	for (const key of devices) {
		const { groups } = await assay.activate(key);
		expect(groups).toMatchObject([{ id: group.id, name: "Berlin" }]);
	}
	expect(await assay.devicesOf({ group_id: group.id })).toHaveLength(2);
});

test("a group is deleted only after the open keys that devices join it with are revoked", async () => {
	const { organizationId: organization_id } = assay;
	const { device_group: group } = await assay.use("addDeviceGroup", {
		organization_id,
		name: "Hamburg",
	});
	const group_id = group.id as string;
	const keys = [
		await assay.addKey({ group_id, name: "Autumn" }),
		await assay.addKey({ group_id, name: "Winter" }),
	];
	const refused = await assay.call("deleteDeviceGroup", { id: group_id });
	expect(refused.status).toBe(409);
	expect(refused.body.message).toContain(
		"the enrollment keys “Autumn”, “Winter”; revoke them first",
	);
	for (const { id } of keys) {
		expect(await assay.findKey(id)).toMatchObject({ group_id });
		await assay.use("revokeEnrollmentKey", { id });
	}
	await assay.use("deleteDeviceGroup", { id: group_id });
});

test("a device has the policy of its key's group from its enrollment on, until the policy is removed", async () => {
	const { organizationId: organization_id } = assay;
	const { device_group: group } = await assay.use("addDeviceGroup", {
		organization_id,
		name: "Strict",
	});
	const group_id = group.id as string;
	await assay.use("setDeviceGroupPolicy", {
		group_id,
		max_lock_delay_seconds: 60,
	});
	const { secret } = await assay.addKey({ group_id });
	const { id } = await assay.activate(await assay.enroll(secret));
	const policies = async () =>
		(await assay.use("getDevice", { id })).device.group_policies;
	expect(await policies()).toMatchObject([
		{ group_name: "Strict", applies: true },
	]);
	const spans = async () => {
		const { rows } = await assay.database.owner.query(
			"select until is null as applies from device_group_policy_spans where device_id = $1",
			[id],
		);
		return rows;
	};
	expect(await spans()).toEqual([{ applies: true }]);
	await assay.use("deleteDeviceGroupPolicy", { group_id });
	expect(await policies()).toEqual([]);
	expect(await spans()).toEqual([{ applies: false }]);
});

test("the approved exceptions of a key's group excuse a device from its first report on", async () => {
	const { organizationId: organization_id } = assay;
	const { device_group: group } = await assay.use("addDeviceGroup", {
		organization_id,
		name: "Kiosks",
	});
	const { device_exception: exception } = await assay.use(
		"addDeviceException",
		{
			organization_id,
			check: "DISK_ENCRYPTION",
			group_id: group.id,
			reason: "They hold no data.",
			ends_at: new Date(Date.now() + 30 * 86_400_000).toISOString(),
		},
	);
	await assay.use("approveDeviceException", {
		id: exception.id,
		note: "Seen",
	});
	const { secret } = await assay.addKey({ group_id: group.id });
	const key = await assay.enroll(secret);
	const { id } = await assay.activate(key);
	const failing = postureResult({
		check_key: "DISK_ENCRYPTION",
		status: "FAIL",
	});
	const { status } = await assay.post(
		"postures",
		{ results: [failing] },
		{ key },
	);
	expect(status).toBe(204);
	const { device } = await assay.use("getDevice", { id });
	const states = device.postures.map((one: Json) => [
		one.check_key,
		one.check_state,
	]);
	expect(states).toContainEqual(["DISK_ENCRYPTION", "EXCEPTED"]);
});

test("a key takes only a group of the organization that lists its devices", async () => {
	const { organizationId: organization_id } = assay;
	const { device_group: filtered } = await assay.use("addDeviceGroup", {
		organization_id,
		name: "Windows",
		filter: { platform: "WINDOWS" },
	});
	const key = { organization_id, name: "Wrong", max_devices: 1 };
	const foreign = makeId(makeOrganizationId(), "device_group");
	for (const [group_id, message] of [
		[filtered.id, "this group has a filter"],
		[foreign, "no group has this id"],
	]) {
		const { status, body } = await assay.call("addEnrollmentKey", {
			...key,
			group_id,
		});
		expect(status).toBe(400);
		expect(JSON.stringify(body)).toContain(message);
	}
});
