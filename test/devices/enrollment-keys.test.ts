import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeSecret } from "../../src/tokens/secret.ts";
import { heartbeatBody, postureResult, readError } from "../support/service.ts";
import { type Json, startTools, type TestTools } from "../support/tools.ts";

let assay: TestTools;
beforeAll(async () => {
	assay = await startTools();
});
afterAll(() => assay.close());

async function addKey(fields: Json = {}) {
	const { key, enrollment_key: secret } = await assay.use("addEnrollmentKey", {
		organization_id: assay.organizationId,
		name: "Laptops",
		max_devices: 20,
		...fields,
	});
	return { id: key.id as string, secret: secret as string };
}

const findKey = async (id: string): Promise<Json> => {
	const { enrollment_keys: keys } = await assay.use("listEnrollmentKeys", {
		organization_id: assay.organizationId,
		size: 100,
	});
	return keys.find((key: Json) => key.id === id);
};

/** Enrolls a device as probo-agent does, with nothing but the token. Returns its key. */
async function enroll(secret: string, more: Json = {}): Promise<string> {
	const answer = await assay.post("enroll", { token: secret, ...more });
	expect(answer.status).toBe(200);
	const body = (await answer.json()) as { api_key: string };
	expect(Object.keys(body)).toEqual(["api_key"]);
	return body.api_key;
}

/** Sends a heartbeat that must succeed. Returns the device as tools show it. */
async function activate(key: string, facts: Json = {}): Promise<Json> {
	const answer = await assay.post("heartbeat", heartbeatBody(facts), { key });
	expect(answer.status).toBe(200);
	const { device_id: id } = (await answer.json()) as { device_id: string };
	return (await assay.use("getDevice", { id })).device;
}

const devicesOf = async (filter: Json): Promise<Json[]> =>
	(
		await assay.use("listDevices", {
			organization_id: assay.organizationId,
			filter,
			size: 100,
		})
	).devices;

