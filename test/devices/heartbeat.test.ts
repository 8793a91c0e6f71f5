import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { findDevice } from "../../src/devices/device-postures.ts";
import { DEFAULT_THRESHOLDS } from "../../src/devices/thresholds.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import {
	heartbeatBody,
	readError,
	shareService,
	type TestService,
} from "../support/service.ts";

let assay: TestService;
beforeAll(async () => {
	assay = await shareService();
});
afterAll(() => assay.close());

/** Returns the device's row, and the conflicts that administrators see. */
async function see(id: string, organizationId = assay.organizationId) {
	const { rows } = await assay.database.owner.query<{
		last_seen_at: Date | null;
		[column: string]: unknown;
	}>(
		`select status, hardware_uuid, serial_number, hostname, platform, os_version,
			agent_version, last_seen_at
		from devices where id = $1`,
		[id],
	);
	const found = await withTenant(
		assay.database.pool,
		organizationId,
		(client) => findDevice(client, organizationId, id),
	);
	const conflicts = found?.conflicts;
	const [row] = rows;
	if (!row) throw new Error(`no device ${id}`);
	return { ...row, conflicts };
}

async function beat(key: string, body: unknown): Promise<Response> {
	return assay.post("heartbeat", body, { key });
}

const REQUIRED = [
	"hardware_uuid",
	"hostname",
	"platform",
	"os_version",
	"agent_version",
] as const;

describe("a field that is required", () => {
	const wrong: [string, unknown][] = [
		["missing", undefined],
		["null", null],
		["empty", ""],
		["a number", 7],
		["a boolean", true],
		["an object", {}],
		["an array", ["LINUX"]],
	];
	const cases = REQUIRED.flatMap((field) =>
		wrong.map(([name, value]) => [field, name, value] as const),
	);
	test.each(
		cases,
	)("%s: %s is answered with 400, and the error names the field", async (field, _, value) => {
		const { id, key } = await assay.enrollDevice();
		const body = heartbeatBody({ [field]: value });
		expect(await readError(await beat(key, body))).toEqual({
			status: 400,
			error: "bad_request",
			message: expect.stringContaining(field) as string,
		});
		expect(await see(id)).toMatchObject({
			status: "PENDING",
			hardware_uuid: null,
			hostname: null,
			last_seen_at: null,
		});
	});

	test("the error names every invalid field", async () => {
		const { key } = await assay.enrollDevice();
		const { message } = await readError(await beat(key, {}));
		for (const field of REQUIRED) expect(message).toContain(field);
	});

	test("a wrong value from an ACTIVE device is answered with 400 too, and nothing is stored", async () => {
		const { id, key } = await assay.activateDevice();
		const before = await see(id);
		const refused = await beat(
			key,
			heartbeatBody({ hostname: "other", agent_version: "" }),
		);
		expect(refused.status).toBe(400);
		expect(await see(id)).toEqual(before);
	});
});

describe("platform", () => {
	test.each([
		"DARWIN",
		"LINUX",
		"FREEBSD",
		"WINDOWS",
	])("%s is accepted", async (platform) => {
		const { id, key } = await assay.enrollDevice();
		expect((await beat(key, heartbeatBody({ platform }))).status).toBe(200);
		expect(await see(id)).toMatchObject({ platform });
	});

	test.each([
		"linux",
		"LINUX ",
		"ANDROID",
		"toString",
		"0",
	])("%j is answered with 400, and the error names the field", async (platform) => {
		const { key } = await assay.enrollDevice();
		const answer = await beat(key, heartbeatBody({ platform }));
		expect(await readError(answer)).toMatchObject({
			status: 400,
			message: expect.stringContaining("platform") as string,
		});
	});
});

describe("serial_number", () => {
	test.each([
		["absent", undefined, null],
		["null", null, null],
		["text", "C02", "C02"],
	])("%s is accepted", async (_, serial_number, stored) => {
		const { id, key } = await assay.enrollDevice();
		const body = heartbeatBody({ serial_number });
		expect((await beat(key, body)).status).toBe(200);
		expect(await see(id)).toMatchObject({ serial_number: stored });
	});

	test.each([
		[7],
		[true],
		[{}],
		[["C02"]],
	])("%j is answered with 400, and the error names the field", async (serial_number) => {
		const { key } = await assay.enrollDevice();
		const answer = await beat(key, heartbeatBody({ serial_number }));
		expect(await readError(answer)).toMatchObject({
			status: 400,
			message: expect.stringContaining("serial_number") as string,
		});
	});
});

