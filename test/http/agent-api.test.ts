import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeSecret } from "../../src/tokens/secret.ts";
import { KEYED, ROUTES, withWrongChecksum } from "../support/agent-socket.ts";
import {
	heartbeatBody,
	postureResult,
	readError,
	shareService,
	type TestService,
} from "../support/service.ts";

let assay: TestService;
let pendingKey: string;
let activeKey: string;
let revokedKey: string;
beforeAll(async () => {
	assay = await shareService();
	pendingKey = (await assay.enrollDevice()).key;
	activeKey = (await assay.activateDevice()).key;
	revokedKey = (await assay.activateDevice()).key;
	await assay.post("unenroll", "", { key: revokedKey });
});
afterAll(() => assay.close());

const LIMIT = { heartbeat: 16_384, postures: 1_048_576, unenroll: 16_384 };

/** For each route, a body that it accepts without ending the device's enrollment. */
const goodBody = {
	heartbeat: () => heartbeatBody(),
	postures: () => ({ results: [postureResult()] }),
	unenroll: () => "",
};

function postWithAuthorization(
	route: string,
	authorization: string,
	body: unknown,
) {
	return assay.post(route, body, { headers: { authorization } });
}

describe("the Authorization header", () => {
	test.each([
		"Bearer ",
		"bearer ",
		"BEARER ",
		"bEaReR ",
		"Bearer     ",
	])("may have %j before the key", async (scheme) => {
		const { key } = await assay.activateDevice();
		const results = { results: [] };
		const answer = await postWithAuthorization(
			"postures",
			scheme + key,
			results,
		);
		expect(answer.status).toBe(204);
	});

	const bad: [string, (key: string) => string | undefined][] = [
		["is missing", () => undefined],
		["is empty", () => ""],
		["has a scheme only", () => "Bearer"],
		["has a scheme and a space only", () => "Bearer "],
		["has no scheme", (key) => key],
		["has no space", (key) => `Bearer${key}`],
		["has another scheme", (key) => `Basic ${key}`],
		["has a scheme with the same beginning", (key) => `Bearers ${key}`],
		["has something before the scheme", (key) => `x Bearer ${key}`],
		["has something after the key", (key) => `Bearer ${key} x`],
		["has a comma after the key", (key) => `Bearer ${key},`],
		["has two credentials", (key) => `Bearer ${key}, Bearer ${key}`],
		["has the key in quotes", (key) => `Bearer "${key}"`],
		["has a key in capitals", (key) => `Bearer ${key.toUpperCase()}`],
		["has a shortened key", (key) => `Bearer ${key.slice(0, -1)}`],
		["has a lengthened key", (key) => `Bearer ${key}0`],
		[
			"has a key with a wrong checksum",
			(key) => `Bearer ${withWrongChecksum(key)}`,
		],
		["has an enrollment token", () => `Bearer ${makeSecret("enr")}`],
		["has an API token", () => `Bearer ${makeSecret("pat")}`],
		["has a well-formed unknown key", () => `Bearer ${makeSecret("dev")}`],
		["has a revoked key", () => `Bearer ${revokedKey}`],
	];
	test.each(
		bad,
	)("that %s is answered with 401 on every route that needs a key", async (_, make) => {
		for (const route of KEYED) {
			const authorization = make(activeKey);
			const answer = await assay.post(route, goodBody[route](), {
				headers: authorization === undefined ? {} : { authorization },
			});
			expect(await readError(answer), route).toMatchObject({
				status: 401,
				error: "unauthorized",
			});
		}
	});

	const bodies: [string, (limit: number) => string][] = [
		["broken JSON", () => '{"results": ['],
		["an empty body", () => ""],
		["a body that is not an object", () => "[1]"],
		["a body with wrong fields", () => '{"results": 7, "hostname": 7}'],
		["a body that is too large", (limit) => `{"a":"${"x".repeat(limit)}"}`],
	];
	test.each(
		bodies,
	)("with an invalid credential is answered with 401 even with %s", async (_, make) => {
		for (const route of KEYED) {
			for (const authorization of [
				"Basic QQ==",
				`Bearer ${withWrongChecksum(activeKey)}`,
				`Bearer ${makeSecret("dev")}`,
				`Bearer ${revokedKey}`,
			]) {
				const answer = await postWithAuthorization(
					route,
					authorization,
					make(LIMIT[route]),
				);
				expect(await readError(answer), `${route} ${authorization}`).toEqual(
					expect.objectContaining({ status: 401, error: "unauthorized" }),
				);
			}
		}
	});

	test("is not needed by enroll, which ignores an invalid one", async () => {
		const { token } = await assay.makeToken();
		const answer = await postWithAuthorization("enroll", "Bearer nonsense", {
			token,
		});
		expect(answer.status).toBe(200);
	});
});

