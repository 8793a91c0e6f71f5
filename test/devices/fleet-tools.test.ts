import { afterAll, beforeAll, expect, test } from "vitest";
import { heartbeatBody, postureResult } from "../support/service.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let assay: TestTools;
let organization_id: string;
beforeAll(async () => {
	assay = await shareTools();
	organization_id = assay.organizationId;
});
afterAll(() => assay.close());

const addGroup = async (fields: Json): Promise<Json> =>
	(await assay.use("addDeviceGroup", { organization_id, ...fields }))
		.device_group;

const idsIn = async (group_id: string): Promise<string[]> => {
	const { devices, total } = await assay.use("listDevices", {
		organization_id,
		filter: { group_id },
	});
	expect(total).toBe(devices.length);
	return devices.map(({ id }: Json) => id).sort();
};

const groupsOf = async (id: string): Promise<string[]> =>
	(await assay.use("getDevice", { id })).device.groups.map(
		({ name }: Json) => name,
	);

test("a group lists devices, which lists, counts and the devices themselves show", async () => {
	const [a, b, c] = await assay.activateDevices(3);
	if (!a || !b || !c) throw new Error("three devices are needed");
	const group = await addGroup({ name: "Sales", device_ids: [a.id, b.id] });
	expect(group).toMatchObject({ filter: null, device_count: 2 });
	expect(await idsIn(group.id)).toEqual([a.id, b.id].sort());
	expect(await groupsOf(a.id)).toEqual(["Sales"]);
	expect(await groupsOf(c.id)).toEqual([]);
	const { device_group: changed } = await assay.use("updateDeviceGroup", {
		id: group.id,
		add_device_ids: [c.id, b.id],
		remove_device_ids: [a.id],
	});
	expect(changed.device_count).toBe(2);
	expect(await idsIn(group.id)).toEqual([b.id, c.id].sort());
	const counted = await assay.use("countRecords", {
		organization_id,
		kind: "device",
		filter: { group_id: group.id },
	});
	expect(counted.total).toBe(2);
	const { audit_entries: entries } = await assay.use("listAuditLog", {
		organization_id,
		filter: { operation: "updateDeviceGroup" },
		detail: "full",
	});
	expect(entries[0].changes).toMatchObject({
		added_device_ids: { after: [c.id] },
		removed_device_ids: { after: [a.id] },
	});
	await assay.use("deleteDevice", { id: b.id });
	expect(await idsIn(group.id)).toEqual([c.id]);
	await assay.use("deleteDeviceGroup", { id: group.id });
	expect(await groupsOf(c.id)).toEqual([]);
	expect((await assay.call("getDevice", { id: c.id })).status).toBe(200);
});

test("a group with a filter contains the devices that match at the moment", async () => {
	const device = await assay.activateDevice();
	const report = (status: string) =>
		assay.post(
			"postures",
			{ results: [postureResult({ status, check_key: "FIREWALL" })] },
			{ key: device.key },
		);
	await report("FAIL");
	const group = await addGroup({
		name: "No firewall",
		filter: { failing_check: "FIREWALL", status: ["ACTIVE"] },
	});
	expect(group.device_count).toBe(1);
	expect(await idsIn(group.id)).toEqual([device.id]);
	expect(await groupsOf(device.id)).toEqual(["No firewall"]);
	await report("PASS");
	expect(await idsIn(group.id)).toEqual([]);
	expect(await groupsOf(device.id)).toEqual([]);
	const { device_groups: groups } = await assay.use("listDeviceGroups", {
		organization_id,
	});
	expect(groups).toMatchObject([{ name: "No firewall", device_count: 0 }]);
	const { device_group: changed } = await assay.use("updateDeviceGroup", {
		id: group.id,
		filter: { platform: "LINUX", status: "ACTIVE" },
	});
	expect(changed.device_count).toBeGreaterThan(0);
	const body = heartbeatBody({ hardware_uuid: device.hardwareUuid });
	await assay.post("heartbeat", body, { key: device.key });
	const listed = await assay.use("listDevices", {
		organization_id,
		detail: "brief",
		filter: { group_id: group.id },
	});
	expect(listed.devices[0].groups).toEqual([
		{ id: group.id, name: "No firewall" },
	]);
});

test.each([
	["name", { name: "no FIREWALL" }],
	["no_such", { name: "x", filter: { no_such: 1 } }],
	["filter.status", { name: "x", filter: { status: "GREEN" } }],
	["filter", { name: "x", filter: { group_id: "x" } }],
	["filter", { name: "x", filter: { query: "laptop" } }],
	["device_ids", { name: "x", filter: {}, device_ids: [] }],
])("a group with a wrong %s is rejected: %j", async (field, input) => {
	const { status, body } = await assay.call("addDeviceGroup", {
		organization_id,
		...input,
	});
	expect(status).toBe(400);
	expect(body.message).toContain(field);
});

