import { afterAll, beforeAll, expect, test } from "vitest";
import { addEnrollmentKey } from "../../src/devices/enrollment-key-operations.ts";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { makeId } from "../../src/id.ts";
import {
	type AgentSocket,
	expectError,
	KEYED,
	startAgentSocket,
} from "../support/agent-socket.ts";
import { callAs, makeUser } from "../support/people.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";

let api: AgentSocket;
beforeAll(async () => {
	api = await startAgentSocket();
});
afterAll(() => api.close());

/**
 * Returns the bytes that probo-agent sends. Go's HTTP client chooses the order of the headers. The
 * body of `unenroll` is empty.
 */
function goRequest(route: string, body: object | undefined, key?: string) {
	const text = body === undefined ? "" : JSON.stringify(body);
	return [
		`POST /api/agent/v1/${route} HTTP/1.1`,
		"Host: localhost",
		"User-Agent: probo-agent/1.2.3",
		`Content-Length: ${Buffer.byteLength(text)}`,
		"Accept: application/json",
		...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
		"Content-Type: application/json",
		"Accept-Encoding: gzip",
		"",
		text,
	].join("\r\n");
}

async function makeEnrollmentKey(): Promise<string> {
	const { database, organizationId: organization_id } = api.assay;
	const admin = await makeUser(database, {
		organizationId: organization_id,
		role: "admin",
	});
	const { enrollment_key: secret } = await callAs(
		database,
		admin,
		addEnrollmentKey,
		{ organization_id, name: "Laptops", max_devices: 1 },
	);
	return secret;
}

test.each([
	["a token", "asy_enr_", async () => (await api.assay.makeToken()).token],
	["an enrollment key", "asy_enk_", makeEnrollmentKey],
])("probo-agent enrolls with %s and goes through its life on one connection", async (_, prefix, makeSecret) => {
	const secret = await makeSecret();
	expect(secret.startsWith(prefix)).toBe(true);
	const connection = api.open();
	const post = (route: string, body?: object, key?: string) =>
		connection.send(goRequest(route, body, key)).response();

	const enrolled = await post("enroll", { token: secret });
	expect(enrolled.status).toBe(200);
	const { api_key: key } = JSON.parse(enrolled.body);
	expect(key).toMatch(/^\S+$/);

	const agent_version = "1.2.3";
	// Go writes times of the local zone, with up to nine digits of a second.
	const now = new Date(Date.now() + 2 * 3_600_000).toISOString();
	const report = (correlation_id: string) => ({
		agent_version,
		results: CHECK_KEYS.map((check_key) => ({
			check_key,
			status: "PASS",
			evidence: { tool: "probo" },
			observed_at: now.replace("Z", "875022+02:00"),
			correlation_id,
		})),
	});
	expectError(await post("postures", report(""), key), 401, "unauthorized");

	const { hardware_uuid, hostname, platform, os_version } = heartbeatBody();
	const beat = await post(
		"heartbeat",
		{ hardware_uuid, hostname, platform, os_version, agent_version },
		key,
	);
	expect(beat.status).toBe(200);
	const answer = JSON.parse(beat.body);
	// Go decodes these into integers and a time, and fails on any other form.
	expect(answer.heartbeat_interval_seconds).toSatisfy(Number.isInteger);
	expect(answer.posture_interval_seconds).toSatisfy(Number.isInteger);
	expect(answer.server_time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

	// The agent makes the id of a report itself, from the tenant in the id of its device.
	const reportId = makeId(answer.device_id, "device_posture_report");
	const sent = await post("postures", report(reportId), key);
	expect([sent.status, sent.body]).toEqual([204, ""]);
	const { rows } = await api.assay.database.owner.query(
		"select d.status, d.agent_version from devices d where d.id = $1",
		[answer.device_id],
	);
	expect(rows).toEqual([{ status: "ACTIVE", agent_version }]);
	const gone = await post("unenroll", undefined, key);
	expect([gone.status, gone.body]).toEqual([204, ""]);
	expectError(
		await post("heartbeat", heartbeatBody(), key),
		401,
		"unauthorized",
	);
	// The token works once, and this key was made for one device.
	expectError(await post("enroll", { token: secret }), 401, "unauthorized");
});

test("an error of the service itself is answered with 500 and never with 401, and the key works again afterwards", async () => {
	const { owner } = api.assay.database;
	const { key, hardwareUuid } = await api.assay.activateDevice();
	const { token } = await api.assay.makeToken();
	const facts = heartbeatBody({ hardware_uuid: hardwareUuid });
	const bodies = {
		heartbeat: facts,
		postures: { results: [postureResult()] },
		unenroll: undefined,
	};
	await owner.query("alter table devices rename to gone");
	try {
		for (const route of KEYED) {
			const request = goRequest(route, bodies[route], key);
			expectError(
				await api.send(request).response(),
				500,
				"internal_server_error",
			);
		}
		const enroll = await api.send(goRequest("enroll", { token })).response();
		expectError(enroll, 500, "internal_server_error");
	} finally {
		await owner.query("alter table gone rename to devices");
	}
	const beat = await api.send(goRequest("heartbeat", facts, key)).response();
	expect(beat.status).toBe(200);
	const enroll = await api.send(goRequest("enroll", { token })).response();
	expect(enroll.status).toBe(200);
});