describe("a method other than POST", () => {
	test.each([
		"GET",
		"HEAD",
		"PUT",
		"DELETE",
		"PATCH",
		"OPTIONS",
	])("%s is answered with 405, Allow: POST and an empty body", async (method) => {
		for (const route of ROUTES) {
			const answer = await fetch(`${assay.service.url}/api/agent/v1/${route}`, {
				method,
				headers: { authorization: `Bearer ${activeKey}` },
			});
			expect(answer.status).toBe(405);
			expect(answer.headers.get("allow")).toBe("POST");
			expect(await answer.text()).toBe("");
		}
	});
});

describe("a body", () => {
	test.each([
		"[]",
		'[{"token":"x"}]',
		'"text"',
		"7",
		"true",
		"false",
		"{",
		'{"token":}',
		"nonsense",
		"{'token':'x'}",
		"\u0000",
		"",
	])("of %j is answered with 400 on enroll, heartbeat and postures", async (body) => {
		for (const route of ["enroll", "heartbeat", "postures"]) {
			const answer = await assay.post(route, body, { key: activeKey });
			expect(await readError(answer), route).toMatchObject({
				status: 400,
				error: "bad_request",
			});
		}
	});

	test("of null counts as {}, so the error names the first required field", async () => {
		for (const [route, field] of [
			["enroll", "token"],
			["heartbeat", "hardware_uuid"],
			["postures", "results"],
		] as const) {
			const forNull = await readError(
				await assay.post(route, "null", { key: activeKey }),
			);
			const forEmpty = await readError(
				await assay.post(route, "{}", { key: activeKey }),
			);
			expect(forNull).toEqual(forEmpty);
			expect(forNull).toMatchObject({
				status: 400,
				message: expect.stringContaining(field) as string,
			});
		}
	});

	test.each([
		undefined,
		"",
		"text/plain",
		"text/xml; charset=utf-16",
		'application/json; charset="',
		"application/x-www-form-urlencoded",
		"multipart/form-data; boundary=x",
		"garbage",
		";;;",
	])("of content type %j is read as JSON", async (type) => {
		const device = await assay.activateDevice();
		const facts = heartbeatBody({ hardware_uuid: device.hardwareUuid });
		const { token } = await assay.makeToken();
		for (const [route, body, status] of [
			["enroll", { token }, 200],
			["heartbeat", facts, 200],
			["postures", { results: [postureResult()] }, 204],
			["unenroll", {}, 204],
		] as const) {
			const answer = await fetch(`${assay.service.url}/api/agent/v1/${route}`, {
				method: "POST",
				// The body is bytes, because fetch would add a content type of its own to a text.
				body: new TextEncoder().encode(JSON.stringify(body)),
				headers: {
					authorization: `Bearer ${device.key}`,
					accept: "image/png",
					...(type === undefined ? {} : { "content-type": type }),
				},
			});
			expect(answer.status, route).toBe(status);
		}
	});

	test("may have unknown fields at any place, which are ignored", async () => {
		const { key } = await assay.activateDevice();
		const { token } = await assay.makeToken();
		const extra = { extra: { deep: [1] }, constructor: 1, "": null };
		for (const [route, body, status] of [
			["enroll", { ...extra, token }, 200],
			["heartbeat", heartbeatBody(extra), 200],
			["postures", { ...extra, results: [postureResult(extra)] }, 204],
			["unenroll", extra, 204],
		] as const) {
			const answer = await assay.post(route, body, { key });
			expect(answer.status, route).toBe(status);
		}
	});

	test("with a field __proto__ is treated like any other", async () => {
		const facts = JSON.stringify(heartbeatBody());
		const withProto = `{"__proto__":{"hostname":"evil"},${facts.slice(1)}`;
		const key = activeKey;
		expect((await assay.post("heartbeat", withProto, { key })).status).toBe(
			200,
		);
		const inherited = `{"__proto__":${facts}}`;
		expect((await assay.post("heartbeat", inherited, { key })).status).toBe(
			400,
		);
	});

	test("with a field whose length cannot be compared is answered with 400 and not with an internal error", async () => {
		const trap = { length: { valueOf: 1, toString: 1 } };
		const { key } = await assay.activateDevice();
		for (const [route, body] of [
			["enroll", { token: trap }],
			["heartbeat", heartbeatBody({ hostname: trap })],
			["heartbeat", heartbeatBody({ serial_number: trap })],
			["postures", { results: trap }],
			["postures", { results: [trap] }],
			["postures", { results: [postureResult({ check_key: trap })] }],
			["postures", { results: [postureResult({ correlation_id: trap })] }],
		] as const) {
			const answer = await assay.post(route, body, { key });
			expect.soft(answer.status, JSON.stringify(body)).toBe(400);
		}
	});
});

