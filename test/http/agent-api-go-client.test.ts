import { afterAll, beforeAll, expect, test } from "vitest";
import {
	type AgentSocket,
	expectError,
	KEYED,
	startAgentSocket,
} from "../support/agent-socket.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";

let api: AgentSocket;
beforeAll(async () => {
	api = await startAgentSocket();
});
afterAll(() => api.close());

/**
 * Returns the bytes that Go's HTTP client sends, as an agent in the field does: the order and case
 * of its headers, and a body with the line feed that Go's encoder of JSON writes.
 */
function goRequest(route: string, body: object | undefined, key?: string) {
	const text = body === undefined ? "" : `${JSON.stringify(body)}\n`;
	return [
		`POST /api/agent/v1/${route} HTTP/1.1`,
		"Host: localhost",
		"User-Agent: Go-http-client/1.1",
		`Content-Length: ${Buffer.byteLength(text)}`,
		...(key === undefined ? [] : [`Authorization: Bearer ${key}`]),
		"Content-Type: application/json",
		"Accept-Encoding: gzip",
		"",
		text,
	].join("\r\n");
}

test("an agent with Go's HTTP client goes through its life on one connection", async () => {
	const { id, token } = await api.assay.makeToken();
	const connection = api.open();
	const post = (route: string, body?: object, key?: string) =>
		connection.send(goRequest(route, body, key)).response();

	const enrolled = await post("enroll", { token });
	expect(enrolled.status).toBe(200);
	const { api_key: key } = JSON.parse(enrolled.body);
	expect(key).toMatch(/^\S+$/);

	const report = { results: [postureResult()] };
	expectError(await post("postures", report, key), 401, "unauthorized");

	const beat = await post("heartbeat", heartbeatBody(), key);
	expect(beat.status).toBe(200);
	const answer = JSON.parse(beat.body);
	expect(answer.device_id).toBe(id);
	// Go decodes these into integers and a time, and fails on any other form.
	expect(answer.heartbeat_interval_seconds).toSatisfy(Number.isInteger);
	expect(answer.posture_interval_seconds).toSatisfy(Number.isInteger);
	expect(answer.server_time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);

	const sent = await post("postures", report, key);
	expect([sent.status, sent.body]).toEqual([204, ""]);
	const gone = await post("unenroll", undefined, key);
	expect([gone.status, gone.body]).toEqual([204, ""]);
	expectError(
		await post("heartbeat", heartbeatBody(), key),
		401,
		"unauthorized",
	);
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
