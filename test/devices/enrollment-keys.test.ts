import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeSecret } from "../../src/tokens/secret.ts";
import {
	heartbeatBody,
	postureResult,
	untilTaken,
} from "../support/service.ts";
import { type KeyEnrollments, shareKeyEnrollments } from "./key-enrollments.ts";

let assay: KeyEnrollments;
beforeAll(async () => {
	assay = await shareKeyEnrollments();
});
afterAll(() => assay.close());

describe("an enrollment key", () => {
	test("makes a new device with each use, through the unchanged wire contract", async () => {
		const { id, secret } = await assay.addKey();
		expect(secret).toMatch(/^asy_enk_[0-9A-Za-z]{46}$/);
		const first = await assay.enroll(secret);
		const second = await assay.enroll(secret);
		expect(first).toMatch(/^asy_dev_/);
		expect(second).not.toBe(first);
		const report = { results: [postureResult()] };
		expect((await assay.post("postures", report, { key: first })).status).toBe(
			401,
		);
		const device = await assay.activate(first);
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
		expect((await assay.activate(second)).id).not.toBe(device.id);
		expect(await assay.findKey(id)).toMatchObject({ used: 2, waiting: 0 });
		expect(await assay.devicesOf({ enrollment_key_id: id })).toHaveLength(2);
		const { audit_entries: entries } = await assay.use("listAuditLog", {
			organization_id: assay.organizationId,
			filter: { operation: "enrollDevice", record_id: device.id },
			detail: "full",
		});
		expect(entries).toMatchObject([
			{ actor_kind: "AGENT", actor_id: device.id, address: "127.0.0.1" },
		]);
	});

	test("finds the PENDING devices of a flood, and one call revokes them and leaves the others", async () => {
		const flooded = await assay.addKey();
		const other = await assay.addKey();
		const working = await assay.enroll(flooded.secret);
		await assay.activate(working);
		const key = await assay.enroll(flooded.secret);
		await assay.enroll(flooded.secret);
		await assay.enroll(other.secret);
		await assay.use("revokeEnrollmentKey", { id: flooded.id });
		const filter = { enrollment_key_id: flooded.id, status: "PENDING" };
		const pending = await assay.devicesOf(filter);
		expect(pending).toHaveLength(2);
		await assay.use("revokeDevices", {
			organization_id: assay.organizationId,
			device_ids: pending.map(({ id }) => id),
		});
		const beat = await assay.post("heartbeat", heartbeatBody(), { key });
		expect(beat.status).toBe(401);
		expect(await assay.devicesOf(filter)).toEqual([]);
		const states = async (of: string) =>
			(await assay.devicesOf({ enrollment_key_id: of })).map(
				({ status }) => status,
			);
		expect((await states(flooded.id)).toSorted()).toEqual([
			...["ACTIVE", "REVOKED", "REVOKED"],
		]);
		expect(await states(other.id)).toEqual(["PENDING"]);
	});

	test("is stored only as its SHA-256, and its secret is in no list and no audit entry", async () => {
		const { id, secret } = await assay.addKey({ name: "Secret" });
		expect(JSON.stringify(await assay.findKey(id))).not.toContain(secret);
		const { rows } = await assay.database.owner.query(
			`select encode(k.secret_hash, 'hex') = encode(sha256(convert_to($2, 'UTF8')), 'hex') as is_hash,
				(to_jsonb(k)::text || coalesce((select string_agg(e.changes::text, '') from audit_entries e), ''))
					like '%' || $2 || '%' as is_told
			from enrollment_keys k where k.id = $1`,
			[id, secret],
		);
		expect(rows).toEqual([{ is_hash: true, is_told: false }]);
	});

	test("gives nothing but the right to enroll", async () => {
		const { secret: key } = await assay.addKey();
		const bodies = {
			heartbeat: heartbeatBody(),
			postures: { results: [postureResult()] },
			unenroll: "",
		};
		for (const [route, body] of Object.entries(bodies)) {
			expect((await assay.post(route, body, { key })).status).toBe(401);
		}
		const input = { organization_id: assay.organizationId };
		for (const tool of ["listDevices", "listEnrollmentKeys"]) {
			expect((await assay.call(tool, input, key)).status).toBe(401);
		}
		const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
		expect((await assay.rpc(list, { token: key })).status).toBe(401);
		await assay.enroll(key);
	});

	test("that is unknown, mistyped, used up, expired or revoked gets the same 401 as a token", async () => {
		const usedUp = await assay.addKey({ max_devices: 1 });
		await assay.enroll(usedUp.secret);
		const expired = await assay.addKey();
		await assay.database.owner.query(
			"update enrollment_keys set expires_at = now() where id = $1",
			[expired.id],
		);
		const revoked = await assay.addKey();
		const { key } = await assay.use("revokeEnrollmentKey", { id: revoked.id });
		expect(key.state).toBe("REVOKED");
		const good = await assay.addKey();
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
		expect((await assay.findKey(usedUp.id)).state).toBe("USED_UP");
		expect((await assay.findKey(expired.id)).state).toBe("EXPIRED");
	});

	test("enrolls exactly as many devices as it may, however many come at once", async () => {
		const { id, secret } = await assay.addKey({ max_devices: 40 });
		const answers = await Promise.all(
			Array.from({ length: 60 }, () =>
				untilTaken(() => assay.post("enroll", { token: secret })),
			),
		);
		const statuses = answers.map(({ status }) => status);
		expect(statuses.filter((status) => status === 200)).toHaveLength(40);
		expect(statuses.filter((status) => status === 401)).toHaveLength(20);
		expect((await assay.findKey(id)).used).toBe(40);
		const { rows } = await assay.database.owner.query(
			"select count(*)::int as made from devices where enrollment_key_id = $1",
			[id],
		);
		expect(rows).toEqual([{ made: 40 }]);
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
		const { id } = await assay.addKey();
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

test("agent_older_than finds the devices whose agent has an earlier version, in the order of numbers", async () => {
	const { secret } = await assay.addKey({ name: "Versions" });
	for (const agent_version of ["9.9.9", "9.10.0", "9.11.0", "probo 1.0.0"]) {
		const key = await assay.enroll(secret);
		await assay.activate(key, { agent_version, hostname: "by-version" });
	}
	const found = async (filter: Record<string, unknown>) =>
		(await assay.devicesOf(filter))
			.filter(({ hostname }) => hostname === "by-version")
			.map(({ agent_version }) => agent_version)
			.sort();
	expect(await found({ agent_older_than: "9.11.0" })).toEqual([
		"9.10.0",
		"9.9.9",
	]);
	expect(await found({ agent_older_than: "9.10.0" })).toEqual(["9.9.9"]);
	expect(await found({ agent_version: "9.11.0" })).toEqual(["9.11.0"]);
});
