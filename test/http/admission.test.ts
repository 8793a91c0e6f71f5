import Fastify from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { addAdmission } from "../../src/http/admission.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { makeUser } from "../support/people.ts";
import { RawConnection, type RawResponse } from "../support/raw-http.ts";
import { startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await startTools();
});
afterAll(() => tools.close());

const MIB = 1 << 20;

/** Announces a body of `bytes` bytes without sending any of it. Returns the answer. */
function announce(
	method: string,
	path: string,
	bytes: number,
	headers: Record<string, string> = {},
): Promise<RawResponse> {
	const all = {
		host: new URL(tools.url).host,
		"content-type": "application/json",
		"content-length": String(bytes),
		...headers,
	};
	const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
	return new RawConnection(tools.url)
		.send([`${method} ${path} HTTP/1.1`, ...lines, "", ""].join("\r\n"))
		.response(method);
}

/**
 * Returns every route with each of its methods. Parameters and wildcards are replaced by some text.
 */
function everyRoute() {
	return tools.service.routes.flatMap(({ methods, path, ...route }) =>
		methods.map((method) => ({
			...route,
			method,
			path: path.replace(/:\w+/g, "x").replace("*", "x"),
		})),
	);
}

test("no route reads a body before it has checked Host and Origin", async () => {
	const guarded = everyRoute().filter(({ admits }) => admits !== "anyone");
	expect(guarded.length).toBeGreaterThan(10);
	for (const { method, path, admits } of guarded) {
		for (const headers of [
			{ host: "attacker.example" },
			...(admits === "form of another website"
				? []
				: [{ origin: "https://attacker.example" }]),
		]) {
			const { status, body } = await announce(method, path, 10_000, headers);
			expect(`${method} ${path} ${status}`).toBe(`${method} ${path} 403`);
			if (method !== "HEAD") expect(body).toContain("forbidden");
		}
	}
});

test("a route for pages or sessions reads no body without the origin of a page", async () => {
	const ofPages = everyRoute().filter(
		({ admits, method }) =>
			(admits === "page" || admits === "session") && method === "POST",
	);
	expect(ofPages.length).toBeGreaterThan(5);
	for (const { path } of ofPages) {
		const { status, body } = await announce("POST", path, 10_000);
		expect(`${path} ${status}`).toBe(`${path} 403`);
		expect(body).toContain("this address is only for the web console");
	}
});

test("only the address for answers of SAML providers takes forms of other websites, up to 256 KiB", async () => {
	const forms = everyRoute().filter(
		({ admits }) => admits === "form of another website",
	);
	const path = "/api/sign-in-with-provider/saml/x";
	expect(forms).toMatchObject([{ method: "POST", path }]);
	const { status, body } = await announce("POST", path, 256 * 1024 + 1, {
		origin: "https://attacker.example",
		"content-type": "application/x-www-form-urlencoded",
	});
	expect(status).toBe(400);
	expect(body).toContain("at most 262144 bytes");
});

test("health is the only route that does not check Host and Origin", () => {
	const open = everyRoute().filter(({ admits }) => admits === "anyone");
	expect(new Set(open.map(({ path }) => path))).toEqual(
		new Set(["/health/live", "/health/ready"]),
	);
});

test("a route for sessions reads no body without a session", async () => {
	const ofSessions = everyRoute().filter(({ admits }) => admits === "session");
	expect(ofSessions.length).toBeGreaterThanOrEqual(3);
	for (const { method, path, maxBodyBytes } of ofSessions) {
		const bytes = maxBodyBytes || 10_000;
		for (const cookie of ["", "assay.session_token=forged.signature"]) {
			const { status } = await announce(method, path, bytes, {
				origin: tools.url,
				...(cookie && { cookie }),
			});
			expect(`${method} ${path} ${status}`).toBe(`${method} ${path} 401`);
		}
	}
});