describe("an enrollment key", () => {
	test("makes a new device with each use, through the unchanged wire contract", async () => {
		const { id, secret } = await addKey();
		expect(secret).toMatch(/^asy_enk_[0-9A-Za-z]{46}$/);
		const first = await enroll(secret);
		const second = await enroll(secret);
		expect(first).toMatch(/^asy_dev_/);
		expect(second).not.toBe(first);
		const report = { results: [postureResult()] };
		expect((await assay.post("postures", report, { key: first })).status).toBe(
			401,
		);
		const device = await activate(first);
		expect(device).toMatchObject({
			status: "ACTIVE",
			enrollment_key_id: id,
			enrollment_key_name: "Laptops",
			owner_id: null,
			claimed_owner_id: null,
			awaits_approval: false,
		});
		expect((await assay.post("postures", report, { key: first })).status).toBe(
			204,
		);
		expect((await assay.post("unenroll", "", { key: first })).status).toBe(204);
		expect((await activate(second)).id).not.toBe(device.id);
		expect(await findKey(id)).toMatchObject({ used: 2, waiting: 0 });
		expect(await devicesOf({ enrollment_key_id: id })).toHaveLength(2);
		const { audit_entries: entries } = await assay.use("listAuditLog", {
			organization_id: assay.organizationId,
			filter: { operation: "enrollDevice", record_id: device.id },
			detail: "full",
		});
		expect(entries).toMatchObject([
			{ actor_kind: "AGENT", actor_id: device.id, address: "127.0.0.1" },
		]);
	});

	test("is stored only as its SHA-256, and its secret is in no list and no audit entry", async () => {
		const { id, secret } = await addKey({ name: "Secret" });
		expect(JSON.stringify(await findKey(id))).not.toContain(secret);
		const { rows } = await assay.database.owner.query(
			`select encode(k.secret_hash, 'hex') = encode(sha256(convert_to($2, 'UTF8')), 'hex') as is_hash,
				(to_jsonb(k)::text || coalesce((select string_agg(e.changes::text, '') from audit_entries e), ''))
					like '%' || $2 || '%' as is_told
			from enrollment_keys k where k.id = $1`,
			[id, secret],
		);
		expect(rows).toEqual([{ is_hash: true, is_told: false }]);
	});

	test("that is unknown, mistyped, used up, expired or revoked gets the same 401 as a token", async () => {
		const usedUp = await addKey({ max_devices: 1 });
		await enroll(usedUp.secret);
		const expired = await addKey();
		await assay.database.owner.query(
			"update enrollment_keys set expires_at = now() where id = $1",
			[expired.id],
		);
		const revoked = await addKey();
		const { key } = await assay.use("revokeEnrollmentKey", { id: revoked.id });
		expect(key.state).toBe("REVOKED");
		const good = await addKey();
		const answers = new Set<string>();
		for (const token of [
			makeSecret("enk"),
			makeSecret("enr"),
			`${good.secret.slice(0, -1)}!`,
			good.secret.slice(0, -1),
			` ${good.secret}`,
			usedUp.secret,
			expired.secret,
			revoked.secret,
		]) {
			const answer = await assay.post("enroll", { token });
			expect(answer.status).toBe(401);
			answers.add(await answer.text());
		}
		expect(answers.size).toBe(1);
		expect((await findKey(usedUp.id)).state).toBe("USED_UP");
		expect((await findKey(expired.id)).state).toBe("EXPIRED");
	});

	test("enrolls exactly as many devices as it may, however many come at once", async () => {
		const { id, secret } = await addKey({ max_devices: 40 });
		const answers = await Promise.all(
			Array.from({ length: 60 }, () => assay.post("enroll", { token: secret })),
		);
		const statuses = answers.map(({ status }) => status);
		expect(statuses.filter((status) => status === 200)).toHaveLength(40);
		expect(statuses.filter((status) => status === 401)).toHaveLength(20);
		expect((await findKey(id)).used).toBe(40);
		const { rows } = await assay.database.owner.query(
			"select count(*)::int as made from devices where enrollment_key_id = $1",
			[id],
		);
		expect(rows).toEqual([{ made: 40 }]);
	});

	test("needs far fewer changes of its row than devices that come together", async () => {
		const { id, secret } = await addKey({ max_devices: 200 });
		await assay.database.owner.query(`
			create table uses (n integer);
			create function note_use() returns trigger language plpgsql security definer as
				$$ begin insert into uses values (new.used - old.used); return null; end $$;
			create trigger note_use after update on enrollment_keys
				for each row execute function note_use()`);
		await Promise.all(Array.from({ length: 200 }, () => enroll(secret)));
		const { rows } = await assay.database.owner.query<{ n: number }>(
			"select n from uses",
		);
		await assay.database.owner.query(
			"drop trigger note_use on enrollment_keys; drop table uses",
		);
		expect(rows.reduce((sum, { n }) => sum + n, 0)).toBe(200);
		expect(rows.length).toBeLessThan(100);
		expect((await findKey(id)).state).toBe("USED_UP");
	});

	test("under a flood gets 503 with Retry-After, and another organization's device enrolls meanwhile", async () => {
		const { secret, id } = await addKey({ max_devices: 100_000 });
		const { token } = await assay.makeToken(assay.otherOrganizationId);
		const lock = await assay.database.owner.connect();
		let answers: Response[];
		try {
			// As long as somebody holds the key's row, the devices have to wait.
			await lock.query("begin");
			await lock.query("select from enrollment_keys where id = $1 for update", [
				id,
			]);
			const flood = Promise.all(
				Array.from({ length: 900 }, () =>
					assay.post("enroll", { token: secret }),
				),
			);
			expect((await assay.post("enroll", { token })).status).toBe(200);
			answers = await flood;
		} finally {
			await lock.query("rollback");
			lock.release();
		}
		expect(new Set(answers.map(({ status }) => status))).toEqual(
			new Set([503]),
		);
		expect(answers[0]?.headers.get("retry-after")).toBe("15");
		const texts = await Promise.all(answers.map((answer) => answer.text()));
		expect(texts.join()).toContain("too many devices use this enrollment key");
		await enroll(secret);
	});

	test("runs out visibly before it does", async () => {
		const open = await addKey({ max_devices: 20 });
		expect((await findKey(open.id)).state).toBe("OPEN");
		const { id } = await addKey({ expires_in_days: 7 });
		expect((await findKey(id)).state).toBe("RUNNING_OUT");
		const few = await addKey({ max_devices: 10 });
		for (let n = 0; n < 9; n++) await enroll(few.secret);
		expect((await findKey(few.id)).state).toBe("RUNNING_OUT");
	});

	test.each([
		["max_devices", { max_devices: undefined }],
		["max_devices", { max_devices: 0 }],
		["max_devices", { max_devices: 100_001 }],
		["expires_in_days", { expires_in_days: 366 }],
		["expires_in_days", { expires_in_days: null }],
		["name", { name: " " }],
	])("is not made with a wrong %s", async (field, wrong) => {
		const { status, body } = await assay.call("addEnrollmentKey", {
			organization_id: assay.organizationId,
			name: "Laptops",
			max_devices: 20,
			...wrong,
		});
		expect(status).toBe(400);
		expect(body.message).toContain(field);
	});

	test("belongs to administrators: 403 for a member, 404 for another organization", async () => {
		const { id } = await addKey();
		const { member, stranger } = assay;
		const list = { organization_id: assay.organizationId };
		for (const [tool, input] of [
			["listEnrollmentKeys", list],
			["addEnrollmentKey", { ...list, name: "x", max_devices: 1 }],
			["revokeEnrollmentKey", { id }],
		] as const) {
			expect((await assay.call(tool, input, member.token)).status).toBe(403);
		}
		expect(
			(await assay.call("revokeEnrollmentKey", { id }, stranger.token)).status,
		).toBe(404);
	});
});

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

	test("is a claim about an existing person until an administrator confirms it", async () => {
		const ada = await addPerson({ primary_email_address: "Ada@Example.com" });
		const { secret } = await addKey();
		const key = await enroll(secret, { owner_email: "ada@example.COM" });
		const device = await activate(key);
		expect(device).toMatchObject({
			owner_id: null,
			claimed_owner_id: ada,
			claimed_owner_name: "Ada Lovelace",
		});
		const claimed = await devicesOf({ has_claimed_owner: true });
		expect(claimed.map(({ id }) => id)).toEqual([device.id]);
		expect(await devicesOf({ owner_id: ada })).toEqual([]);
		const confirmed = await assay.use("confirmDeviceOwners", {
			organization_id: assay.organizationId,
			device_ids: [device.id],
		});
		expect(confirmed).toEqual({
			changed_device_ids: [device.id],
			unchanged_device_ids: [],
		});
		expect(await devicesOf({ owner_id: ada })).toMatchObject([
			{ id: device.id, owner_id: ada, claimed_owner_id: null },
		]);
	});

	test("is turned down by naming nobody", async () => {
		await addPerson({ primary_email_address: "grace@example.com" });
		const { secret } = await addKey();
		const { id } = await activate(
			await enroll(secret, { owner_email: "grace@example.com" }),
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
		const { secret } = await addKey();
		const key = await enroll(secret, { owner_email });
		expect((await activate(key)).claimed_owner_id).toBeNull();
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
		const { secret } = await addKey();
		const key = await enroll(secret, { owner_email: "elsewhere@example.com" });
		expect((await activate(key)).claimed_owner_id).toBeNull();
	});

	test("may be deleted, which ends the claim", async () => {
		const id = await addPerson({ primary_email_address: "gone@example.com" });
		const { secret } = await addKey();
		const key = await enroll(secret, { owner_email: "gone@example.com" });
		await assay.use("deletePeople", { id });
		expect((await activate(key)).claimed_owner_id).toBeNull();
	});
});

