import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeSecret } from "../src/access/token.ts";
import { type DatabaseProxy, openDatabaseProxy } from "./database-proxy.ts";
import { RawConnection, type RawResponse } from "./raw-http.ts";
import {
	heartbeatBody,
	postureResult,
	startService,
	type TestDevice,
	type TestService,
} from "./service.ts";

let assay: TestService;
let proxy: DatabaseProxy;
let device: TestDevice;
beforeAll(async () => {
	assay = await startService(async (url) => {
		proxy = await openDatabaseProxy(url);
		return proxy.url;
	});
	device = await assay.activateDevice();
});
afterAll(async () => {
	await assay.close();
	await proxy.cut();
});

const ROUTES = ["enroll", "heartbeat", "postures", "unenroll"] as const;
const KEYED = ["heartbeat", "postures", "unenroll"] as const;

const open = () => new RawConnection(assay.service.url);

/** A request's head up to the empty line; headers that are undefined are left out. */
function head(
	route: string,
	headers: Record<string, string | number | undefined> = {},
	method = "POST",
): string {
	const target = route.includes("/") ? route : `/api/agent/v1/${route}`;
	const lines = Object.entries({ host: "localhost", ...headers })
		.filter(([, value]) => value !== undefined)
		.map(([name, value]) => `${name}: ${value}\r\n`);
	return `${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

const withKey = (key = device.key) => ({ authorization: `Bearer ${key}` });

function request(
	route: string,
	body: string | object,
	key = device.key,
): string {
	const text = typeof body === "string" ? body : JSON.stringify(body);
	const length = Buffer.byteLength(text);
	return head(route, { ...withKey(key), "content-length": length }) + text;
}

function wrongKey(): string {
	return device.key.slice(0, -1) + (device.key.endsWith("0") ? "1" : "0");
}

function expectError(answer: RawResponse, status: number, error: string): void {
	expect({ status: answer.status, ...JSON.parse(answer.body) }).toEqual({
		status,
		error,
		message: expect.any(String) as string,
	});
	expectCommonHeaders(answer);
}

function expectCommonHeaders({ headers }: RawResponse): void {
	expect(headers["x-request-id"]).toMatch(/^[\w.:-]{8,128}$/);
	expect(headers["cache-control"]).toBe("no-store");
	expect(headers.server).toBeUndefined();
	expect(headers["x-powered-by"]).toBeUndefined();
}

const OK = { heartbeat: 200, postures: 204 } as const;
describe("a method other than POST is 405, whoever asks and whatever is announced", () => {
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
				withKey(),
				{ authorization: "Basic QQ==" },
				{ ...withKey(), "content-length": 100 },
				{ "transfer-encoding": "chunked" },
				{ "content-length": 10_000_000 },
			]) {
				const answer = await open()
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

	test("also with a query, and with an absolute target", async () => {
		const path = "/api/agent/v1/enroll";
		for (const target of [`${path}?a=b`, `http://localhost${path}`]) {
			for (const method of ["GET", "FOO"]) {
				const connection = open().send(head(target, {}, method));
				const answer = await connection.response();
				expect(answer).toMatchObject({ status: 405, body: "" });
			}
		}
	});
});

