import { afterAll, beforeAll, expect, test } from "vitest";
import { heartbeatBody, postureResult } from "../support/service.ts";
import { type Json, startTools, type TestTools } from "../support/tools.ts";

let assay: TestTools;
let organization_id: string;
beforeAll(async () => {
	assay = await startTools();
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

test("owners are set by serial number, hostname and address, and a dry run says first what is wrong", async () => {
	const [a, b] = [await assay.enrollDevice(), await assay.enrollDevice()];
	const facts = { serial_number: "SER-1", hostname: "owned-a" };
	await assay.post("heartbeat", heartbeatBody(facts), { key: a.key });
	const more = { serial_number: "SER-2", hostname: "owned-b" };
	await assay.post("heartbeat", heartbeatBody(more), { key: b.key });
	const { people } = await assay.use("addPeople", {
		organization_id,
		full_name: "Ada",
		kind: "EMPLOYEE",
		primary_email_address: "ada@example.com",
	});
	// The lines are numbered as in the file, also after an empty one.
	const csv =
		"Owner;Device\nADA@example.com; ser-1 \n\nnobody@example.com;owned-b\nada@example.com;elsewhere\n ada@example.com;owned-a\nada@example.com;\n;owned-b\n";
	const dry = await assay.use("importDeviceOwners", {
		organization_id,
		csv,
		dry_run: true,
	});
	expect(dry).toEqual({
		changed_device_ids: [a.id],
		unchanged_device_ids: [],
		lines_without_owner: [8],
		last_line: 8,
		problems: [
			[4, "owner", "nobody@example.com; give that of a person"],
			[5, "device", "elsewhere"],
			[6, "device", "the device of line 2"],
			[7, "device", "is empty"],
		].map(([line, field, words]) => ({
			line,
			field,
			message: expect.stringContaining(String(words)),
		})),
	});
	const whole = await assay.call("importDeviceOwners", {
		organization_id,
		csv,
	});
	expect(whole.status).toBe(400);
	expect(whole.body.message).toContain("csv: line 4, owner: no person has");
	const entry = await assay.call("setDeviceOwners", {
		organization_id,
		owners: [
			{ device: a.id, owner: people.id },
			{ device: a.id, owner: people.id },
		],
	});
	expect(entry.body.message).toContain("owners[1].device: ");
	expect(entry.body.message).toContain("the device of owners[0]");
	const ownerOf = async (id: string) =>
		(await assay.use("getDevice", { id })).device.owner_id;
	expect(await ownerOf(a.id)).toBeNull();
	const good = "device,owner\nser-1,ada@example.com\nowned-b,Nobody\n";
	const done = await assay.use("importDeviceOwners", {
		organization_id,
		csv: good,
	});
	expect(done).toEqual({
		changed_device_ids: [a.id],
		unchanged_device_ids: [b.id],
		lines_without_owner: [],
		last_line: 3,
		problems: [],
	});
	expect(await ownerOf(a.id)).toBe(people.id);
	const empty = await assay.use("importDeviceOwners", {
		organization_id,
		csv: "device,owner,note\nser-1,,lost\nowned-b\n",
	});
	expect(empty).toMatchObject({
		changed_device_ids: [],
		lines_without_owner: [2, 3],
	});
	expect(await ownerOf(a.id)).toBe(people.id);
	const removed = await assay.use("importDeviceOwners", {
		organization_id,
		csv: "device,owner\nser-1,nobody\n",
	});
	expect(removed.changed_device_ids).toEqual([a.id]);
	expect(await ownerOf(a.id)).toBeNull();
	await assay.use("updateDevice", { id: a.id, owner_id: people.id });
	const cleared = await assay.use("setDeviceOwners", {
		organization_id,
		owners: [{ device: a.id, owner: null }],
	});
	expect(cleared.changed_device_ids).toEqual([a.id]);
	expect(await ownerOf(a.id)).toBeNull();
});

test("a file of 3,000 owners is tried as a whole and imported in parts, and its own lines are named", async () => {
	const { rows } = await assay.database.owner.query<{ id: string }>(
		`insert into devices (organization_id, id, name, search_text)
		select $1, md5('bulk-' || n), 'bulk-' || n, 'bulk' from generate_series(1, 3000) n
		returning id`,
		[organization_id],
	);
	expect(rows.length).toBe(3000);
	const ada = await assay.use("addPeople", {
		organization_id,
		full_name: "Ada of many",
		kind: "EMPLOYEE",
		primary_email_address: "many@example.com",
	});
	const lines = rows.map(({ id }) => `${id},many@example.com`);
	const csv = ["device,owner", ...lines].join("\n");
	const wrong = [...lines];
	wrong[2499] = "elsewhere,many@example.com";
	wrong[2999] = lines[0] as string;
	const dry = await assay.use("importDeviceOwners", {
		organization_id,
		csv: ["device,owner", ...wrong].join("\n"),
		dry_run: true,
	});
	expect(dry.last_line).toBe(3001);
	expect(dry.changed_device_ids.length).toBe(2998);
	expect(
		dry.problems.map(({ line, message }: { line: number; message: string }) => [
			line,
			message.split(";")[0],
		]),
	).toEqual([
		[2501, "no device has the serial number, hostname or id elsewhere"],
		[3001, `${rows[0]?.id} is the device of line 2`],
	]);
	const part = async (text: string, first_line?: number, last_line?: number) =>
		assay.call("importDeviceOwners", {
			organization_id,
			csv: text,
			first_line,
			last_line,
		});
	expect((await part(csv)).body.message).toContain(
		"has 3000 lines to import, and a call takes 500",
	);
	expect((await part(csv, 502, 1002)).status).toBe(400);
	const failed = await part(["device,owner", ...wrong].join("\n"), 2501, 2501);
	expect(failed.body.message).toContain("csv: line 2501, device: no device");
	expect((await part(csv, 502, 1001)).status).toBe(200);
	const owned = await assay.database.owner.query<{ id: string }>(
		"select id from devices where organization_id = $1 and owner_id = $2",
		[organization_id, ada.people.id],
	);
	expect(owned.rows.map(({ id }) => id).sort()).toEqual(
		rows
			.slice(500, 1000)
			.map(({ id }) => id)
			.sort(),
	);
});

test.each([
	["other columns", "serial,owner\nx,y\n"],
	["no lines", "device,owner\n"],
	["a column twice", "device,owner,Owner\nx,y,z\n"],
])("owners are not imported from a file with %s", async (_, csv) => {
	const { status, body } = await assay.call("importDeviceOwners", {
		organization_id,
		csv,
	});
	expect(status).toBe(400);
	expect(body.message).toContain("csv: must have");
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
