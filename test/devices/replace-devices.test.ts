import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { heartbeatBody, postureResult } from "../support/service.ts";
import type { Json } from "../support/tools.ts";
import { type KeyEnrollments, shareKeyEnrollments } from "./key-enrollments.ts";

let assay: KeyEnrollments;
beforeAll(async () => {
	assay = await shareKeyEnrollments();
});
afterAll(() => assay.close());

interface Waiting {
	id: string;
	key: string;
}

/** Starts with an active device, and enrolls others with its hardware, which stay PENDING. */
async function setUpAgain(count: number) {
	const old = await assay.activateDevice();
	const beat = async (key: string, hardware_uuid = old.hardwareUuid) =>
		(await assay.post("heartbeat", heartbeatBody({ hardware_uuid }), { key }))
			.status;
	const others: Waiting[] = [];
	for (let n = 0; n < count; n++) {
		const { id: enrollment_key_id, secret } = await assay.addKey();
		const key = await assay.enroll(secret);
		expect(await beat(key)).toBe(400);
		const [{ id }] = (await assay.devicesOf({ enrollment_key_id })) as [Json];
		others.push({ id, key });
	}
	return { old, others, beat };
}

const input = (...pairs: [device_id: string, predecessor_id: string][]) => ({
	organization_id: assay.organizationId,
	devices: pairs.map(([device_id, predecessor_id]) => ({
		device_id,
		predecessor_id,
	})),
});

const replace = (device_id: string, predecessor_id: string) =>
	assay.use("replaceDevices", input([device_id, predecessor_id]));

/** Returns the message of the refusal. */
async function refusal(...pairs: [string, string][]): Promise<string> {
	const { status, body } = await assay.call("replaceDevices", input(...pairs));
	expect(status).toBe(400);
	return body.message;
}

const statusOf = async (id: string) =>
	(await assay.use("getDevice", { id })).device.status;

