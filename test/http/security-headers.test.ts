import { afterAll, beforeAll, expect, test } from "vitest";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { makeUser } from "../support/people.ts";
import { RawConnection } from "../support/raw-http.ts";
import { startService, type TestService } from "../support/service.ts";

const BASE = "https://assay.example.com";
const files = {
	index: '<!doctype html><meta nonce="__NONCE__">',
	assets: new Map([
		[
			"/favicon.svg",
			{
				type: "image/svg+xml",
				isHashed: false,
				identity: Buffer.from("<svg/>"),
			},
		],
	]),
};

/** One service behind a proxy with TLS, and one without, as on a user's own machine. */
let secure: TestService;
let plain: TestService;
beforeAll(async () => {
	[secure, plain] = await Promise.all([
		startService(undefined, { ASSAY_BASE_URL: BASE }, files),
		startService(undefined, {}, files),
	]);
});
afterAll(() => Promise.all([secure.close(), plain.close()]));

/** Requests at every door, both successful ones and failing ones, with the expected status. */
const ANSWERS: [string, RequestInit, number][] = [
	["/", { headers: { accept: "text/html" } }, 200],
	["/favicon.svg", {}, 200],
	["/nothing", {}, 404],
	["/%E0%A4%A", {}, 400],
	["/health/live", {}, 200],
	["/api/openapi.json", {}, 200],
	["/api/setup", {}, 200],
	["/api/auth/get-session", {}, 200],
	["/api/console/listRisks", { method: "POST", body: "{}" }, 403],
	["/api/mcp/v1", { method: "POST", body: "{}" }, 401],
	["/api/mcp/tools/listOrganizations", {}, 401],
	["/.well-known/oauth-authorization-server", {}, 404],
	["/api/agent/v1/heartbeat", { method: "POST", body: "{}" }, 401],
	["/api/agent/v1/heartbeat", {}, 405],
];

test("every response at every door forbids browsers to guess types, to frame or embed the response, and to send referrers", async () => {
	for (const served of [secure, plain]) {
		for (const [path, init, status] of ANSWERS) {
			const answer = await fetch(served.service.url + path, init);
			expect(answer.status, path).toBe(status);
			const get = (name: string) => answer.headers.get(name);
			expect(get("x-content-type-options"), path).toBe("nosniff");
			expect(get("referrer-policy"), path).toBe("no-referrer");
			expect(get("cross-origin-resource-policy"), path).toBe("same-origin");
			const policy = get("content-security-policy") ?? "";
			expect(policy, path).toMatch(/^default-src 'none'/);
			expect(policy, path).toContain("frame-ancestors 'none'");
			if (path !== "/") expect(policy, path).not.toContain("'self'");
			for (const name of ["server", "x-powered-by", "via"]) {
				expect(get(name), path).toBeNull();
			}
			// There are no CORS headers, because no page of another site may read a response.
			expect([...answer.headers.keys()].join(), path).not.toContain(
				"access-control-",
			);
			const type = get("content-type");
			if (type && (await answer.clone().text()) !== "") {
				expect(type, path).toMatch(/charset=utf-8|^image\//);
			}
		}
	}
});

test("the service tells browsers to require TLS for two years, but only behind TLS", async () => {
	for (const [path, init] of ANSWERS) {
		const told = await fetch(secure.service.url + path, init);
		expect(told.headers.get("strict-transport-security"), path).toBe(
			"max-age=63072000; includeSubDomains",
		);
		const untold = await fetch(plain.service.url + path, init);
		expect(untold.headers.has("strict-transport-security"), path).toBe(false);
	}
});

test("the page may not use the camera, the microphone or the location, and responses contain nobody's data", async () => {
	const page = await fetch(secure.service.url, {
		headers: { accept: "text/html" },
	});
	expect(page.headers.get("permissions-policy")).toMatch(
		/camera=\(\).*geolocation=\(\).*microphone=\(\)/,
	);
	expect(page.headers.get("cross-origin-opener-policy")).toBe("same-origin");
	expect(page.headers.get("content-security-policy")).toContain(
		"object-src 'none'",
	);
});

test("all malformed requests get the same plain response, and TRACE is not permitted", async () => {
	for (const head of [
		"TRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: localhost\r\nX: \x01\r\n\r\n",
		"GET / HTTP/1.1\r\n\r\n",
		// With both headers, the end of the body would be ambiguous.
		"POST /api/setup HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		"POST /api/setup HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\n{}",
		"POST /api/setup HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
	]) {
		const connection = new RawConnection(plain.service.url);
		connection.send(head);
		const answer = await connection.response();
		expect(answer.status, head).toBeGreaterThanOrEqual(400);
		expect(answer.status, head).toBeLessThan(500);
		expect(answer.headers["x-content-type-options"], head).toBe("nosniff");
		expect(answer.body, head).not.toContain("TRACE");
	}
});

test("behind TLS, a session's cookie is bound to the host by its name, and no response body contains its secret", async () => {
	const passwordHash = await hashPassword(PASSWORD);
	for (const [served, origin, prefix, attributes] of [
		[
			secure,
			BASE,
			"__Host-assay.",
			"Path=/; HttpOnly; Secure; SameSite=Strict",
		],
		[plain, plain.service.url, "assay.", "Path=/; HttpOnly; SameSite=Strict"],
	] as const) {
		const user = await makeUser(served.database, undefined, { passwordHash });
		const signedIn = await sendTo(
			served.service.url,
			"/api/auth/sign-in/email",
			{ email: user.email, password: PASSWORD },
			{ origin },
		);
		expect(signedIn.status).toBe(200);
		const cookies = signedIn.headers.getSetCookie();
		const given = cookies.map((cookie) => {
			const [, name, value, rest] =
				/^([^=]+)=([^;]+); Max-Age=\d+; (.*)$/.exec(cookie) ?? [];
			expect(new Set(rest?.split("; ")), cookie).toEqual(
				new Set(attributes.split("; ")),
			);
			return [name, decodeURIComponent(value ?? "")] as const;
		});
		expect(given.map(([name]) => name).sort()).toEqual([
			`${prefix}known_browser`,
			`${prefix}session_token`,
		]);
		const token = new Map(given).get(`${prefix}session_token`)?.split(".")[0];
		expect(token).toBeTruthy();
		const session = await sendTo(
			served.service.url,
			"/api/auth/get-session",
			undefined,
			{ origin, cookie: signedIn.cookie },
		);
		expect(session.body.user.email).toBe(user.email);
		for (const { body } of [signedIn, session]) {
			expect(JSON.stringify(body)).not.toContain(token);
		}
		const left = await sendTo(
			served.service.url,
			"/api/auth/sign-out",
			{},
			{ origin, cookie: signedIn.cookie },
		);
		expect(left.status).toBe(200);
		const called = await sendTo(
			served.service.url,
			"/api/console/getProfile",
			{},
			{ origin, cookie: signedIn.cookie },
		);
		expect(called.status).toBe(401);
	}
});
