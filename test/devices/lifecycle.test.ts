import { afterAll, beforeAll, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { findDevice } from "../../src/devices/device-postures.ts";
import { DEFAULT_THRESHOLDS } from "../../src/devices/thresholds.ts";
import {
	heartbeatBody,
	postureResult,
	shareService,
	type TestService,
} from "../support/service.ts";

let assay: TestService;
beforeAll(async () => {
	assay = await shareService();
});
afterAll(() => assay.close());

async function seeDevice(id: string) {
	const { database, organizationId } = assay;
	const device = await withTenant(database.pool, organizationId, (client) =>
		findDevice(client, organizationId, id),
	);
	return { device, postures: device?.postures };
}

test("a device goes through its life: enrolling, heartbeats, reports, a clone, enrolling on another machine, unenrolling, and being rejected", async () => {
	const { id, token } = await assay.makeToken();
	expect((await seeDevice(id)).device).toMatchObject({
		status: "PENDING",
		freshness: "NEVER",
	});

	const enrolled = await assay.post("enroll", { token });
	expect(enrolled.status).toBe(200);
	const { api_key: key } = (await enrolled.json()) as { api_key: string };
	expect((await assay.post("enroll", { token })).status).toBe(401);

	const early = { results: [postureResult()] };
	expect((await assay.post("postures", early, { key })).status).toBe(401);

	const facts = heartbeatBody({ hostname: "anna-laptop" });
	const beat = await assay.post("heartbeat", facts, { key });
	expect(beat.status).toBe(200);
	expect(await beat.json()).toEqual({
		device_id: id,
		heartbeat_interval_seconds: 300,
		posture_interval_seconds: 3600,
		policy: DEFAULT_THRESHOLDS,
		server_time: expect.stringMatching(
			/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
		) as string,
	});
	expect((await seeDevice(id)).device).toMatchObject({
		status: "ACTIVE",
		freshness: "ONLINE",
		hostname: "anna-laptop",
		hardware_uuid: facts.hardware_uuid,
	});

	const report = {
		results: [
			postureResult({ observed_at: "2026-03-01T08:00:00Z" }),
			postureResult({
				check_key: "SCREEN_LOCK",
				status: "FAIL",
				observed_at: "2026-03-01T08:00:00Z",
				evidence: { idle_seconds: 3600 },
			}),
		],
	};
	expect((await assay.post("postures", report, { key })).status).toBe(204);
	expect((await seeDevice(id)).postures).toMatchObject([
		{ check_key: "DISK_ENCRYPTION", status: "PASS" },
		{
			check_key: "SCREEN_LOCK",
			status: "FAIL",
			since: "2026-03-01T08:00:00.000Z",
		},
	]);

	const clone = heartbeatBody({ hostname: "clone" });
	expect((await assay.post("heartbeat", clone, { key })).status).toBe(200);
	expect((await seeDevice(id)).device).toMatchObject({
		hardware_uuid: facts.hardware_uuid,
		conflicts: ["POSSIBLE_CLONE"],
	});

	const second = await assay.enrollDevice();
	const refused = await assay.post("heartbeat", facts, { key: second.key });
	expect(refused.status).toBe(400);
	expect((await seeDevice(second.id)).device).toMatchObject({
		status: "PENDING",
		conflicts: ["DUPLICATE_HARDWARE"],
	});

	expect((await assay.post("unenroll", "", { key })).status).toBe(204);
	expect((await seeDevice(id)).device).toMatchObject({ status: "REVOKED" });
	for (const [route, body] of [
		["heartbeat", facts],
		["postures", report],
		["unenroll", ""],
	] as const) {
		expect((await assay.post(route, body, { key })).status).toBe(401);
	}

	const again = await assay.post("heartbeat", facts, { key: second.key });
	expect(again.status).toBe(200);
	expect((await seeDevice(second.id)).device).toMatchObject({
		status: "ACTIVE",
		conflicts: [],
	});
});
