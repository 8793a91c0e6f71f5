import { afterAll, beforeAll, expect, test } from "vitest";
import { transaction } from "../../src/db/pool.ts";
import { deviceOperations } from "../../src/devices/operations.ts";
import { getDevice, listDevices } from "../../src/devices/read-operations.ts";
import {
	addDevice,
	deleteDevice,
	reissueEnrollmentToken,
	revokeDevice,
	updateDevice,
} from "../../src/devices/write-operations.ts";
import { makeId } from "../../src/id.ts";
import type { AnyOperation } from "../../src/operation.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { recordOperations } from "../../src/records/operations.ts";
import { people } from "../../src/registers/people.ts";
import { shareFleet, type TestFleet } from "../support/devices.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";

let fleet: TestFleet;
let organization_id: string;
beforeAll(async () => {
	fleet = await shareFleet();
	organization_id = fleet.assay.organizationId;
});
afterAll(() => fleet.assay.close());

async function exchange(token: string) {
	const answer = await fleet.assay.post("enroll", { token });
	const { api_key: key = "" } = (await answer.json()) as { api_key?: string };
	return { status: answer.status, key };
}

async function beat(key: string, fields: Record<string, unknown> = {}) {
	const body = heartbeatBody(fields);
	return (await fleet.assay.post("heartbeat", body, { key })).status;
}

const see = async (id: string) => (await fleet.call(getDevice, { id })).device;

test("a new device has its owner, and its enrollment token comes with everything that the agent needs", async () => {
	const { people: owner } = await fleet.call(recordOperations(people)[2], {
		organization_id,
		full_name: "Ada",
		primary_email_address: "ada@example.com",
		kind: "EMPLOYEE",
	});
	const added = await fleet.call(addDevice, {
		organization_id,
		name: "laptop",
		owner_id: owner.id,
		enrollment_token_expires_in_days: 2,
	});
	expect(added).toMatchObject({
		device: { name: "laptop", status: "PENDING", owner_id: owner.id },
		enrollment_token: expect.stringMatching(/^asy_enr_\w{46}$/) as string,
		server_url: "http://localhost:8080",
	});
	const days =
		(Date.parse(added.enrollment_token_expires_at) - Date.now()) / 86_400_000;
	expect(Math.round(days * 10)).toBe(20);
	expect((await exchange(added.enrollment_token)).status).toBe(200);
	expect((await exchange(added.enrollment_token)).status).toBe(401);

	const entries = await fleet.audited(added.device.id);
	expect(entries[0]).toMatchObject({
		actor_kind: "USER",
		operation: "addDevice",
		record_name: "laptop",
		changes: { name: { after: "laptop" }, owner_id: { after: owner.id } },
	});
	expect(JSON.stringify(entries)).not.toContain("asy_");
	await expect(
		fleet.call(recordOperations(people)[4], { id: owner.id }),
	).rejects.toThrow("devices: 1");
});

test("if the owner does not exist or belongs to another organization, the error names the field and nothing is stored", async () => {
	const other = await createOrganization(fleet.assay.database.pool, "Other");
	const { people: stranger } = await fleet.call(
		recordOperations(people)[2],
		{
			organization_id: other,
			full_name: "Eve",
			primary_email_address: "eve@example.com",
			kind: "EMPLOYEE",
		},
		{ organizationId: other },
	);
	const [id = ""] = await fleet.seed(["owned"]);
	for (const owner_id of [stranger.id, makeId(organization_id, "people")]) {
		const refused = {
			code: "bad_request",
			fields: [
				{
					field: "owner_id",
					message: `must be the id of a person in this organization, not ${owner_id}; listPeople returns the ids`,
				},
			],
		};
		await expect(
			fleet.call(addDevice, { organization_id, name: "unowned", owner_id }),
		).rejects.toMatchObject(refused);
		await expect(
			fleet.call(updateDevice, { id, owner_id }),
		).rejects.toMatchObject(refused);
	}
	expect((await see(id)).owner_id).toBeNull();
	const filter = { query: "unowned" };
	expect(
		(await fleet.call(listDevices, { organization_id, filter })).devices,
	).toEqual([]);
});

