import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeSecret } from "../../src/tokens/secret.ts";
import {
	type AgentSocket,
	expectError,
	head,
	ROUTES,
	shareAgentSocket,
} from "../support/agent-socket.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";

let api: AgentSocket;
beforeAll(async () => {
	api = await shareAgentSocket();
});
afterAll(() => api.close());

describe("a method other than POST is answered with 405, with any credential and any announced body", () => {
	test.each([
		"GET",
		"HEAD",
		"PUT",
		"DELETE",
		"PATCH",
		"OPTIONS",
		"TRACE",
		"PROPFIND",
		"QUERY",
		"M-SEARCH",
		"CONNECT",
		"FOO",
		"post",
	])("%s", async (method) => {
		for (const route of ROUTES) {
			for (const headers of [
				{},
				api.withKey(),
				{ authorization: "Basic QQ==" },
				{ ...api.withKey(), "content-length": 100 },
				{ "transfer-encoding": "chunked" },
				{ "content-length": 10_000_000 },
			]) {
				const answer = await api
					.send(head(route, headers, method))
					.response(method);
				expect(answer).toMatchObject({
					status: 405,
					body: "",
					headers: { allow: "POST" },
				});
				expect(answer.headers["x-request-id"]).toMatch(/^[\w.:-]{8,128}$/);
				expect(answer.headers["cache-control"]).toBe("no-store");
			}
		}
	});

	test("in a request with a query or an absolute target", async () => {
		const path = "/api/agent/v1/enroll";
		for (const target of [`${path}?a=b`, `http://localhost${path}`]) {
			for (const method of ["GET", "FOO"]) {
				const connection = api.send(head(target, {}, method));
				const answer = await connection.response();
				expect(answer).toMatchObject({ status: 405, body: "" });
			}
		}
	});
});

describe("the head of a request", () => {
	test("may contain Expect: 100-continue, which is answered before the request", async () => {
		const body = JSON.stringify(heartbeatBody());
		const connection = api.send(
			head("heartbeat", {
				...api.withKey(),
				"content-length": body.length,
				expect: "100-continue",
			}),
		);
		expect((await connection.response()).status).toBe(100);
		expect((await connection.send(body).response()).status).toBe(200);
	});

	test.each([
		"200-maybe",
		"",
		"100-continue, x",
	])("may contain Expect: %j", async (expectation) => {
		const headers = {
			...api.withKey(),
			"content-length": 14,
			expect: expectation,
		};
		const connection = api.send(head("postures", headers), '{"results":[]}');
		let answer = await connection.response();
		if (answer.status === 100) answer = await connection.response();
		expect(answer.status).toBe(204);
	});

	test("may have a query or an absolute target, and headers in any case", async () => {
		const path = "/api/agent/v1/postures";
		for (const target of [
			`${path}?`,
			`${path}?a=b&c=%zz?`,
			`http://elsewhere.example${path}`,
			`http://elsewhere.example:81${path}?a=b`,
		]) {
			const headers = {
				AUTHORIZATION: `bearer   ${api.device.key}`,
				"CONTENT-LENGTH": 14,
			};
			const connection = api.send(head(target, headers), '{"results":[]}');
			expect((await connection.response()).status, target).toBe(204);
		}
	});

	test("may ask for an upgrade, which is ignored", async () => {
		const headers = {
			...api.withKey(),
			"content-length": 14,
			connection: "upgrade, http2-settings",
			upgrade: "h2c",
			"http2-settings": "AAMAAABkAAQCAAAAAAIAAAAA",
		};
		const connection = api.send(head("postures", headers), '{"results":[]}');
		expect((await connection.response()).status).toBe(204);
	});

	test("of unenroll needs no Content-Length, or may announce an empty chunked body", async () => {
		for (const [framing, body] of [
			[{}, ""],
			[{ "content-length": 0 }, ""],
			[{ "transfer-encoding": "chunked" }, "0\r\n\r\n"],
		] as const) {
			const { key } = await api.assay.activateDevice();
			const headers = {
				...api.withKey(key),
				"content-type": "application/json",
				...framing,
			};
			const connection = api.send(head("unenroll", headers), body);
			expect(await connection.response()).toMatchObject({
				status: 204,
				body: "",
			});
		}
	});

	test("a 204 response has no Content-Length and no Content-Type", async () => {
		const { headers } = await api
			.send(api.request("postures", { results: [] }))
			.response();
		expect(headers["content-length"]).toBeUndefined();
		expect(headers["content-type"]).toBeUndefined();
	});

	test("is answered with its own response even if an oversized request follows immediately", async () => {
		const beat = heartbeatBody({ hardware_uuid: api.device.hardwareUuid });
		// The body is one byte longer than what the server discards before it closes the connection.
		const length = (1 << 20) + 1;
		const texts = [
			api.request("heartbeat", beat),
			head("postures", { ...api.withKey(), "content-length": length }),
			Buffer.alloc(length, " "),
		];
		const holder = await api.assay.database.owner.connect();
		const sendWhileLocked = async () => {
			await holder.query("begin");
			await holder.query("select from devices where id = $1 for update", [
				api.device.id,
			]);
			const connection = api.send(...texts);
			// The wait is long enough for the large request to arrive before the first one is answered.
			await sleep(200);
			await holder.query("rollback");
			return { connection, first: (await connection.response()).status };
		};
		let sent = await sendWhileLocked();
		// On a busy machine, the lock may last longer than the service waits for it.
		while (sent.first === 503) sent = await sendWhileLocked();
		holder.release();
		expect(sent.first).toBe(200);
		expect((await sent.connection.response()).status).toBe(400);
		expect(await sent.connection.closed()).toBe("");
	});

	test.each([
		["nonsense", "nonsense\r\n\r\n"],
		["without Host", "POST /api/agent/v1/enroll HTTP/1.1\r\n\r\n"],
		["too large", head("enroll", { "x-large": "x".repeat(100_000) })],
		["with a space in a name", "POST /x HTTP/1.1\r\na b: c\r\n\r\n"],
		[
			"with two lengths",
			head("enroll", { "content-length": "1\r\ncontent-length: 2" }),
		],
	])("that is %s is answered with 400, which reveals nothing about the software", async (_, text) => {
		const answer = await api.send(text).response();
		expect(answer.body).not.toMatch(/HPE_|node|parse/i);
		expectError(answer, 400, "bad_request");
	});
});

