import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import {
	makeClient,
	type Outcome,
	readRetryAfter,
} from "../../agent/client.ts";
import { parseServerUrl } from "../../agent/server-url.ts";
import { VERSION } from "../../src/version.ts";
import {
	type Answerer,
	refuse,
	respond,
	startScriptedService,
} from "./scripted-service.ts";

const key = "asy_dev_key";

/** Returns the outcome of a heartbeat that the service answers with `answer`. */
async function outcomeOf(
	answer: Answerer,
	route: "heartbeat" | "postures" = "heartbeat",
	timeoutMs = 60_000,
): Promise<Outcome> {
	const service = await startScriptedService();
	service.answer(answer);
	const client = await makeClient({
		serverUrl: service.url,
		platform: "LINUX",
	});
	onTestFinished(() => client.rest());
	return client.send(route, { key, body: {}, timeoutMs });
}

const always =
	(status: number, body?: object, headers?: Record<string, string>): Answerer =>
	(_, response) => {
		respond(response, status, body, headers);
		return false;
	};
const page: Answerer = (_, response) => {
	response.writeHead(200, { "content-type": "text/html" });
	response.end("<h1>Welcome to the hotel</h1>");
	return false;
};

test("a request carries the user agent, the key and nothing more", async () => {
	const service = await startScriptedService();
	const client = await makeClient({
		serverUrl: service.url,
		platform: "DARWIN",
	});
	await client.send("heartbeat", { key, body: { hostname: "müller" } });
	client.rest();
	const [request] = service.seen;
	expect(request).toMatchObject({
		route: "heartbeat",
		body: { hostname: "müller" },
		headers: {
			accept: "application/json",
			"content-type": "application/json",
			authorization: `Bearer ${key}`,
			"user-agent": `assay-agent/${VERSION} (DARWIN)`,
		},
	});
});

test("a 401 from the service itself means that the key is invalid", async () => {
	const outcome = await outcomeOf((_, response) => {
		refuse(response, 401);
		return false;
	});
	expect(outcome).toEqual({ kind: "unauthorized" });
});

test.each([
	["a proxy", always(401)],
	["a sign-in page", always(401, { message: "please sign in" })],
	["a gateway", always(403, { error: "unauthorized" })],
])("after a 401 or 403 from %s the agent keeps its key", async (_, answer) => {
	expect((await outcomeOf(answer)).kind).toBe("trouble");
});

test("a 400 is a rejection with the service's message", async () => {
	const outcome = await outcomeOf((_, response) => {
		refuse(response, 400);
		return false;
	}, "postures");
	expect(outcome).toEqual({ kind: "refused", message: "results[0] is wrong" });
});

test.each([
	["a 400 that is not a JSON object", always(400)],
	["a gateway's 400", always(400, { message: "Bad Request" })],
	["a captive portal's page", page],
	["a 200 where the answer should be 204", always(200, {})],
	["404", always(404, { error: "not_found", message: "no" })],
	["413", always(413)],
	["500", always(500, { error: "internal_server_error", message: "x" })],
])("a report is kept after %s", async (_, answer) => {
	expect((await outcomeOf(answer, "postures")).kind).toBe("trouble");
});

test("a redirect is not followed, and the error says so", async () => {
	const outcome = await outcomeOf(
		always(302, undefined, { location: "http://127.0.0.1:1/" }),
	);
	expect(outcome).toMatchObject({
		kind: "trouble",
		reason: expect.stringContaining(
			"a redirect (302), which the agent does not follow",
		),
	});
});

test("an answer that never ends is cut off", async () => {
	const outcome = await outcomeOf((_, response) => {
		response.writeHead(200);
		const more = () => {
			while (!response.destroyed && response.write("x".repeat(16_384)));
		};
		response.on("drain", more);
		more();
		return false;
	});
	expect(outcome).toMatchObject({
		kind: "trouble",
		reason:
			"the answer is longer than an Assay service sends; check the service's address",
	});
});

test("a request that gets no answer times out", async () => {
	const outcome = await outcomeOf(() => false, "heartbeat", 1000);
	expect(outcome).toEqual({
		kind: "trouble",
		reason: "no answer within 1 seconds",
	});
});