describe("the same laptop, set up again", () => {
	test("is replaced by its new record, which keeps the earlier one as its predecessor", async () => {
		const { secret } = await assay.addKey();
		const old = await assay.activateDevice();
		const report = { results: [postureResult()] };
		await assay.post("postures", report, { key: old.key });
		await assay.use("updateDevice", { id: old.id, name: "Ada's laptop" });
		const key = await assay.enroll(secret);
		const body = heartbeatBody({ hardware_uuid: old.hardwareUuid });
		expect((await assay.post("heartbeat", body, { key })).status).toBe(400);
		const [fresh] = await assay.devicesOf({ conflict: "DUPLICATE_HARDWARE" });
		expect(fresh.duplicate_of).toMatchObject({
			...{ id: old.id, name: "Ada's laptop" },
		});
		expect(await replace(fresh.id, old.id)).toEqual({
			replaced: [{ device_id: fresh.id, predecessor_id: old.id }],
			unchanged_device_ids: [],
		});
		const oldHeartbeat = await assay.post("heartbeat", body, { key: old.key });
		expect(oldHeartbeat.status).toBe(401);
		const device = await assay.activate(key, {
			hardware_uuid: old.hardwareUuid,
		});
		expect(device).toMatchObject({
			id: fresh.id,
			status: "ACTIVE",
			name: "Ada's laptop",
			predecessor_id: old.id,
			conflicts: [],
		});
		const earlier = (await assay.use("getDevice", { id: old.id })).device;
		expect(earlier).toMatchObject({
			status: "REVOKED",
			successor_id: fresh.id,
			postures: [{ check_key: "DISK_ENCRYPTION", status: "PASS" }],
		});
	});

	test("takes over the owner whatever the installer claims, and keeps a name and an owner of its own", async () => {
		const { organizationId: organization_id, use } = assay;
		const addPerson = async (name: string): Promise<string> =>
			(
				await use("addPeople", {
					organization_id,
					full_name: name,
					kind: "EMPLOYEE",
					primary_email_address: `${name}@takeover.example`,
				})
			).people.id;
		const [before, claimed] = [await addPerson("bo"), await addPerson("cy")];
		const { secret } = await assay.addKey();
		const setUpAgain = async (own: Json) => {
			const old = await assay.activateDevice();
			const { id: old_id } = old;
			await use("updateDevice", { id: old_id, name: "Old", owner_id: before });
			const key = await assay.enroll(secret, {
				owner_email: "cy@takeover.example",
			});
			const facts = { hardware_uuid: old.hardwareUuid };
			await assay.post("heartbeat", heartbeatBody(facts), { key });
			const waiting = await assay.devicesOf({ conflict: "DUPLICATE_HARDWARE" });
			const { id } = waiting.find(
				(one: Json) => one.claimed_owner_id === claimed,
			);
			if (Object.keys(own).length > 0)
				await use("updateDevice", { id, ...own });
			await replace(id, old_id);
			return assay.activate(key, facts);
		};
		expect(await setUpAgain({})).toMatchObject({
			...{ name: "Old", owner_id: before, claimed_owner_id: claimed },
		});
		expect(await setUpAgain({ name: "New", owner_id: claimed })).toMatchObject({
			...{ name: "New", owner_id: claimed, claimed_owner_id: null },
		});
	});

	test("may have come twice: one call for both is refused, and the other one keeps its conflict", async () => {
		const { old, others, beat } = await setUpAgain(2);
		const [other, chosen] = others as [Waiting, Waiting];
		expect(await refusal([other.id, old.id], [chosen.id, old.id])).toContain(
			`devices[1].predecessor_id: ${old.id} occurs twice in this call`,
		);
		await replace(chosen.id, old.id);
		expect(await beat(chosen.key)).toBe(200);
		expect(await beat(other.key)).toBe(400);
	});

	test("is not replaced a second time when the call is repeated", async () => {
		const { old, others, beat } = await setUpAgain(2);
		const [other, chosen] = others as [Waiting, Waiting];
		await replace(chosen.id, old.id);
		for (let n = 0; n < 2; n++) {
			expect(await replace(chosen.id, old.id)).toEqual({
				...{ replaced: [], unchanged_device_ids: [chosen.id] },
			});
		}
		expect(await refusal([other.id, old.id])).toContain(chosen.id);
		expect(await statusOf(chosen.id)).toBe("PENDING");
		expect(await beat(chosen.key)).toBe(200);
		expect(await replace(chosen.id, old.id)).toMatchObject({ replaced: [] });
	});

	test("gives nothing to a device that reports the hardware of another record since", async () => {
		const { old, others, beat } = await setUpAgain(2);
		const [honest, evil] = others as [Waiting, Waiting];
		const chief = await assay.activateDevice();
		expect(await beat(evil.key, chief.hardwareUuid)).toBe(400);
		const unrelated = await assay.activateDevice();
		expect(await refusal([evil.id, old.id])).toContain(
			`devices[0]: ${evil.id} reports the hardware of ${chief.id}, not of ${old.id}`,
		);
		// The call is refused as a whole.
		expect(
			await refusal([honest.id, old.id], [unrelated.id, chief.id]),
		).toContain(
			`devices[1]: ${unrelated.id} is not PENDING with the hardware of ${chief.id}`,
		);
		for (const { id } of [old, chief]) {
			expect(await statusOf(id)).toBe("ACTIVE");
		}
	});

	test("waits for its approval first", async () => {
		const { secret, id: enrollment_key_id } = await assay.addKey({
			requires_approval: true,
		});
		const old = await assay.activateDevice();
		const key = await assay.enroll(secret);
		const body = heartbeatBody({ hardware_uuid: old.hardwareUuid });
		expect((await assay.post("heartbeat", body, { key })).status).toBe(400);
		const [{ id }] = (await assay.devicesOf({ enrollment_key_id })) as [Json];
		expect(await refusal([id, old.id])).toContain(
			`devices[0]: ${id} awaits approval: approve it first`,
		);
		expect(await assay.devicesOf({ enrollment_key_id })).toMatchObject([
			{ awaits_approval: true },
		]);
		expect(await statusOf(old.id)).toBe("ACTIVE");
		await assay.use("approveDevices", {
			...{ organization_id: assay.organizationId, device_ids: [id] },
		});
		await replace(id, old.id);
		expect((await assay.post("heartbeat", body, { key })).status).toBe(200);
	});

	test("keeps its place for the chosen record: another one with its hardware does not become active first", async () => {
		const { old, others, beat } = await setUpAgain(2);
		const [other, chosen] = others as [Waiting, Waiting];
		expect(await replace(chosen.id, old.id)).toMatchObject({
			replaced: [{ device_id: chosen.id, predecessor_id: old.id }],
		});
		const conflict = async () =>
			(await assay.use("getDevice", { id: other.id })).conflicts;
		expect(await conflict()).toMatchObject([{ other_device_id: chosen.id }]);
		expect(await beat(other.key)).toBe(400);
		expect(await conflict()).toMatchObject([{ other_device_id: chosen.id }]);
		expect(await beat(chosen.key)).toBe(200);
		expect(await beat(other.key)).toBe(400);
	});

	test.each([
		"revokeDevice",
		"deleteDevice",
	])("has its place for others again after %s of the chosen record", async (operation) => {
		const { old, others, beat } = await setUpAgain(2);
		const [other, chosen] = others as [Waiting, Waiting];
		await replace(chosen.id, old.id);
		expect(await beat(other.key)).toBe(400);
		await assay.use(operation, { id: chosen.id });
		expect(await beat(other.key)).toBe(200);
	});

	test("may get another record instead of the chosen one, which is then in between", async () => {
		const { old, others, beat } = await setUpAgain(2);
		const [other, chosen] = others as [Waiting, Waiting];
		await replace(chosen.id, old.id);
		expect(await replace(other.id, chosen.id)).toMatchObject({
			replaced: [{ device_id: other.id, predecessor_id: chosen.id }],
		});
		expect(await beat(chosen.key)).toBe(401);
		expect(await beat(other.key)).toBe(200);
		const { device } = await assay.use("getDevice", { id: chosen.id });
		expect(device).toMatchObject({
			...{ status: "REVOKED", predecessor_id: old.id, successor_id: other.id },
		});
	});

	test("keeps its predecessor when its record meets the hardware of another device", async () => {
		const { old, others, beat } = await setUpAgain(1);
		const [chosen] = others as [Waiting];
		await replace(chosen.id, old.id);
		const another = await assay.activateDevice();
		expect(await beat(chosen.key, another.hardwareUuid)).toBe(400);
		expect(await refusal([chosen.id, another.id])).toContain(
			`devices[0]: ${chosen.id} already shares its machine with the record ${old.id}`,
		);
		const { device } = await assay.use("getDevice", { id: old.id });
		expect(device.successor_id).toBe(chosen.id);
	});

	test("does not become the successor of its own successor", async () => {
		const { old, others } = await setUpAgain(1);
		const [chosen] = others as [Waiting];
		await replace(chosen.id, old.id);
		const { enrollment_token: token } = await assay.use(
			"reissueEnrollmentToken",
			{ id: old.id },
		);
		const body = heartbeatBody({ hardware_uuid: old.hardwareUuid });
		const key = await assay.enroll(token);
		expect((await assay.post("heartbeat", body, { key })).status).toBe(400);
		expect(await refusal([old.id, chosen.id])).toContain(
			`already shares its machine with the record ${chosen.id}`,
		);
	});

	test("is believed without an administrator only if the old device's key says so", async () => {
		const old = await assay.activateDevice();
		const body = heartbeatBody({ hardware_uuid: old.hardwareUuid });
		// A device that sends the same facts stays PENDING, whatever the secret and however often.
		const { secret } = await assay.addKey();
		const { token } = await assay.makeToken();
		const keys = [await assay.enroll(secret), await assay.enroll(token)];
		const beat = async (key = "") =>
			(await assay.post("heartbeat", body, { key })).status;
		for (const key of [...keys, ...keys]) expect(await beat(key)).toBe(400);
		expect(await beat(old.key)).toBe(200);
		const waiting = await assay.devicesOf({
			conflict: "DUPLICATE_HARDWARE",
			status: "PENDING",
		});
		expect(waiting.length).toBeGreaterThanOrEqual(2);

		const answer = await assay.post("unenroll", "", { key: old.key });
		expect(answer.status).toBe(204);
		expect(await beat(keys[0])).toBe(200);
		expect(await beat(keys[1])).toBe(400);
		const earlier = (await assay.use("getDevice", { id: old.id })).device;
		expect(earlier).toMatchObject({ status: "REVOKED", successor_id: null });
	});
});