describe("the answer", () => {
	test("has the device's id, the intervals in whole seconds and the time in UTC", async () => {
		const { id, key } = await assay.enrollDevice();
		const before = Math.floor(Date.now() / 1000) * 1000;
		const answer = await beat(key, heartbeatBody());
		const after = Date.now();
		expect(answer.status).toBe(200);
		expect(answer.headers.get("content-type")).toMatch(/^application\/json/);
		const body = (await answer.json()) as { server_time: string };
		expect(body).toEqual({
			device_id: id,
			heartbeat_interval_seconds: 300,
			posture_interval_seconds: 3600,
			policy: DEFAULT_THRESHOLDS,
			server_time: expect.stringMatching(
				/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
			) as string,
		});
		const time = Date.parse(body.server_time);
		expect(time).toBeGreaterThanOrEqual(before);
		expect(time).toBeLessThanOrEqual(after);
	});

	test("has the current intervals of the device's organization", async () => {
		const { database } = assay;
		const organization = await createOrganization(database.pool, "Slow");
		const device = await assay.activateDevice(organization);
		const body = heartbeatBody({ hardware_uuid: device.hardwareUuid });
		await database.owner.query(
			"update organizations set heartbeat_interval_seconds = 60, posture_interval_seconds = 7200 where id = $1",
			[organization],
		);
		expect(await (await beat(device.key, body)).json()).toMatchObject({
			heartbeat_interval_seconds: 60,
			posture_interval_seconds: 7200,
		});
		const other = await assay.activateDevice();
		expect(await (await beat(other.key, heartbeatBody())).json()).toMatchObject(
			{
				heartbeat_interval_seconds: 300,
				posture_interval_seconds: 3600,
			},
		);
	});
});

describe("the first heartbeat", () => {
	test("makes a PENDING device ACTIVE and stores what it reports", async () => {
		const { id, key } = await assay.enrollDevice();
		const facts = heartbeatBody({ hostname: "anna", platform: "WINDOWS" });
		expect((await beat(key, facts)).status).toBe(200);
		expect(await see(id)).toMatchObject({
			...facts,
			status: "ACTIVE",
			last_seen_at: expect.any(Date) as Date,
			conflicts: [],
		});
	});

	test("with the hardware of an active device is answered with 400; the device stays PENDING and the conflict is visible", async () => {
		const holder = await assay.activateDevice();
		const { id, key } = await assay.enrollDevice();
		const body = heartbeatBody({ hardware_uuid: holder.hardwareUuid });
		for (const _ of [1, 2]) {
			expect(await readError(await beat(key, body))).toMatchObject({
				status: 400,
				error: "bad_request",
			});
			expect(await see(id)).toMatchObject({
				status: "PENDING",
				hardware_uuid: null,
				conflicts: ["DUPLICATE_HARDWARE"],
			});
		}
		expect(await see(holder.id)).toMatchObject({
			status: "ACTIVE",
			hostname: "laptop",
		});
		const results = { results: [] };
		expect((await assay.post("postures", results, { key })).status).toBe(401);
		// With hardware of its own, the device becomes ACTIVE and the conflict is over.
		expect((await beat(key, heartbeatBody())).status).toBe(200);
		expect(await see(id)).toMatchObject({ status: "ACTIVE", conflicts: [] });
	});

	test("with the hardware of another organization's device is accepted", async () => {
		const holder = await assay.activateDevice();
		const other = await createOrganization(assay.database.pool, "Other");
		const { id, key } = await assay.enrollDevice(other);
		const body = heartbeatBody({ hardware_uuid: holder.hardwareUuid });
		expect((await beat(key, body)).status).toBe(200);
		expect(await see(id, other)).toMatchObject({
			status: "ACTIVE",
			conflicts: [],
		});
	});

	test("with the hardware of a revoked device is accepted", async () => {
		const gone = await assay.activateDevice();
		await assay.post("unenroll", "", { key: gone.key });
		const { id, key } = await assay.enrollDevice();
		const body = heartbeatBody({ hardware_uuid: gone.hardwareUuid });
		expect((await beat(key, body)).status).toBe(200);
		expect(await see(id)).toMatchObject({ status: "ACTIVE", conflicts: [] });
	});
});

