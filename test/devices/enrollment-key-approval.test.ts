import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { heartbeatBody, postureResult, readError } from "../support/service.ts";
import type { Json } from "../support/tools.ts";
import { type KeyEnrollments, startKeyEnrollments } from "./key-enrollments.ts";

let assay: KeyEnrollments;
beforeAll(async () => {
	assay = await startKeyEnrollments();
});
afterAll(() => assay.close());

describe("an owner whom the installer names", () => {
	const addPerson = async (fields: Json): Promise<string> =>
		(
			await assay.use("addPeople", {
				organization_id: assay.organizationId,
				full_name: "Ada Lovelace",
				kind: "EMPLOYEE",
				...fields,
			})
		).people.id;

	test("is a claim about an existing person until somebody confirms it", async () => {
		const ada = await addPerson({ primary_email_address: "Ada@Example.com" });
		const { secret } = await assay.addKey();
		const key = await assay.enroll(secret, { owner_email: "ada@example.COM" });
		const device = await assay.activate(key);
		expect(device).toMatchObject({
			owner_id: null,
			claimed_owner_id: ada,
			claimed_owner_name: "Ada Lovelace",
		});
		const claimed = await assay.devicesOf({ has_claimed_owner: true });
		expect(claimed.map(({ id }) => id)).toEqual([device.id]);
		expect(await assay.devicesOf({ owner_id: ada })).toEqual([]);
		const confirmed = await assay.use("confirmDeviceOwners", {
			organization_id: assay.organizationId,
			device_ids: [device.id],
		});
		expect(confirmed).toEqual({
			changed_device_ids: [device.id],
			unchanged_device_ids: [],
		});
		expect(await assay.devicesOf({ owner_id: ada })).toMatchObject([
			{ id: device.id, owner_id: ada, claimed_owner_id: null },
		]);
	});

	test("is turned down by naming nobody", async () => {
		await addPerson({ primary_email_address: "grace@example.com" });
		const { secret } = await assay.addKey();
		const { id } = await assay.activate(
			await assay.enroll(secret, { owner_email: "grace@example.com" }),
		);
		const { device } = await assay.use("updateDevice", { id, owner_id: null });
		expect(device).toMatchObject({ owner_id: null, claimed_owner_id: null });
	});

	test.each([
		["nobody", "nobody@example.com"],
		["two people", "twins@example.com"],
		["no address", "not an address"],
		["control characters", "a\u0000b\ud800@example.com"],
		["a very long text", "x".repeat(5000)],
		["a number", 7],
		["null", null],
	])("who is %s gets the same answer and makes no claim", async (_, owner_email) => {
		if (owner_email === "twins@example.com") {
			await addPerson({ primary_email_address: owner_email });
			await addPerson({
				primary_email_address: "twin@example.com",
				additional_email_addresses: [owner_email],
			});
		}
		const { secret } = await assay.addKey();
		const key = await assay.enroll(secret, { owner_email });
		expect((await assay.activate(key)).claimed_owner_id).toBeNull();
	});

	test("who is a person of another organization makes no claim", async () => {
		await assay.use(
			"addPeople",
			{
				organization_id: assay.otherOrganizationId,
				full_name: "Elsewhere",
				kind: "EMPLOYEE",
				primary_email_address: "elsewhere@example.com",
			},
			assay.stranger.token,
		);
		const { secret } = await assay.addKey();
		const key = await assay.enroll(secret, {
			owner_email: "elsewhere@example.com",
		});
		expect((await assay.activate(key)).claimed_owner_id).toBeNull();
	});

	test("may be deleted, which ends the claim", async () => {
		const id = await addPerson({ primary_email_address: "gone@example.com" });
		const { secret } = await assay.addKey();
		const key = await assay.enroll(secret, { owner_email: "gone@example.com" });
		await assay.use("deletePeople", { id });
		expect((await assay.activate(key)).claimed_owner_id).toBeNull();
	});
});