test("a route whose credential is in the body accepts at most 16 KiB", async () => {
	const ofPages = everyRoute().filter(
		({ admits, method }) => admits === "page" && method === "POST",
	);
	expect(ofPages.map(({ path }) => path)).toEqual(
		expect.arrayContaining(["/api/auth/x", "/api/setup", "/api/join"]),
	);
	for (const { path } of ofPages) {
		const { status, body } = await announce("POST", path, 16 * 1024 + 1, {
			origin: tools.url,
		});
		expect(`${path} ${status}`).toBe(`${path} 400`);
		expect(body).toContain("at most 16384 bytes");
	}
});

test("a body of 16 KiB that nests thousands of arrays is rejected without an internal error", async () => {
	const body = `${"[".repeat(8_000)}${"]".repeat(8_000)}`;
	const paths = everyRoute()
		.filter(({ admits, method }) => admits === "page" && method === "POST")
		.map(({ path }) => path.replace("/api/auth/x", "/api/auth/sign-in/email"));
	for (const path of paths) {
		const response = await fetch(tools.url + path, {
			method: "POST",
			headers: { origin: tools.url, "content-type": "application/json" },
			body,
		});
		expect(`${path} ${response.status}`).toBe(`${path} 400`);
	}
});

test("an address that does not exist is answered with 404 before the body is read", async () => {
	const { status } = await announce("POST", "/api/nothing", 32 * MIB);
	expect(status).toBe(404);
});

test("the tool server reads no body before it has verified the token", async () => {
	for (const [path, authorization] of [
		["/api/mcp/v1", "Bearer nonsense"],
		["/api/mcp/v1", ""],
		["/api/mcp/tools/listRisks", "Bearer nonsense"],
	] as const) {
		const { status } = await announce("POST", path, MIB, {
			...(authorization && { authorization }),
		});
		expect(status).toBe(401);
	}
});

describe("a route", () => {
	const parts = {
		baseUrl: "http://localhost",
		allowedOrigins: [],
		authenticate: () => Promise.reject(new Error("not asked")),
	};

	test("that must say whom it admits cannot be added", () => {
		const app = Fastify();
		addAdmission(app, parts);
		expect(() => app.get("/forgotten", () => "")).toThrow(
			"the route GET /forgotten must say whom it admits",
		);
	});

	test("that would read more than 16 KiB from a stranger cannot be added", () => {
		const app = Fastify();
		addAdmission(app, parts);
		expect(() =>
			app.post("/large", { config: { admits: "page" } }, () => ""),
		).toThrow("must not read 1048576 bytes before it knows who sends them");
	});
});

test("unfinished bodies of strangers have a limit, and keep others of their network from signing in only while they last", async () => {
	const { email } = await makeUser(
		tools.database,
		{ organizationId: tools.organizationId, role: "viewer" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	const signIn = () =>
		sendTo(tools.url, "/api/auth/sign-in/email", { email, password: PASSWORD });
	const half = "x".repeat(16 * 1024 - 1);
	const connections: RawConnection[] = [];
	let turnedAway: RawResponse | undefined;
	// The limit of 4 MiB of one network has room for 256 of these bodies.
	while (!turnedAway && connections.length < 1_200) {
		const group = Array.from({ length: 50 }, () =>
			new RawConnection(tools.url).send(
				[
					"POST /api/auth/sign-in/email HTTP/1.1",
					`host: ${new URL(tools.url).host}`,
					`origin: ${tools.url}`,
					"content-type: application/json",
					"content-length: 16384",
					"",
					half,
				].join("\r\n"),
			),
		);
		connections.push(...group);
		for (const connection of group) {
			connection.response().then(
				(response) => {
					turnedAway ??= response;
				},
				() => {},
			);
		}
		await new Promise((resolve) => setTimeout(resolve, 20));
	}
	await expect.poll(() => turnedAway?.status).toBe(503);
	expect(turnedAway?.headers["retry-after"]).toMatch(/^\d+$/);
	for (const { socket } of connections) socket.destroy();
	await expect.poll(async () => (await signIn()).status).toBe(200);
});