describe("a device whose key requires approval", () => {
	const fleet = (ids: string[]) => ({
		organization_id: assay.organizationId,
		device_ids: ids,
	});

	test("stays PENDING with 400 until an administrator approves it, and shows what it is", async () => {
		const { id, secret } = await addKey({ requires_approval: true });
		const key = await enroll(secret);
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
		expect((await findKey(id)).waiting).toBe(1);
		const [waiting] = await devicesOf({ awaits_approval: true });
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
		expect((await findKey(id)).waiting).toBe(0);
		expect((await assay.post("heartbeat", body, { key })).status).toBe(200);
		expect(
			await assay.use("approveDevices", fleet([waiting.id])),
		).toMatchObject({ unchanged_device_ids: [waiting.id] });
	});

	test("is revoked when it is rejected, and many are decided in one call", async () => {
		const { id, secret } = await addKey({ requires_approval: true });
		const keys = [
			await enroll(secret),
			await enroll(secret),
			await enroll(secret),
		];
		const ids = (await devicesOf({ enrollment_key_id: id })).map(
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
		const { secret } = await addKey({ requires_approval: true });
		const old = await assay.activateDevice();
		const report = { results: [postureResult()] };
		await assay.post("postures", report, { key: old.key });
		await assay.use("updateDevice", { id: old.id, name: "Ada's laptop" });
		const key = await enroll(secret);
		const body = heartbeatBody({ hardware_uuid: old.hardwareUuid });
		expect((await assay.post("heartbeat", body, { key })).status).toBe(400);
		const [fresh] = await devicesOf({ conflict: "DUPLICATE_HARDWARE" });
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
		const device = await activate(key, { hardware_uuid: old.hardwareUuid });
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

	test("may have come twice: the newest record replaces the earlier one, and the other keeps its conflict", async () => {
		const { secret } = await addKey();
		const old = await assay.activateDevice();
		const body = heartbeatBody({ hardware_uuid: old.hardwareUuid });
		const first = await enroll(secret);
		await assay.post("heartbeat", body, { key: first });
		const second = await enroll(secret);
		await assay.post("heartbeat", body, { key: second });
		const both = await devicesOf({ conflict: "DUPLICATE_HARDWARE" });
		expect(both).toHaveLength(2);
		const { replaced } = await assay.use("replaceDevices", {
			organization_id: assay.organizationId,
			device_ids: both.map(({ id }) => id),
		});
		expect(replaced).toHaveLength(1);
		const device = await activate(second, {
			hardware_uuid: old.hardwareUuid,
		});
		expect(replaced[0].device_id).toBe(device.id);
		expect((await assay.post("heartbeat", body, { key: first })).status).toBe(
			400,
		);
	});
});