describe("a device whose key requires approval", () => {
	const fleet = (ids: string[]) => ({
		organization_id: assay.organizationId,
		device_ids: ids,
	});

	test("stays PENDING with 400 until an administrator approves it, and shows what it is", async () => {
		const { id, secret } = await assay.addKey({ requires_approval: true });
		const key = await assay.enroll(secret);
		const body = heartbeatBody({ hostname: "new-laptop" });
		for (let n = 0; n < 2; n++) {
			const refused = await readError(
				await assay.post("heartbeat", body, { key }),
			);
			expect(refused).toMatchObject({
				status: 400,
				error: "bad_request",
				message: expect.stringContaining("approves") as string,
			});
		}
		expect((await assay.findKey(id)).waiting).toBe(1);
		const [waiting] = await assay.devicesOf({ awaits_approval: true });
		expect(waiting).toMatchObject({
			hostname: "new-laptop",
			status: "PENDING",
			freshness: "NEVER",
			hardware_uuid: null,
			awaits_approval: true,
		});
		expect(
			await assay.use("approveDevices", fleet([waiting.id])),
		).toMatchObject({ changed_device_ids: [waiting.id] });
		expect((await assay.findKey(id)).waiting).toBe(0);
		expect((await assay.post("heartbeat", body, { key })).status).toBe(200);
		expect(
			await assay.use("approveDevices", fleet([waiting.id])),
		).toMatchObject({ unchanged_device_ids: [waiting.id] });
	});

	test("is revoked when it is rejected, and many are decided in one call", async () => {
		const { id, secret } = await assay.addKey({ requires_approval: true });
		const keys = [
			await assay.enroll(secret),
			await assay.enroll(secret),
			await assay.enroll(secret),
		];
		const ids = (await assay.devicesOf({ enrollment_key_id: id })).map(
			(device) => device.id as string,
		);
		expect(await assay.use("rejectDevices", fleet(ids))).toEqual({
			changed_device_ids: expect.arrayContaining(ids) as string[],
			unchanged_device_ids: [],
		});
		for (const key of keys) {
			const answer = await assay.post("heartbeat", heartbeatBody(), { key });
			expect(answer.status).toBe(401);
		}
		const { audit_entries: entries } = await assay.use("listAuditLog", {
			organization_id: assay.organizationId,
			filter: { operation: "rejectDevices" },
		});
		expect(entries).toHaveLength(3);
	});

	test("of another organization cannot be named", async () => {
		const { device_id } = (await (
			await assay.post("heartbeat", heartbeatBody(), {
				key: (await assay.enrollDevice()).key,
			})
		).json()) as { device_id: string };
		const { status, body } = await assay.call(
			"approveDevices",
			{ organization_id: assay.otherOrganizationId, device_ids: [device_id] },
			assay.stranger.token,
		);
		expect(status).toBe(400);
		expect(body.message).toContain("device_ids[0]");
	});
});

describe("the same laptop, set up again", () => {
	test("is replaced by its new record, which keeps the earlier one as its predecessor", async () => {
		const { secret } = await assay.addKey({ requires_approval: true });
		const old = await assay.activateDevice();
		const report = { results: [postureResult()] };
		await assay.post("postures", report, { key: old.key });
		await assay.use("updateDevice", { id: old.id, name: "Ada's laptop" });
		const key = await assay.enroll(secret);
		const body = heartbeatBody({ hardware_uuid: old.hardwareUuid });
		expect((await assay.post("heartbeat", body, { key })).status).toBe(400);
		const [fresh] = await assay.devicesOf({ conflict: "DUPLICATE_HARDWARE" });
		const unrelated = await assay.activateDevice();
		expect(
			await assay.use("replaceDevices", {
				organization_id: assay.organizationId,
				device_ids: [fresh.id, unrelated.id],
			}),
		).toEqual({
			replaced: [{ device_id: fresh.id, predecessor_id: old.id }],
			unchanged_device_ids: [unrelated.id],
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
			await use("replaceDevices", { organization_id, device_ids: [id] });
			return assay.activate(key, facts);
		};
		expect(await setUpAgain({})).toMatchObject({
			...{ name: "Old", owner_id: before, claimed_owner_id: claimed },
		});
		expect(await setUpAgain({ name: "New", owner_id: claimed })).toMatchObject({
			...{ name: "New", owner_id: claimed, claimed_owner_id: null },
		});
	});

	test("may have come twice: the newest record replaces the earlier one, and the other keeps its conflict", async () => {
		const { secret } = await assay.addKey();
		const old = await assay.activateDevice();
		const body = heartbeatBody({ hardware_uuid: old.hardwareUuid });
		const first = await assay.enroll(secret);
		await assay.post("heartbeat", body, { key: first });
		const second = await assay.enroll(secret);
		await assay.post("heartbeat", body, { key: second });
		const both = await assay.devicesOf({ conflict: "DUPLICATE_HARDWARE" });
		expect(both).toHaveLength(2);
		const { replaced } = await assay.use("replaceDevices", {
			organization_id: assay.organizationId,
			device_ids: both.map(({ id }) => id),
		});
		expect(replaced).toHaveLength(1);
		const device = await assay.activate(second, {
			hardware_uuid: old.hardwareUuid,
		});
		expect(replaced[0].device_id).toBe(device.id);
		expect((await assay.post("heartbeat", body, { key: first })).status).toBe(
			400,
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
