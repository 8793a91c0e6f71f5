import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { heartbeatBody, readError } from "../support/service.ts";
import type { Json } from "../support/tools.ts";
import { type KeyEnrollments, shareKeyEnrollments } from "./key-enrollments.ts";

let assay: KeyEnrollments;
beforeAll(async () => {
	assay = await shareKeyEnrollments();
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

	test("is found with spaces around the address, and in other letters", async () => {
		const ken = await addPerson({ primary_email_address: "ken@example.com" });
		const { secret } = await assay.addKey();
		const owner_email = "\t Ken@EXAMPLE.com \r\n";
		const key = await assay.enroll(secret, { owner_email });
		expect((await assay.activate(key)).claimed_owner_id).toBe(ken);
	});

	test("is asked about until the device is revoked", async () => {
		await addPerson({ primary_email_address: "joan@example.com" });
		const { secret } = await assay.addKey();
		const { id } = await assay.activate(
			await assay.enroll(secret, { owner_email: "joan@example.com" }),
		);
		const isListed = async (has_claimed_owner: boolean) => {
			const listed = await assay.devicesOf({ has_claimed_owner });
			const { total } = await assay.use("countRecords", {
				organization_id: assay.organizationId,
				kind: "device",
				filter: { has_claimed_owner },
			});
			expect(total).toBe(listed.length);
			return listed.some((device) => device.id === id);
		};
		expect([await isListed(true), await isListed(false)]).toEqual([
			true,
			false,
		]);
		await assay.use("revokeDevice", { id });
		expect([await isListed(true), await isListed(false)]).toEqual([
			false,
			true,
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
		const eventsOf = async () => {
			const { rows } = await assay.database.owner.query<{ type: string }>(
				"select type from events where record_id = $1 order by id",
				[waiting?.id],
			);
			return rows.map(({ type }) => type);
		};
		expect(await eventsOf()).toEqual(["device.enrolled"]);
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
		expect(await eventsOf()).toEqual(["device.enrolled"]);
		expect((await assay.post("heartbeat", body, { key })).status).toBe(200);
		expect(await eventsOf()).toEqual(["device.enrolled", "device.activated"]);
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

	test.each([
		["reissueEnrollmentToken", (id: string) => ({ id })],
		["reissueEnrollmentTokens", (id: string) => fleet([id])],
	])("is not approved by a new token: %s", async (tool, inputFor) => {
		const { id: keyId, secret } = await assay.addKey({
			requires_approval: true,
		});
		const body = heartbeatBody();
		const beat = async (key: string) =>
			(await assay.post("heartbeat", body, { key })).status;
		const reissue = async (id: string): Promise<string> => {
			const made = await assay.use(tool, inputFor(id));
			return (made.tokens?.[0] ?? made).enrollment_token;
		};
		const present = await assay.enroll(secret);
		const [{ id } = { id: "" }] = await assay.devicesOf({
			enrollment_key_id: keyId,
		});
		const waits = async () => {
			const { device } = await assay.use("getDevice", { id });
			return [device.status, device.awaits_approval];
		};
		const token = await reissue(id);
		expect(await beat(present)).toBe(400);
		const next = await assay.enroll(token);
		expect(await beat(present)).toBe(401);
		expect(await beat(next)).toBe(400);
		expect(await waits()).toEqual(["PENDING", true]);
		// A rejected device that comes back waits again.
		await assay.use("rejectDevices", fleet([id]));
		const last = await assay.enroll(await reissue(id));
		expect(await beat(last)).toBe(400);
		expect(await waits()).toEqual(["PENDING", true]);
		await assay.use("approveDevices", fleet([id]));
		expect(await beat(last)).toBe(200);
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