describe("a connection", () => {
	test("stays open for many requests, one after the other, also after a 400", async () => {
		const connection = api.open();
		for (const [body, status] of [
			[heartbeatBody(), 200],
			[{}, 400],
			[heartbeatBody({ platform: "?" }), 400],
			["[", 400],
			[heartbeatBody(), 200],
		] as const) {
			const answer = await connection
				.send(api.request("heartbeat", body))
				.response();
			expect(answer.status).toBe(status);
			expect(answer.headers.connection).not.toBe("close");
		}
		const get = await connection.send(head("heartbeat", {}, "GET")).response();
		expect(get.status).toBe(405);
		const last = connection.send(api.request("postures", { results: [] }));
		expect((await last.response()).status).toBe(204);
	});

	test("is closed when the request asks for it", async () => {
		const headers = {
			...api.withKey(),
			"content-length": 2,
			connection: "close",
		};
		const connection = api.send(head("heartbeat", headers), "{}");
		expect((await connection.response()).status).toBe(400);
		expect(await connection.closed()).toBe("");
	});

	test("answers pipelined requests in order, with an invalid one at the end", async () => {
		const fresh = await api.assay.enrollDevice();
		const connection = api.send(
			api.request("heartbeat", heartbeatBody(), fresh.key),
			head("enroll", {}, "GET"),
			api.request("postures", { results: [] }),
			api.request("heartbeat", {}),
			head("postures", {}, "DELETE"),
			api.request("heartbeat", heartbeatBody()),
			api.request("heartbeat", heartbeatBody(), api.wrongKey()),
		);
		const statuses: number[] = [];
		for (let i = 0; i < 7; i++) {
			statuses.push((await connection.response()).status);
		}
		expect(statuses).toEqual([200, 405, 204, 400, 405, 200, 401]);
	});

	test.each([
		["nonsense", "nonsense\r\n\r\n"],
		["an unknown method", head("enroll", {}, "FOO")],
	])("gives a request its own answer even if %s follows it at once", async (_, next) => {
		const connection = api.send(
			api.request("heartbeat", heartbeatBody()) + next,
		);
		expect((await connection.response()).status).toBe(200);
	});

	test("that a client closes in the middle of a body does no harm", async () => {
		const before = await countReports();
		for (const leave of ["destroy", "resetAndDestroy"] as const) {
			for (const framing of [
				{ "content-length": 200 },
				{ "content-length": 10_000_000 },
				{ "transfer-encoding": "chunked" },
			]) {
				for (const key of [api.device.key, api.wrongKey(), makeSecret("dev")]) {
					const { socket } = api.send(
						head("postures", { ...api.withKey(key), ...framing }),
						'{"results":[',
					);
					await once(socket, "connect");
					await new Promise((resolve) => setTimeout(resolve, 5));
					socket[leave]();
				}
			}
		}
		expect(await countReports()).toBe(before);
		const answer = await api
			.send(api.request("postures", { results: [postureResult()] }))
			.response();
		expect(answer.status).toBe(204);
		expect(await countReports()).toBe(before + 1);
	});
});

async function countReports(): Promise<number> {
	const { rows } = await api.assay.database.owner.query<{ count: number }>(
		"select count(*)::int from posture_reports",
	);
	return rows[0]?.count as number;
}