describe("every answer", () => {
	/** Returns one response for each status and each cause. */
	async function answers(headers: Record<string, string> = {}) {
		const root = `${assay.service.url}/api/agent/v1`;
		const key = activeKey;
		const { token } = await assay.makeToken();
		const made = {
			"enroll 200": assay.post("enroll", { token }, { headers }),
			"heartbeat 200": assay.post("heartbeat", heartbeatBody(), {
				key,
				headers,
			}),
			"postures 204": assay.post("postures", { results: [] }, { key, headers }),
			"enroll 400": assay.post("enroll", {}, { headers }),
			"heartbeat 400": assay.post("heartbeat", "[", { key, headers }),
			"too large 400": assay.post("enroll", "x".repeat(16_385), { headers }),
			"enroll 401": assay.post("enroll", { token: "x" }, { headers }),
			"no key 401": assay.post("heartbeat", "{}", { headers }),
			"unknown key 401": assay.post("heartbeat", "{}", {
				key: makeSecret("dev"),
				headers,
			}),
			"pending 401": assay.post("postures", "{}", { key: pendingKey, headers }),
			"GET 405": fetch(`${root}/enroll`, { headers }),
			"no such route 404": fetch(`${root}/nothing`, { headers }),
			"trailing slash 404": assay.post("enroll/", {}, { headers }),
			"root 404": fetch(assay.service.url, { headers }),
			"unknown type 4xx": fetch(`${root}/nothing`, {
				method: "POST",
				body: "x",
				headers: { "content-type": "text/x-unknown", ...headers },
			}),
			"broken body 4xx": fetch(`${root}/nothing`, {
				method: "POST",
				body: "{",
				headers: { "content-type": "application/json", ...headers },
			}),
		};
		return Promise.all(
			Object.entries(made).map(
				async ([name, answer]) => [name, await answer] as const,
			),
		);
	}

	test("carries the request's own x-request-id if that is valid", async () => {
		const id = "3f.A-9:b_c";
		for (const [name, answer] of await answers({ "x-request-id": id })) {
			expect(answer.headers.get("x-request-id"), name).toBe(id);
		}
	});

	test.each([
		["is absent", undefined],
		["is empty", ""],
		["has spaces", "a b"],
		["is too long", "a".repeat(5000)],
		["is not ASCII", "caf\u00e9"],
		["has markup", "<script>"],
		["has quotes", 'a"b'],
		["has a control character", "a\tb"],
	])("carries a new x-request-id when the request's %s", async (_, id) => {
		const seen = new Set<string>();
		const headers = id === undefined ? {} : { "x-request-id": id };
		const all = await answers(headers as Record<string, string>);
		for (const [name, answer] of all) {
			const given = answer.headers.get("x-request-id");
			expect(given, name).toMatch(/^[\w.:-]{8,128}$/);
			seen.add(given as string);
		}
		expect(seen.size).toBe(all.length);
	});

	test("must not be cached and names no software", async () => {
		for (const [name, answer] of await answers()) {
			expect(answer.headers.get("cache-control"), name).toBe("no-store");
			expect(answer.headers.get("server"), name).toBeNull();
			expect(answer.headers.get("x-powered-by"), name).toBeNull();
			expect(answer.headers.get("etag"), name).toBeNull();
		}
	});

	test("with an error has a body that reveals nothing about the software", async () => {
		for (const [name, answer] of await answers()) {
			const status = Number(/\d+$/.exec(name)?.[0] ?? answer.status);
			expect(answer.status, name).toBe(status);
			if (status === 405 || status < 400) continue;
			const { error, message } = await readError(answer).catch((reason) => {
				throw new Error(`${name}: ${reason}`);
			});
			expect(error, name).toMatch(/^(bad_request|unauthorized|not_found)$/);
			expect(`${error} ${message}`, name).not.toMatch(
				/fastify|FST_|node|postgres|\bpg\b|zod|sql|\.ts\b|\.js\b|at \w+ \(|undefined|\[object/i,
			);
		}
	});

	test("to an address with an invalid escape reveals nothing either", async () => {
		const answer = await fetch(`${assay.service.url}/%zz`);
		expect(answer.headers.get("x-request-id")).toMatch(/^[\w.:-]{8,128}$/);
		expect(answer.headers.get("cache-control")).toBe("no-store");
		expect(await answer.clone().text()).not.toMatch(/FST_/);
		expect((await readError(answer)).status).toBe(400);
	});
});