describe("the body limit", () => {
	const chunked = (text: string, size: number) => {
		const chunks: string[] = [];
		for (let at = 0; at < text.length; at += size) {
			const chunk = text.slice(at, at + size);
			chunks.push(`${chunk.length.toString(16)}\r\n${chunk}\r\n`);
		}
		return `${chunks.join("")}0\r\n\r\n`;
	};
	/** A good body of exactly so many bytes. */
	const sized = (body: object, length: number) => {
		const text = JSON.stringify({ ...body, padding: "" });
		const padding = "x".repeat(length - text.length);
		return JSON.stringify({ ...body, padding });
	};
	const cases = [
		["enroll", 16_384],
		["heartbeat", 16_384],
		["postures", 1_048_576],
		["unenroll", 16_384],
	] as const;

	test.each(
		cases,
	)("of %s is %i bytes: exactly that passes, one more is 400 and the connection closes", async (route, limit) => {
		const bodies = {
			enroll: async () => ({ token: (await assay.makeToken()).token }),
			heartbeat: async () => heartbeatBody(),
			postures: async () => ({ results: [postureResult()] }),
			unenroll: async () => ({}),
		};
		for (const framing of ["length", "large chunks", "small chunks"]) {
			const { key } = await assay.activateDevice();
			const send = (text: string) => {
				if (framing === "length") return open().send(request(route, text, key));
				const headers = { ...withKey(key), "transfer-encoding": "chunked" };
				const size = framing === "large chunks" ? text.length : 1000;
				return open().send(head(route, headers), chunked(text, size));
			};
			const body = await bodies[route]();
			const over = send(sized(body, limit + 1));
			expectError(await over.response(), 400, "bad_request");
			expect(await over.closed()).toBe("");
			const exact = await send(sized(body, limit)).response();
			expect(exact.status, `${framing}: ${exact.body}`).toBe(
				route === "postures" || route === "unenroll" ? 204 : 200,
			);
		}
	});

	test("counts bytes, not characters", async () => {
		const body = JSON.stringify(heartbeatBody({ padding: "ü".repeat(8_192) }));
		expect(body.length).toBeLessThan(16_384);
		const answer = await open().send(request("heartbeat", body)).response();
		expectError(answer, 400, "bad_request");
	});

	test.each(
		cases,
	)("of %s: an announced length beyond it is answered before the body comes", async (route, limit) => {
		await Promise.all(
			[limit + 1, 1e15].map(async (length) => {
				const headers = { ...withKey(), "content-length": length };
				const connection = open().send(head(route, headers));
				expectError(await connection.response(), 400, "bad_request");
				expect(await connection.closed()).toBe("");
			}),
		);
	});

	test.each(
		cases,
	)("of %s: an endless chunked body is answered 400 and cut off after a bounded number of bytes", async (route, limit) => {
		const client = open();
		client.send(head(route, { ...withKey(), "transfer-encoding": "chunked" }));
		const chunk = `1000\r\n${"x".repeat(4096)}\r\n`;
		let sent = 0;
		let isOpen = true;
		client.socket.on("close", () => {
			isOpen = false;
		});
		const pump = (async () => {
			while (isOpen && sent < 64 << 20) {
				sent += 4096;
				const isFull = !client.socket.write(chunk);
				await new Promise((resolve) => {
					if (!isFull) setImmediate(resolve);
					else
						for (const event of ["drain", "close"])
							client.socket.once(event, resolve);
				});
			}
		})();
		expectError(await client.response(), 400, "bad_request");
		await client.closed();
		client.socket.destroy();
		await pump;
		// The limit, what is thrown away while saying goodbye, and the kernel's buffers.
		expect(sent).toBeLessThan(limit + (16 << 20));
	});
});

describe("a bad credential is answered before the body is sent", () => {
	test.each(KEYED)("on %s", async (route) => {
		const credentials = [
			undefined,
			"Bearer",
			"Basic QQ==",
			"Bearer nonsense",
			`Bearer ${wrongKey()}`,
		];
		const framings = [
			{ "content-length": 100 },
			{ "content-length": 10_000_000 },
			{ "transfer-encoding": "chunked" },
			{ "content-length": 100, expect: "100-continue" },
		];
		const check = async (
			headers: Record<string, string | number | undefined>,
		) => {
			const connection = open().send(head(route, headers));
			let answer = await connection.response();
			if (answer.status === 100) answer = await connection.response();
			expectError(answer, 401, "unauthorized");
			expect(await connection.closed()).toBe("");
		};
		// At once, because the server waits a moment for the body before it hangs up.
		await Promise.all(
			credentials.flatMap((authorization) =>
				framings.map((framing) => check({ authorization, ...framing })),
			),
		);
	});

	test("and costs no query, while one that is well-formed costs some", async () => {
		const before = proxy.bytesSent();
		for (const route of KEYED) {
			for (const authorization of [
				undefined,
				"Basic QQ==",
				"Bearer nonsense",
				`Bearer ${wrongKey()}`,
				`Bearer ${makeSecret("enr")}`,
			]) {
				const headers = { authorization, "content-length": 2 };
				const connection = open().send(`${head(route, headers)}{}`);
				expect((await connection.response()).status).toBe(401);
			}
		}
		for (const token of ["nonsense", makeSecret("dev"), wrongKey()]) {
			const answer = await open().send(request("enroll", { token })).response();
			expect(answer.status).toBe(401);
		}
		expect(proxy.bytesSent()).toBe(before);
		await open()
			.send(request("heartbeat", {}, makeSecret("dev")))
			.response();
		expect(proxy.bytesSent()).toBeGreaterThan(before);
	});

	test("a well-formed unknown key is 401 also when the body's framing is broken", async () => {
		for (const route of KEYED) {
			const headers = {
				...withKey(makeSecret("dev")),
				"transfer-encoding": "chunked",
			};
			const connection = open().send(head(route, headers), "zz\r\nnonsense");
			expectError(await connection.response(), 401, "unauthorized");
		}
	});
});