describe("later heartbeats", () => {
	test("update the host name, the versions, the serial number and when the device was last seen", async () => {
		const { id, key, hardwareUuid } = await assay.activateDevice();
		const first = await see(id);
		const changed = {
			hardware_uuid: hardwareUuid,
			hostname: "renamed",
			os_version: "Debian 13",
			agent_version: "1.1.0",
			serial_number: "NEW",
		};
		expect((await beat(key, heartbeatBody(changed))).status).toBe(200);
		const second = await see(id);
		expect(second).toMatchObject({
			...changed,
			status: "ACTIVE",
			conflicts: [],
		});
		expect(Number(second.last_seen_at)).toBeGreaterThan(
			Number(first.last_seen_at),
		);
		const { serial_number: _, ...without } = heartbeatBody(changed);
		expect((await beat(key, without)).status).toBe(200);
		expect(await see(id)).toMatchObject({ serial_number: null });
	});

	test.each([
		["hardware_uuid", "another"],
		["platform", "FREEBSD"],
	])("with another %s are answered with 200, not stored, and shown as a possible clone", async (field, value) => {
		const { id, key, hardwareUuid } = await assay.activateDevice();
		const facts = heartbeatBody({ hardware_uuid: hardwareUuid });
		const changed = { ...facts, [field]: value, hostname: "clone" };
		for (const _ of [1, 2]) {
			const answer = await beat(key, changed);
			expect(answer.status).toBe(200);
			expect(await answer.json()).toMatchObject({ device_id: id });
		}
		expect(await see(id)).toMatchObject({
			status: "ACTIVE",
			hardware_uuid: hardwareUuid,
			platform: "LINUX",
			hostname: "clone",
			conflicts: ["POSSIBLE_CLONE"],
		});
		const { rows } = await assay.database.owner.query(
			"select * from device_conflicts where device_id = $1",
			[id],
		);
		expect(rows).toMatchObject([
			{ kind: "POSSIBLE_CLONE", [field]: value, occurrences: "2" },
		]);
	});

	test("with the hardware of another active device are shown as a possible clone too, and do not change the other device", async () => {
		const holder = await assay.activateDevice();
		const { id, key, hardwareUuid } = await assay.activateDevice();
		const body = heartbeatBody({ hardware_uuid: holder.hardwareUuid });
		expect((await beat(key, body)).status).toBe(200);
		expect(await see(id)).toMatchObject({
			hardware_uuid: hardwareUuid,
			conflicts: ["POSSIBLE_CLONE"],
		});
		expect(await see(holder.id)).toMatchObject({
			hardware_uuid: holder.hardwareUuid,
			conflicts: [],
		});
	});
});

describe("text that PostgreSQL cannot hold", () => {
	test("U+0000 and lone surrogates are stored as U+FFFD, also on a conflict and by later heartbeats", async () => {
		const { id, key } = await assay.enrollDevice();
		// The body is written as JSON text, so that the escapes arrive as they are.
		const raw = (host: string, hardware: string) =>
			`{"hardware_uuid":"${hardware}","hostname":"${host}","platform":"LINUX","os_version":"\\u0000","agent_version":"\\uDFFF","serial_number":"\\ud800x"}`;
		const host = "a\\u0000b\\ud83dc\\uDE00d\\ud83d\\ude00e\\\\u0000f";
		const expected = "a\ufffdb\ufffdc\ufffdd\u{1f600}e\\u0000f";
		for (const [hardware, conflicts] of [
			["hw\\u0000", []],
			["hw\\u0000", []],
			["other\\ud800", ["POSSIBLE_CLONE"]],
		] as const) {
			expect((await beat(key, raw(host, hardware))).status).toBe(200);
			expect(await see(id)).toMatchObject({
				hardware_uuid: "hw\ufffd",
				hostname: expected,
				os_version: "\ufffd",
				agent_version: "\ufffd",
				serial_number: "\ufffdx",
				conflicts,
			});
		}
		const second = await assay.enrollDevice();
		const refused = await beat(second.key, raw(host, "hw\\u0000"));
		expect(refused.status).toBe(400);
	});

	test.each([
		"NULL",
		"{}",
		'"',
		"\\",
		"a,b",
		"'; drop table devices; --",
		" ",
	])("%j is text like any other", async (hostname) => {
		const { id, key } = await assay.activateDevice();
		expect((await beat(key, heartbeatBody({ hostname }))).status).toBe(200);
		expect(await see(id)).toMatchObject({ hostname });
	});
});
