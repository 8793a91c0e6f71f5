import { afterAll, beforeAll, expect, test } from "vitest";
import { RawConnection } from "../support/raw-http.ts";
import { shareTools, startTools, type TestTools } from "../support/tools.ts";

const PAGE = "https://inspector.example.com";
const OTHER = "https://evil.example.com";

let tools: TestTools;
let closed: TestTools;
beforeAll(async () => {
	tools = await startTools(undefined, {
		ASSAY_ALLOWED_ORIGINS: `http://localhost:6274, ${PAGE}`,
	});
	closed = await shareTools();
});
afterAll(async () => {
	await tools.close();
	await closed.close();
});

const BEARER_PATHS = [
	"/api/mcp/v1",
	"/api/mcp/tools/listOrganizations",
	"/api/mcp/health",
];

/** Asks as a browser does before a page of `origin` may send a request with a token. */
function preflight(path: string, origin: string, url = tools.url) {
	return fetch(url + path, {
		method: "OPTIONS",
		headers: {
			origin,
			"access-control-request-method": "POST",
			"access-control-request-headers": "authorization,content-type",
		},
	});
}

function listTools(origin: string, token = tools.admin.token) {
	return fetch(`${tools.url}/api/mcp/v1`, {
		method: "POST",
		headers: {
			origin,
			authorization: `Bearer ${token}`,
			"content-type": "application/json",
		},
		body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
	});
}

test("a page of an allowed origin may ask, and use the routes of API tokens", async () => {
	for (const path of BEARER_PATHS) {
		const answer = await preflight(path, PAGE);
		expect(answer.status, path).toBe(204);
		expect(answer.headers.get("access-control-allow-origin")).toBe(PAGE);
		expect(answer.headers.get("access-control-allow-methods")).toMatch(/POST/);
		for (const name of ["authorization", "content-type", "mcp-method"]) {
			expect(answer.headers.get("access-control-allow-headers")).toContain(
				name,
			);
		}
		expect(answer.headers.get("vary")).toContain("origin");
	}
	const answer = await listTools(PAGE);
	expect(answer.status).toBe(200);
	expect(answer.headers.get("access-control-allow-origin")).toBe(PAGE);
	expect(answer.headers.get("vary")).toBe("origin, accept-encoding");
	const rejected = await listTools(PAGE, "nonsense");
	expect(rejected.status).toBe(401);
	// Without this header the page could not read why.
	expect(rejected.headers.get("access-control-allow-origin")).toBe(PAGE);
	const description = await fetch(`${tools.url}/api/openapi.json`, {
		headers: { origin: PAGE },
	});
	expect(description.status).toBe(200);
	expect(description.headers.get("access-control-allow-origin")).toBe(PAGE);
});

test("no answer lets the page send cookies", async () => {
	for (const path of [...BEARER_PATHS, "/api/openapi.json"]) {
		const answers = [
			await preflight(path, PAGE),
			await fetch(tools.url + path, { headers: { origin: PAGE } }),
		];
		for (const { headers } of answers) {
			expect(headers.get("access-control-allow-credentials")).toBeNull();
		}
	}
});

test("a page of any other origin is rejected: 403", async () => {
	for (const origin of [OTHER, `${PAGE}.evil.example.com`, "null"]) {
		for (const path of BEARER_PATHS) {
			const answer = await preflight(path, origin);
			expect(answer.status, `${origin} ${path}`).toBe(403);
			expect(answer.headers.get("access-control-allow-origin")).toBeNull();
		}
		expect((await listTools(origin)).status).toBe(403);
	}
	// Without the setting no origin is allowed.
	for (const path of BEARER_PATHS) {
		expect((await preflight(path, PAGE, closed.url)).status).toBe(403);
	}
});

test("an allowed origin reaches no route that a cookie opens", async () => {
	for (const path of [
		"/api/console/getProfile",
		"/api/auth/sign-in/email",
		"/api/join",
		"/api/link",
		"/",
	]) {
		for (const answer of [
			await preflight(path, PAGE),
			await fetch(tools.url + path, {
				method: path === "/" ? "GET" : "POST",
				headers: { origin: PAGE, "content-type": "application/json" },
				...(path !== "/" && { body: "{}" }),
			}),
		]) {
			expect(answer.status, path).toBe(403);
			expect(answer.headers.get("access-control-allow-origin")).toBeNull();
		}
	}
});

test("the Host is checked for an allowed origin too", async () => {
	const { status, body } = await rawPreflight("evil.example.com");
	expect(status).toBe(403);
	expect(body).toContain(`not at \\"evil.example.com`);
	expect((await rawPreflight("localhost")).status).toBe(204);
});

function rawPreflight(host: string) {
	return new RawConnection(tools.url)
		.send(
			`OPTIONS /api/mcp/v1 HTTP/1.1\r\nhost: ${host}\r\norigin: ${PAGE}\r\naccess-control-request-method: POST\r\n\r\n`,
		)
		.response("OPTIONS");
}