test("an update changes the given fields and logs the differences, and the device is found by its new name", async () => {
	const [id = ""] = await fleet.seed(["before"]);
	await fleet.call(updateDevice, { id, name: "after" }, { role: "member" });
	await fleet.call(updateDevice, { id, name: "after" }, { role: "member" });
	expect(await fleet.audited(id)).toMatchObject([
		{
			operation: "updateDevice",
			changes: { name: { before: "before", after: "after" } },
		},
	]);
	const filter = { query: "after before.local" };
	const found = await fleet.call(listDevices, { organization_id, filter });
	expect(found.devices.map((device) => device.id)).toEqual([id]);
	await fleet.call(updateDevice, { id, name: null });
	expect((await see(id)).name).toBeNull();
});

test("a revoked device's key and its open tokens are rejected from the next request on", async () => {
	const { id, key } = await fleet.assay.activateDevice();
	const { enrollment_token } = await fleet.call(reissueEnrollmentToken, { id });
	const { device } = await fleet.call(revokeDevice, { id });
	expect(device).toMatchObject({
		status: "REVOKED",
		revoked_at: expect.any(String) as string,
	});
	expect(await beat(key)).toBe(401);
	const report = { results: [postureResult()] };
	expect((await fleet.assay.post("postures", report, { key })).status).toBe(
		401,
	);
	expect((await exchange(enrollment_token)).status).toBe(401);
	expect(await fleet.call(revokeDevice, { id })).toEqual({ device });
	const entries = await fleet.audited(id);
	expect(
		entries.filter((one) => one.operation === "revokeDevice"),
	).toHaveLength(1);
});

test("a reissued token replaces earlier ones, and the current key works until the token is exchanged", async () => {
	const { id, key, hardwareUuid } = await fleet.assay.activateDevice();
	const first = await fleet.call(reissueEnrollmentToken, { id });
	const second = await fleet.call(reissueEnrollmentToken, { id });
	expect((await exchange(first.enrollment_token)).status).toBe(401);
	expect(second.device.status).toBe("ACTIVE");
	expect(await beat(key, { hardware_uuid: hardwareUuid })).toBe(200);
	const enrolled = await exchange(second.enrollment_token);
	expect(enrolled.status).toBe(200);
	expect(await beat(key, { hardware_uuid: hardwareUuid })).toBe(401);
	expect((await see(id)).status).toBe("PENDING");
	expect(await beat(enrolled.key, { hardware_uuid: "new disk" })).toBe(200);
	expect(await see(id)).toMatchObject({
		status: "ACTIVE",
		hardware_uuid: "new disk",
	});
});

test("enrolling the device again resolves a possible clone", async () => {
	const { id, key } = await fleet.assay.activateDevice();
	await beat(key, { hardware_uuid: "clone" });
	expect((await see(id)).conflicts).toEqual(["POSSIBLE_CLONE"]);
	const listed = async (
		conflict: "ANY" | "POSSIBLE_CLONE" | "DUPLICATE_HARDWARE",
	) => {
		const { devices } = await fleet.call(listDevices, {
			organization_id: fleet.assay.organizationId,
			filter: { conflict } as object,
		});
		return devices.map((device) => device.id).includes(id);
	};
	expect(await listed("ANY")).toBe(true);
	expect(await listed("POSSIBLE_CLONE")).toBe(true);
	expect(await listed("DUPLICATE_HARDWARE")).toBe(false);
	const { enrollment_token } = await fleet.call(reissueEnrollmentToken, { id });
	await beat((await exchange(enrollment_token)).key);
	expect(await see(id)).toMatchObject({ status: "ACTIVE", conflicts: [] });
	expect(await listed("ANY")).toBe(false);
});

test("a revoked device may enroll again unless another device has its hardware by then", async () => {
	const { id, hardwareUuid } = await fleet.assay.activateDevice();
	await fleet.call(revokeDevice, { id });
	const successor = await fleet.assay.enrollDevice();
	expect(await beat(successor.key, { hardware_uuid: hardwareUuid })).toBe(200);

	const again = await fleet.call(reissueEnrollmentToken, { id });
	expect(again.device).toMatchObject({ status: "PENDING", revoked_at: null });
	const { key } = await exchange(again.enrollment_token);
	expect(await beat(key, { hardware_uuid: hardwareUuid })).toBe(400);
	await fleet.call(revokeDevice, { id: successor.id });
	expect(await beat(key, { hardware_uuid: hardwareUuid })).toBe(200);
	expect(await see(id)).toMatchObject({ status: "ACTIVE", conflicts: [] });
});