test("a group keeps what it began with, and takes only devices of its organization", async () => {
	const group = await addGroup({ name: "Listed" });
	const other = await addGroup({ name: "Filtered", filter: {} });
	const foreign = await assay.enrollDevice(assay.otherOrganizationId);
	for (const [field, input] of [
		["filter", { id: group.id, filter: { platform: "LINUX" } }],
		["add_device_ids", { id: other.id, add_device_ids: [foreign.id] }],
		["add_device_ids[0]", { id: group.id, add_device_ids: [foreign.id] }],
	] as const) {
		const { status, body } = await assay.call("updateDeviceGroup", input);
		expect(status).toBe(400);
		expect(body.message).toContain(field);
	}
});

test("a list by a group that does not exist says so, as does one by another organization's", async () => {
	const { device_group: foreign } = await assay.use(
		"addDeviceGroup",
		{ organization_id: assay.otherOrganizationId, name: "Theirs" },
		assay.stranger.token,
	);
	const { status, body } = await assay.call("listDevices", {
		organization_id,
		filter: { group_id: foreign.id },
	});
	expect(status).toBe(400);
	expect(body.message).toContain("listDeviceGroups");
});

test("many devices are revoked in one call, with their open enrollment tokens", async () => {
	const active = await assay.activateDevice();
	const { id, token } = await assay.makeToken();
	const input = { organization_id, device_ids: [active.id, id] };
	expect(await assay.use("revokeDevices", input)).toMatchObject({
		unchanged_device_ids: [],
	});
	const beat = await assay.post("heartbeat", heartbeatBody(), {
		key: active.key,
	});
	expect(beat.status).toBe(401);
	expect((await assay.post("enroll", { token })).status).toBe(401);
	expect(await assay.use("revokeDevices", input)).toMatchObject({
		changed_device_ids: [],
	});
});

test("many devices get new tokens in one call, and their earlier tokens stop working", async () => {
	const active = await assay.activateDevice();
	const pending = await assay.makeToken();
	const revoked = await assay.activateDevice();
	await assay.use("revokeDevice", { id: revoked.id });
	const ids = [active.id, pending.id, revoked.id];
	const { tokens } = await assay.use("reissueEnrollmentTokens", {
		organization_id,
		device_ids: [...ids, active.id],
		enrollment_token_expires_in_days: 3,
	});
	expect(tokens.map(({ device_id }: Json) => device_id).sort()).toEqual(
		ids.toSorted(),
	);
	const days =
		(Date.parse(tokens[0].enrollment_token_expires_at) - Date.now()) /
		86_400_000;
	expect(Math.round(days)).toBe(3);
	expect((await assay.post("enroll", { token: pending.token })).status).toBe(
		401,
	);
	// The key in use works until the new token is exchanged.
	const beat = () =>
		assay.post(
			"heartbeat",
			heartbeatBody({ hardware_uuid: active.hardwareUuid }),
			{
				key: active.key,
			},
		);
	expect((await beat()).status).toBe(200);
	for (const { device_id, enrollment_token: token } of tokens) {
		expect((await assay.post("enroll", { token })).status).toBe(200);
		const { device } = await assay.use("getDevice", { id: device_id });
		expect(device.status).toBe("PENDING");
	}
	expect((await beat()).status).toBe(401);
	const { audit_entries } = await assay.use("listAuditLog", {
		organization_id,
		filter: { operation: "reissueEnrollmentTokens" },
		detail: "full",
	});
	const changes = Object.fromEntries(
		audit_entries.map(({ record_id, changes }: Json) => [record_id, changes]),
	);
	expect(changes[revoked.id].status).toEqual({
		before: "REVOKED",
		after: "PENDING",
	});
	expect(changes[active.id].status).toBeUndefined();
	const text = JSON.stringify(audit_entries);
	expect(text).toContain("enrollment_token_expires_at");
	expect(text).not.toContain("asy_enr_");
});

test("new tokens for a device that does not exist: 400, and no device gets one", async () => {
	const { id, token } = await assay.makeToken();
	const other = id.slice(0, -1) + (id.endsWith("A") ? "B" : "A");
	const { status, body } = await assay.call("reissueEnrollmentTokens", {
		organization_id,
		device_ids: [id, other],
	});
	expect(status).toBe(400);
	expect(body.message).toContain("device_ids[1]");
	expect((await assay.post("enroll", { token })).status).toBe(200);
});

test('a group whose filter says "me" keeps the person who saved it', async () => {
	const { rows } = await assay.database.owner.query(
		"select email from users where id = $1",
		[assay.admin.id],
	);
	const filter = { owner: "me" };
	const { body } = await assay.call("addDeviceGroup", {
		organization_id,
		name: "Nobody's",
		filter,
	});
	expect(body.message).toContain("nobody in the register People");
	const [own, other] = await assay.activateDevices(2);
	const owners = [
		[own, "Grace Hopper", rows[0].email],
		[other, "James Mead", "james.mead@example.com"],
	] as const;
	let me = "";
	for (const [device, full_name, primary_email_address] of owners) {
		const { people } = await assay.use("addPeople", {
			organization_id,
			full_name,
			primary_email_address,
			kind: "EMPLOYEE",
		});
		me ||= people.id;
		await assay.use("updateDevice", { id: device?.id, owner_id: people.id });
	}
	const group = await addGroup({ name: "My laptops", filter });
	expect(group.filter).toEqual({ owner_id: me });
	expect(await idsIn(group.id)).toEqual([own?.id]);
});
