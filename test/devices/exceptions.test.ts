import { afterAll, beforeAll, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { timeBetweenChanges } from "../support/time-between-changes.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";
import { check, exceptionCalls, inDays } from "./exception-calls.ts";

let assay: TestTools;
let organization_id: string;
beforeAll(async () => {
	assay = await shareTools();
	organization_id = assay.organizationId;
});
afterAll(() => assay.close());

const {
	report,
	failingDevice,
	request,
	approve,
	stateOf,
	refused,
	eventsOf,
	keep,
} = exceptionCalls(() => assay);

test("an approved exception excuses a failing device until its end, and a past date keeps the state of then", async () => {
	const device = await failingDevice();
	const other = await failingDevice();
	expect((await stateOf(device.id)).check_state).toBe("FAILING");
	const exception = await request({ device_id: device.id });
	expect(exception).toMatchObject({
		status: "REQUESTED",
		scope: "DEVICE",
		check_name: "Host firewall",
	});
	expect((await stateOf(device.id)).check_state).toBe("FAILING");
	expect((await approve(exception.id, { note: "For now" })).status).toBe(
		"IN_FORCE",
	);
	expect(await stateOf(device.id)).toMatchObject({
		check_state: "EXCEPTED",
		excepted_until: exception.ends_at,
		exception_id: exception.id,
	});
	expect((await stateOf(other.id)).check_state).toBe("FAILING");
	expect((await stateOf(device.id, { as_of: inDays(-0.5) })).check_state).toBe(
		"FAILING",
	);
	const found = await assay.use("listDevices", {
		organization_id,
		filter: { check_state: "EXCEPTED", check },
	});
	expect(found.devices.map(({ id }: Json) => id)).toEqual([device.id]);

	const during = await timeBetweenChanges(assay.database);
	const ended = await assay.use("updateDeviceException", {
		id: exception.id,
		ends_at: inDays(-5),
	});
	expect(ended.device_exception.status).toBe("ENDED");
	expect((await stateOf(device.id)).check_state).toBe("FAILING");
	expect((await stateOf(device.id, { as_of: during })).check_state).toBe(
		"EXCEPTED",
	);
	const { covered, total } = await assay.use("getDeviceException", {
		id: exception.id,
	});
	expect(total).toBe(1);
	expect(covered[0]).toMatchObject({
		device_id: device.id,
		status: "FAIL",
		until: ended.device_exception.ends_at,
	});
	await keep();
	expect(await eventsOf(exception.id)).toEqual([
		"exception.requested",
		"exception.approved",
		"exception.ended",
	]);
	await keep();
	expect(await eventsOf(exception.id)).toHaveLength(3);
});

test("an exception covers a platform, all devices, or those that a group contains at the time", async () => {
	const device = await failingDevice();
	for (const scope of [{ platform: "LINUX" }, {}]) {
		const { id } = await request(scope);
		await approve(id);
		expect((await stateOf(device.id)).check_state).toBe("EXCEPTED");
		await assay.use("updateDeviceException", { id, ends_at: inDays(0) });
	}
	const { id: elsewhere } = await request({ platform: "WINDOWS" });
	await approve(elsewhere);
	expect((await stateOf(device.id)).check_state).toBe("FAILING");

	const { device_group: group } = await assay.use("addDeviceGroup", {
		organization_id,
		name: "Laboratory",
	});
	const { id } = await request({ group_id: group.id });
	await approve(id);
	expect((await stateOf(device.id)).check_state).toBe("FAILING");
	await assay.use("updateDeviceGroup", {
		id: group.id,
		add_device_ids: [device.id],
	});
	expect((await stateOf(device.id)).check_state).toBe("EXCEPTED");
	const inGroup = await timeBetweenChanges(assay.database);
	await assay.use("updateDeviceGroup", {
		id: group.id,
		remove_device_ids: [device.id],
	});
	expect((await stateOf(device.id)).check_state).toBe("FAILING");
	expect((await stateOf(device.id, { as_of: inGroup })).check_state).toBe(
		"EXCEPTED",
	);
	const { covered } = await assay.use("getDeviceException", { id });
	expect(covered).toMatchObject([{ device_id: device.id }]);
	expect(covered[0].until).not.toBeNull();
});

test("a group with a filter is followed by the upkeep, and one that depends on states is rejected", async () => {
	const device = await failingDevice();
	await assay.use("updateDevice", { id: device.id, name: "filtered" });
	const add = async (name: string, filter: Json) =>
		(await assay.use("addDeviceGroup", { organization_id, name, filter }))
			.device_group.id;
	const group_id = await add("Failing", { failing_check: check });
	const { id } = await request({ group_id });
	await approve(id);
	expect((await stateOf(device.id)).check_state).toBe("EXCEPTED");
	const later = await failingDevice();
	expect((await stateOf(later.id)).check_state).toBe("FAILING");
	await keep();
	expect((await stateOf(later.id)).check_state).toBe("EXCEPTED");
	await assay.use("updateDeviceException", { id, ends_at: inDays(0) });
	expect(
		await refused("addDeviceException", {
			organization_id,
			check,
			reason: "why",
			ends_at: inDays(1),
			group_id: await add("By state", { compliance: "NONCOMPLIANT" }),
		}),
	).toContain("depends on the state of checks");
});

test("a member cannot add a device to a group that an approved exception excuses", async () => {
	const device = await failingDevice();
	const add = async (fields: Json): Promise<Json> =>
		(await assay.use("addDeviceGroup", { organization_id, ...fields }))
			.device_group;
	const list = await add({ name: "Excused list" });
	const filtered = await add({
		name: "Excused by filter",
		filter: { platform: "FREEBSD" },
	});
	const change = (id: string, fields: Json) =>
		assay.call("updateDeviceGroup", { id, ...fields }, assay.member.token);
	for (const { id } of [list, filtered]) {
		await approve((await request({ group_id: id })).id);
	}
	for (const [id, fields] of [
		[list.id, { add_device_ids: [device.id] }],
		[filtered.id, { filter: { platform: "LINUX" } }],
	]) {
		const { status, body } = await change(id, fields);
		expect(status, JSON.stringify(body)).toBe(403);
	}
	await keep();
	expect((await stateOf(device.id)).check_state).toBe("FAILING");
	expect((await change(list.id, { name: "Excused devices" })).status).toBe(200);
	const input = { id: list.id, add_device_ids: [device.id] };
	await assay.use("updateDeviceGroup", input);
	expect((await stateOf(device.id)).check_state).toBe("EXCEPTED");
	const less = { remove_device_ids: [device.id] };
	expect((await change(list.id, less)).status).toBe(200);
	expect((await stateOf(device.id)).check_state).toBe("FAILING");
});

test("missing data is not excused: an excepted device that stays silent is STALE", async () => {
	const device = await assay.activateDevice();
	const { id } = await request({ device_id: device.id });
	await approve(id);
	await report(device.key, "UNKNOWN");
	expect((await stateOf(device.id)).check_state).toBe("EXCEPTED");
	const silent = await assay.activateDevice();
	await report(silent.key, "FAIL", 5);
	const other = await request({ device_id: silent.id });
	await approve(other.id);
	expect((await stateOf(silent.id)).check_state).toBe("STALE");
});

test("each wrong request is refused and names its field", async () => {
	const cases: [Json, string][] = [
		[{ ends_at: inDays(-1) }, "ends_at: must be in the future"],
		[
			{ ends_at: inDays(400) },
			"ends_at: must be at most 366 days after the start",
		],
		[
			{ starts_at: inDays(3), ends_at: inDays(2) },
			"ends_at: must be after the start",
		],
		[{ check: "NONSENSE" }, "check: no device has reported the check"],
		[{ reason: " " }, "reason: must not be empty"],
		[
			{ device_id: makeId(organization_id, "device") },
			"device_id: there is no device",
		],
		[
			{ device_id: makeId(organization_id, "device"), platform: "LINUX" },
			"platform: an exception is for a device, a group or a platform",
		],
	];
	for (const [fields, message] of cases) {
		const input = {
			...{ organization_id, check, reason: "why", ends_at: inDays(5) },
			...fields,
		};
		expect(await refused("addDeviceException", input)).toContain(message);
	}
	const { id } = await request();
	expect(
		(await assay.call("approveDeviceException", { id }, assay.member.token))
			.status,
	).toBe(403);
});

test("an approved exception only ends earlier, and one that was in force is not deleted", async () => {
	const { id } = await request();
	const changed = await assay.use("updateDeviceException", {
		id,
		reason: "Another reason",
		ends_at: inDays(40),
	});
	expect(changed.device_exception.reason).toBe("Another reason");
	await approve(id);
	expect(await refused("approveDeviceException", { id })).toContain(
		"was already decided",
	);
	expect(
		await refused("updateDeviceException", { id, ends_at: inDays(50) }),
	).toContain("ends_at: must not be later than");
	expect(
		await refused("updateDeviceException", { id, reason: "later" }),
	).toContain("reason: cannot change after the approval");
	expect(await refused("deleteDeviceException", { id })).toContain(
		"stays for auditors",
	);
	await assay.use("updateDeviceException", { id, ends_at: inDays(0) });
	const rejected = await request();
	const answer = await approve(rejected.id, { is_approved: false });
	expect(answer.status).toBe("REJECTED");
	expect(await eventsOf(rejected.id)).toEqual([
		"exception.requested",
		"exception.rejected",
	]);
	await assay.use("deleteDeviceException", { id: rejected.id });
	expect(
		(await assay.call("getDeviceException", { id: rejected.id })).status,
	).toBe(404);
});

test("an exception reminds 14 and 3 days before its end, each once, and not of what is shorter", async () => {
	const { id } = await request({ platform: "DARWIN" });
	await approve(id);
	const short = await request({ platform: "DARWIN", ends_at: inDays(10) });
	await approve(short.id);
	const moveEnd = async (days: number) => {
		await assay.database.owner.query(
			"update device_exceptions set ends_at = now() + $2 * interval '1 day' where id = $1",
			[id, days],
		);
		await keep();
		await keep();
	};
	const reminders = async (of: string) =>
		(
			await assay.database.owner.query(
				"select (data ->> 'days')::int as days from events where record_id = $1 and type = 'exception.expiring' order by id",
				[of],
			)
		).rows.map(({ days }) => days);
	await keep();
	expect(await reminders(id)).toEqual([]);
	await assay.database.owner.query(
		"update device_exceptions set starts_at = now() - interval '30 days', decided_at = now() - interval '30 days' where id = $1",
		[id],
	);
	await moveEnd(13);
	expect(await reminders(id)).toEqual([14]);
	await moveEnd(2);
	expect(await reminders(id)).toEqual([14, 3]);
	expect(await reminders(short.id)).toEqual([]);
});