test("an answer that arrives byte by byte forever times out", async () => {
	const outcome = await outcomeOf(
		(_, response) => {
			response.writeHead(200);
			const drip = setInterval(() => response.write(" "), 20);
			response.on("close", () => clearInterval(drip));
			return false;
		},
		"heartbeat",
		1000,
	);
	expect(outcome).toMatchObject({ reason: "no answer within 1 seconds" });
});

test("a stop ends a running request", async () => {
	const service = await startScriptedService();
	service.answer(() => false);
	const client = await makeClient({
		serverUrl: service.url,
		platform: "LINUX",
	});
	const stop = new AbortController();
	const sent = client.send("heartbeat", { key, signal: stop.signal });
	await service.until((seen) => seen.length === 1);
	stop.abort();
	expect((await sent).kind).toBe("trouble");
});

test("a 503 says how long to wait", async () => {
	const outcome = await outcomeOf(
		always(
			503,
			{ error: "service_unavailable", message: "later" },
			{ "retry-after": "120" },
		),
	);
	expect(outcome).toEqual({
		kind: "trouble",
		reason: "the service answered 503: later",
		retryAfterSeconds: 120,
	});
});

test("Retry-After is read as seconds and as a date", () => {
	const now = Date.parse("2026-11-21T12:00:00Z");
	expect(readRetryAfter("90", now)).toBe(90);
	expect(readRetryAfter("Sat, 21 Nov 2026 12:05:00 GMT", now)).toBe(300);
	expect(readRetryAfter("Sat, 21 Nov 2026 11:00:00 GMT", now)).toBe(0);
	expect(readRetryAfter("soon", now)).toBeUndefined();
	expect(readRetryAfter(undefined, now)).toBeUndefined();
});

test("an idle connection that the service has closed does not make a request fail", async () => {
	const service = await startScriptedService();
	const client = await makeClient({
		serverUrl: service.url,
		platform: "LINUX",
	});
	onTestFinished(() => client.rest());
	service.answer((_, response) => {
		// The second request arrives on the connection of the first one.
		if (service.seen.length !== 2) return true;
		response.socket?.destroy();
		return false;
	});
	const kinds = [];
	for (let i = 0; i < 2; i++) {
		kinds.push((await client.send("heartbeat", { key, body: {} })).kind);
	}
	expect(kinds).toEqual(["ok", "ok"]);
	expect(service.seen).toHaveLength(3);
});

test("an error about an unreachable service says so in plain words", async () => {
	const refused = await makeClient({
		serverUrl: "http://127.0.0.1:1",
		platform: "LINUX",
	});
	expect(await refused.send("heartbeat", { key })).toEqual({
		kind: "trouble",
		reason: "nothing listens at the service's address",
		isUnsent: true,
	});
});

test("a connection that never starts TLS times out", async () => {
	const server = createTcpServer(() => {});
	onTestFinished(() => {
		server.close();
	});
	server.listen(0, "127.0.0.1");
	await once(server, "listening");
	const client = await makeClient({
		serverUrl: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
		platform: "LINUX",
		connectTimeoutMs: 200,
	});
	expect(await client.send("heartbeat", { key })).toMatchObject({
		kind: "trouble",
		reason: "no connection within 10 seconds",
	});
});

test("the key is sent over the network only with encryption", () => {
	for (const address of [
		"http://assay.example.com",
		"http://127.0.0.1.example.com",
		"http://localhost.example.com",
		"http://10.0.0.1:8080",
		"ftp://localhost",
		"assay.example.com",
		"https://user:pw@assay.example.com",
		"https://assay.example.com/console",
	]) {
		expect(() => parseServerUrl(address), address).toThrow(/^the address/);
	}
	expect(parseServerUrl(" https://assay.example.com/ ")).toBe(
		"https://assay.example.com",
	);
	for (const host of [
		"localhost:8080",
		"127.0.0.1:1",
		"127.1.2.3",
		"[::1]:8080",
	]) {
		expect(parseServerUrl(`http://${host}`)).toBe(`http://${host}`);
	}
});