describe("when the database cannot be reached", () => {
	test("well-formed credentials are 503 with Retry-After, malformed ones still 401, and it works again afterwards", async () => {
		const { token } = await assay.makeToken();
		const good = {
			heartbeat: JSON.stringify(
				heartbeatBody({ hardware_uuid: device.hardwareUuid }),
			),
			postures: JSON.stringify({ results: [postureResult()] }),
			unenroll: "",
		};
		await proxy.cut();
		try {
			for (const route of KEYED) {
				for (const key of [device.key, makeSecret("dev")]) {
					for (const body of [good[route], "[", '{"results":[]}']) {
						const connection = open().send(request(route, body, key));
						const answer = await connection.response();
						expectError(answer, 503, "service_unavailable");
						expect(answer.headers["retry-after"]).toMatch(/^\d+$/);
					}
				}
				const bad = open().send(request(route, good[route], wrongKey()));
				expectError(await bad.response(), 401, "unauthorized");
			}
			const enroll = await open().send(request("enroll", { token })).response();
			expectError(enroll, 503, "service_unavailable");
			const malformed = open().send(request("enroll", { token: "x" }));
			expectError(await malformed.response(), 401, "unauthorized");
		} finally {
			await proxy.restore();
		}
		for (const route of ["heartbeat", "postures"] as const) {
			const answer = await open().send(request(route, good[route])).response();
			expect(answer.status, answer.body).toBe(OK[route]);
		}
		const enrolled = await open().send(request("enroll", { token })).response();
		expect(enrolled.status).toBe(200);
	});

	test.each([
		[
			"renamed",
			"alter database $ rename to $_away",
			"alter database $_away rename to $",
		],
		[
			"closed",
			"alter database $ allow_connections false",
			"alter database $ allow_connections true",
		],
	])("because it was %s: 503, never 401 or 500", async (_, takeAway, giveBack) => {
		const other = await startService();
		const { owner } = assay.database;
		try {
			const one = await other.activateDevice();
			const name = new URL(other.database.url).pathname.slice(1);
			const cutOff = () =>
				owner.query(
					"select pg_terminate_backend(pid) from pg_stat_activity where datname = $1",
					[name],
				);
			await cutOff();
			await owner.query(takeAway.replaceAll("$", name));
			await cutOff();
			try {
				for (const [route, body] of [
					["heartbeat", heartbeatBody()],
					["postures", { results: [postureResult()] }],
					["postures", { results: [] }],
					["unenroll", ""],
				] as const) {
					const answer = await other.post(route, body, { key: one.key });
					expect(answer.status, await answer.text()).toBe(503);
					expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
				}
			} finally {
				await owner.query(giveBack.replaceAll("$", name));
			}
		} finally {
			await other.close();
		}
	});
});