test("deleting a device removes its history, reports, tokens and links too", async () => {
	const { id, key } = await fleet.assay.activateDevice();
	await fleet.call(reissueEnrollmentToken, { id });
	const report = { results: [postureResult()] };
	await fleet.assay.post("postures", report, { key });
	const { owner } = fleet.assay.database;
	await owner.query(
		"insert into record_links values ($1, $2, repeat('z', 32), 'device', 'risk')",
		[organization_id, id],
	);
	expect(await fleet.call(deleteDevice, { id })).toEqual({
		deleted_device_id: id,
	});
	const { rows } = await owner.query(
		`select
			(select count(*)::int from devices where id = $1)
			+ (select count(*)::int from posture_spans where device_id = $1)
			+ (select count(*)::int from posture_reports where device_id = $1)
			+ (select count(*)::int from enrollment_tokens where device_id = $1)
			+ (select count(*)::int from record_links where first_id = $1) as left_over`,
		[id],
	);
	expect(rows).toEqual([{ left_over: 0 }]);
	expect(await beat(key)).toBe(401);
	await expect(fleet.call(getDevice, { id })).rejects.toMatchObject({
		code: "not_found",
	});
	expect((await fleet.audited(id)).at(-1)).toMatchObject({
		operation: "deleteDevice",
		record_name: "laptop",
	});
});

test.each(
	deviceOperations.filter(({ tenant }) => tenant !== "organization_id"),
)("$name finds neither a device of another organization nor one that does not exist", async (operation: AnyOperation) => {
	const other = await createOrganization(fleet.assay.database.pool, "Other");
	const [theirs = ""] = await fleet.seed(["theirs"], other);
	for (const id of [theirs, makeId(organization_id, "device")]) {
		const report = makeId(organization_id, "device_posture_report");
		const input = {
			[operation.tenant ?? ""]: id,
			...("report_id" in operation.input.shape && { report_id: report }),
			...("is_mine" in operation.input.shape && { is_mine: true }),
		};
		await expect(fleet.call(operation, input as never)).rejects.toMatchObject({
			code: "not_found",
		});
	}
});

test.each(
	deviceOperations.filter(({ access }) => access !== "read"),
)("$name is forbidden to a role that is too low", async (operation: AnyOperation) => {
	const [id = ""] = await fleet.seed(["kept"]);
	const input = operation.tenant === "id" ? { id } : { organization_id };
	const roles =
		operation.access === "admin" ? ["viewer", "member"] : ["viewer"];
	for (const role of roles as ("viewer" | "member")[]) {
		await expect(
			fleet.call(operation, input as never, { role }),
		).rejects.toMatchObject({ code: "forbidden" });
	}
	expect(await see(id)).toMatchObject({ name: "kept", status: "ACTIVE" });
});

test("a where clause without the organization still deletes no report of another organization", async () => {
	const other = await createOrganization(fleet.assay.database.pool, "Other");
	const { id, key } = await fleet.assay.activateDevice();
	await fleet.assay.post("postures", { results: [postureResult()] }, { key });
	const { rowCount } = await transaction(
		fleet.assay.database.pool,
		{ organizationId: other },
		(client) =>
			client.query("delete from posture_reports where device_id = $1", [id]),
	);
	expect(rowCount).toBe(0);
});

test("a device shows whether its enrollment token is open, expired, revoked or used, never the token", async () => {
	const tokenOf = async (id: string) =>
		(await fleet.call(getDevice, { id }, { role: "viewer" })).enrollment_token;
	const added = await fleet.call(addDevice, { organization_id });
	const { id } = added.device;
	expect(await tokenOf(id)).toEqual({
		id: added.enrollment_token_id,
		state: "OPEN",
		expires_at: added.enrollment_token_expires_at,
		created_at: expect.stringMatching(/Z$/),
		created_by: "Ada",
	});

	await fleet.assay.database.owner.query(
		"update enrollment_tokens set expires_at = now() where id = $1",
		[added.enrollment_token_id],
	);
	expect(await tokenOf(id)).toMatchObject({ state: "EXPIRED" });

	const again = await fleet.call(reissueEnrollmentToken, { id });
	expect(await tokenOf(id)).toMatchObject({
		id: again.enrollment_token_id,
		state: "OPEN",
	});
	await exchange(again.enrollment_token);
	expect(await tokenOf(id)).toBeNull();

	await fleet.call(reissueEnrollmentToken, { id });
	await fleet.call(revokeDevice, { id });
	expect(await tokenOf(id)).toMatchObject({ state: "REVOKED" });
});