describe("the head of a request", () => {
	test("Expect: 100-continue is answered, then the request", async () => {
		const body = JSON.stringify(heartbeatBody());
		const connection = open().send(
			head("heartbeat", {
				...withKey(),
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
	])("Expect: %j is no reason to refuse", async (expectation) => {
		const headers = {
			...withKey(),
			"content-length": 14,
			expect: expectation,
		};
		const connection = open().send(head("postures", headers), '{"results":[]}');
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
				AUTHORIZATION: `bearer   ${device.key}`,
				"CONTENT-LENGTH": 14,
			};
			const connection = open().send(head(target, headers), '{"results":[]}');
			expect((await connection.response()).status, target).toBe(204);
		}
	});

	test("may ask for an upgrade, which is not taken", async () => {
		const headers = {
			...withKey(),
			"content-length": 14,
			connection: "upgrade, http2-settings",
			upgrade: "h2c",
			"http2-settings": "AAMAAABkAAQCAAAAAAIAAAAA",
		};
		const connection = open().send(head("postures", headers), '{"results":[]}');
		expect((await connection.response()).status).toBe(204);
	});

	test("unenroll needs no Content-Length, or may have an empty chunked body", async () => {
		for (const [framing, body] of [
			[{}, ""],
			[{ "content-length": 0 }, ""],
			[{ "transfer-encoding": "chunked" }, "0\r\n\r\n"],
		] as const) {
			const { key } = await assay.activateDevice();
			const headers = {
				...withKey(key),
				"content-type": "application/json",
				...framing,
			};
			const connection = open().send(head("unenroll", headers), body);
			expect(await connection.response()).toMatchObject({
				status: 204,
				body: "",
			});
		}
	});

	test("a 204 has no Content-Length and no Content-Type", async () => {
		const { headers } = await open()
			.send(request("postures", { results: [] }))
			.response();
		expect(headers["content-length"]).toBeUndefined();
		expect(headers["content-type"]).toBeUndefined();
	});

	test("gives a request its own answer when one that is far too large follows it at once", async () => {
		const holder = await assay.database.owner.connect();
		await holder.query("begin");
		await holder.query("select from devices where id = $1 for update", [
			device.id,
		]);
		const beat = heartbeatBody({ hardware_uuid: device.hardwareUuid });
		// One byte more than is thrown away before the connection is cut.
		const length = (1 << 20) + 1;
		const connection = open().send(
			request("heartbeat", beat),
			head("postures", { ...withKey(), "content-length": length }),
			Buffer.alloc(length, " "),
		);
		// Enough for the large one to arrive before the other is answered.
		await sleep(200);
		await holder.query("rollback");
		holder.release();
		expect((await connection.response()).status).toBe(200);
		expect((await connection.response()).status).toBe(400);
		expect(await connection.closed()).toBe("");
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
	])("that is %s is 400 and tells nothing about the stack", async (_, text) => {
		const answer = await open().send(text).response();
		expect(answer.body).not.toMatch(/HPE_|node|parse/i);
		expectError(answer, 400, "bad_request");
	});
});

describe("a connection", () => {
	test("is kept: many requests, one after the other, also after a 400", async () => {
		const connection = open();
		for (const [body, status] of [
			[heartbeatBody(), 200],
			[{}, 400],
			[heartbeatBody({ platform: "?" }), 400],
			["[", 400],
			[heartbeatBody(), 200],
		] as const) {
			const answer = await connection
				.send(request("heartbeat", body))
				.response();
			expect(answer.status).toBe(status);
			expect(answer.headers.connection).not.toBe("close");
		}
		const get = await connection.send(head("heartbeat", {}, "GET")).response();
		expect(get.status).toBe(405);
		const last = connection.send(request("postures", { results: [] }));
		expect((await last.response()).status).toBe(204);
	});

	test("is closed when the request asks for it", async () => {
		const headers = { ...withKey(), "content-length": 2, connection: "close" };
		const connection = open().send(head("heartbeat", headers), "{}");
		expect((await connection.response()).status).toBe(400);
		expect(await connection.closed()).toBe("");
	});

	test("answers pipelined requests in order, the last one a bad one", async () => {
		const fresh = await assay.enrollDevice();
		const connection = open().send(
			request("heartbeat", heartbeatBody(), fresh.key),
			head("enroll", {}, "GET"),
			request("postures", { results: [] }),
			request("heartbeat", {}),
			head("postures", {}, "DELETE"),
			request("heartbeat", heartbeatBody()),
			request("heartbeat", heartbeatBody(), wrongKey()),
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
	])("gives a request its own answer when %s follows it at once", async (_, next) => {
		const connection = open().send(
			request("heartbeat", heartbeatBody()) + next,
		);
		expect((await connection.response()).status).toBe(200);
	});

	test("that a client leaves in the middle of a body harms nothing", async () => {
		const before = await countReports();
		for (const leave of ["destroy", "resetAndDestroy"] as const) {
			for (const framing of [
				{ "content-length": 200 },
				{ "content-length": 10_000_000 },
				{ "transfer-encoding": "chunked" },
			]) {
				for (const key of [device.key, wrongKey(), makeSecret("dev")]) {
					const { socket } = open().send(
						head("postures", { ...withKey(key), ...framing }),
						'{"results":[',
					);
					await once(socket, "connect");
					await new Promise((resolve) => setTimeout(resolve, 5));
					socket[leave]();
				}
			}
		}
		expect(await countReports()).toBe(before);
		const answer = await open()
			.send(request("postures", { results: [postureResult()] }))
			.response();
		expect(answer.status).toBe(204);
		expect(await countReports()).toBe(before + 1);
	});
});

async function countReports(): Promise<number> {
	const { rows } = await assay.database.owner.query<{ count: number }>(
		"select count(*)::int from posture_reports",
	);
	return rows[0]?.count as number;
}
