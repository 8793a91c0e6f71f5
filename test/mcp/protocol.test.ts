import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSecret } from "../../src/tokens/secret.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";
import { INFO, legacy, modern } from "./requests.ts";

let tools: TestTools;

beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

const RISK = {
	name: "Laptop theft",
	category: "Physical",
	treatment: "MITIGATED",
	inherent_likelihood: 4,
	inherent_impact: 5,
};

const address = (query = "") => new URL(`${tools.url}/api/mcp/v1${query}`);

const requestInit = (token: string) => ({
	headers: { authorization: `Bearer ${token}` },
});

test("plain fetch works: no Accept, no handshake, and JSON in return", async () => {
	const { status, body, headers } = await tools.rpc(legacy("tools/list"));
	expect(status).toBe(200);
	expect(headers.get("content-type")).toMatch("application/json");
	expect(body.result.tools.length).toBeGreaterThan(50);
	expect(headers.get("mcp-session-id")).toBeNull();
});

test.each([
	"2024-11-05",
	"2025-03-26",
	"2025-06-18",
	"2025-11-25",
])("initialize in revision %s is answered in the same revision", async (protocolVersion) => {
	const { status, body } = await tools.rpc(
		legacy("initialize", {
			protocolVersion,
			capabilities: {},
			clientInfo: INFO,
		}),
	);
	expect(status).toBe(200);
	expect(body.result).toMatchObject({
		protocolVersion,
		capabilities: { tools: { listChanged: false } },
		serverInfo: { name: "assay" },
	});
	const listed = await tools.rpc(legacy("tools/list"), {
		headers: { "mcp-protocol-version": protocolVersion },
	});
	expect(listed.status).toBe(200);
	const note = await tools.rpc({
		jsonrpc: "2.0",
		method: "notifications/initialized",
	});
	expect(note.status).toBe(202);
	expect(note.body).toBeUndefined();
});

test("the service's own answers are the same as the SDK's", async () => {
	const { organizationId: organization_id } = tools;
	const call = modern("tools/call", {
		name: "listRisks",
		arguments: { organization_id },
	});
	for (const { body, headers } of [modern("tools/list"), call]) {
		const direct = await tools.rpc(body, { headers });
		// The SDK answers requests with unusual headers, such as a name in Base64 or trailing blanks.
		const spaced = { ...headers, "mcp-method": `${headers["mcp-method"]}\t ` };
		const encoded = headers["mcp-name"]
			? { "mcp-name": `=?base64?${btoa(headers["mcp-name"])}?=` }
			: { "mcp-name": "" };
		const bySdk = await tools.rpc(body, {
			headers: { ...spaced, ...encoded },
		});
		expect(bySdk.status).toBe(200);
		expect(direct.body).toEqual(bySdk.body);
	}
});

test("rows of a list are brief, also if the client sends null for the detail", async () => {
	const { organizationId: organization_id } = tools;
	await tools.use("addRisk", { organization_id, ...RISK });
	const rows = async (detail: object) => {
		const { body } = await tools.rpc(
			legacy("tools/call", {
				name: "listRisks",
				arguments: { organization_id, ...detail },
			}),
		);
		return body.result.structuredContent.risks;
	};
	const brief = await rows({});
	expect(brief[0]).not.toHaveProperty("note");
	expect(await rows({ detail: null })).toEqual(brief);
	expect((await rows({ detail: "full" }))[0]).toHaveProperty("note");
});

test.each([
	[
		"the old revisions",
		(params: Json) => ({ body: legacy("tools/call", params), headers: {} }),
	],
	["2026-07-28", (params: Json) => modern("tools/call", params)],
])("a denied call is answered with HTTP 403 and a JSON-RPC error in %s", async (_, make) => {
	for (const [name, input, token] of [
		[
			"addRisk",
			{ organization_id: tools.organizationId, ...RISK },
			tools.viewer.token,
		],
		[
			"listRisks",
			{ organization_id: tools.otherOrganizationId },
			tools.admin.token,
		],
		["listRisks", { organization_id: "A".repeat(32) }, tools.admin.token],
		["deleteRisk", { id: tools.organizationId }, tools.member.token],
	] as const) {
		const { body, headers } = make({ name, arguments: input });
		const answer = await tools.rpc(body, { headers, token });
		expect(answer.status).toBe(403);
		expect(answer.headers.get("www-authenticate")).toBeNull();
		expect(answer.body).toMatchObject({
			jsonrpc: "2.0",
			id: 7,
			error: { message: expect.stringMatching(/permission denied/) },
		});
	}
});

test("a record of another organization and a missing one get the same tool error", async () => {
	const { risk } = await tools.use(
		"addRisk",
		{ organization_id: tools.otherOrganizationId, ...RISK },
		tools.stranger.token,
	);
	const own = await tools.use("addRisk", {
		organization_id: tools.organizationId,
		...RISK,
	});
	await tools.use("deleteRisk", { id: own.risk.id });
	const [foreign, gone] = await Promise.all(
		[risk.id, own.risk.id].map(async (id) => {
			const answer = await tools.rpc(
				legacy("tools/call", { name: "getRisk", arguments: { id } }),
			);
			expect(answer.status).toBe(200);
			expect(answer.body.result.isError).toBe(true);
			return answer.body.result.content[0].text.replace(id, "");
		}),
	);
	expect(foreign).toBe(gone);
});

test("an unknown tool is answered with the JSON-RPC error −32602", async () => {
	for (const name of ["launchRocket", "__proto__", "", "\ud800"]) {
		const { status, body } = await tools.rpc(
			legacy("tools/call", { name, arguments: {} }),
		);
		expect(status).toBe(200);
		expect(body).toMatchObject({ id: 7, error: { code: -32602 } });
	}
});

test("U+0000 in an argument is a tool error that names the argument", async () => {
	const { body } = await tools.rpc(
		legacy("tools/call", {
			name: "listRisks",
			arguments: {
				organization_id: tools.organizationId,
				filter: { query: "a\0b" },
			},
		}),
	);
	expect(body.result.isError).toBe(true);
	expect(body.result.content[0].text).toMatch(/^filter\.query: /);
});

test("each request of a batch is answered, for any ids and cancellations", async () => {
	const ping = legacy("ping");
	const answer = await tools.rpc([
		ping,
		ping,
		{
			jsonrpc: "2.0",
			method: "notifications/cancelled",
			params: { requestId: 7 },
		},
		legacy("tools/call", { name: "launchRocket" }),
	]);
	expect(answer.status).toBe(200);
	expect(answer.body).toHaveLength(3);
	const notes = await tools.rpc([
		{ jsonrpc: "2.0", method: "notifications/initialized" },
	]);
	expect(notes.status).toBe(202);
	expect((await tools.rpc([])).status).toBe(400);
	expect((await tools.rpc(Array(101).fill(ping))).status).toBe(400);
});

test("with a valid credential only POST is allowed: 405 with Allow: POST", async () => {
	for (const method of ["GET", "DELETE", "PUT", "HEAD"]) {
		const send = (headers: Record<string, string>) =>
			fetch(address(), { method, headers });
		const allowed = await send(requestInit(tools.admin.token).headers);
		expect(allowed.status, method).toBe(405);
		expect(allowed.headers.get("allow")).toBe("POST");
		expect((await send({})).status, method).toBe(401);
	}
});

test("a denied call is 403 unless the address or a header asks for a result", async () => {
	const call = legacy("tools/call", {
		name: "listRisks",
		arguments: { organization_id: tools.otherOrganizationId },
	});
	const send = async (query: string, header?: string) => {
		const headers = header ? { "x-mcp-errors": header } : {};
		return tools.rpc(call, { query, headers });
	};
	for (const answer of [
		await send(""),
		await send("?errors=status"),
		await send("", "status"),
	]) {
		expect(answer.status).toBe(403);
		expect(answer.body).toMatchObject({
			id: call.id,
			error: {
				code: -32003,
				message: expect.stringMatching(/^listOrganizations lists/),
			},
		});
	}
	for (const answer of [
		await send("?errors=result"),
		await send("", "result"),
	]) {
		expect(answer.status).toBe(200);
		expect(answer.body.result.isError).toBe(true);
	}
	for (const query of ["?errors", "?errors=results", "?error=result"]) {
		expect((await send(query)).status, query).toBe(400);
	}
	// The switch is for MCP clients. Over plain HTTP the status is always the answer.
	const { token } = tools.admin;
	const plain = await tools.call("listRisks?errors=result", {}, token);
	expect(plain.status).toBe(400);
});

test("a missing, malformed or unknown token gets 401, and the body says which it is", async () => {
	for (const [authorization, says] of [
		[undefined, /missing/],
		[`Bearer  ${tools.admin.token}`, /malformed/],
		[`Token ${tools.admin.token}`, /malformed/],
		[`Bearer ${makeSecret("pat")}`, /invalid/],
	] as const) {
		const response = await fetch(address(), {
			method: "POST",
			headers: {
				"content-type": "application/json",
				...(authorization ? { authorization } : {}),
			},
			body: JSON.stringify(legacy("tools/list")),
		});
		expect(response.status).toBe(401);
		expect(response.headers.get("www-authenticate")).toBe("Bearer");
		// Clients show their user the message of a JSON-RPC error, and of no other body.
		expect(await response.json()).toEqual({
			jsonrpc: "2.0",
			id: null,
			error: { code: -32003, message: expect.stringMatching(says) },
		});
	}
});

test("a body that is not JSON-RPC is rejected with the matching JSON-RPC error", async () => {
	const cases: [string, number, number][] = [
		["{", 400, -32700],
		["", 400, -32700],
		["null", 400, -32600],
		["7", 400, -32600],
		["{}", 400, -32600],
		['{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, -32600],
		['{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, -32600],
		['{"jsonrpc":"2.0","id":1,"method":"no/such"}', 200, -32601],
		[`"${"x".repeat(1024 * 1024)}"`, 413, -32600],
	];
	for (const [text, status, code] of cases) {
		const answer = await tools.rpc(text);
		expect(answer.status, text.slice(0, 50)).toBe(status);
		expect(answer.body.error.code, text.slice(0, 50)).toBe(code);
	}
});

test("a body that is not declared as JSON is answered with 415", async () => {
	const answer = await tools.rpc(legacy("ping"), {
		headers: { "content-type": "text/plain" },
	});
	expect(answer.status).toBe(415);
	expect(answer.body.error.message).toContain("Content-Type");
});

test("health is ok with a token and 401 without one", async () => {
	for (const path of ["/api/mcp/v1/health", "/api/mcp/health"]) {
		const headers = requestInit(tools.viewer.token).headers;
		const answer = await fetch(tools.url + path, { headers });
		expect(answer.status).toBe(200);
		expect(await answer.json()).toEqual({ status: "ok" });
		expect((await fetch(tools.url + path)).status).toBe(401);
		const post = await fetch(tools.url + path, { method: "POST", headers });
		expect(post.status).toBe(405);
		expect(post.headers.get("allow")).toBe("GET");
	}
});

test("a client that looks for an authorization server finds JSON that says there is none", async () => {
	for (const path of [
		"/.well-known/oauth-protected-resource",
		"/.well-known/oauth-protected-resource/api/mcp/v1",
		"/.well-known/oauth-authorization-server",
		"/.well-known/openid-configuration",
		"/api/mcp/v1/.well-known/openid-configuration",
	]) {
		const answer = await fetch(tools.url + path);
		expect(answer.status, path).toBe(404);
		expect(await answer.json()).toMatchObject({ error: "not_found" });
	}
});

test("the use of a token is recorded with the client's own name", async () => {
	const user = await tools.makeUser({ [tools.organizationId]: "viewer" });
	const { body, headers } = modern("tools/call", {
		name: "listRisks",
		arguments: { organization_id: tools.organizationId },
	});
	await tools.rpc(body, { headers, token: user.token });
	await expect
		.poll(async () => {
			const { rows } = await tools.database.owner.query(
				`select t.last_used_client, t.last_used_address, u.organization_id, u.tool, u.calls, u.errors,
						u.last_client, u.last_address
					 from api_tokens t join api_token_usage u on u.token_id = t.id where t.id = $1`,
				[user.tokenId],
			);
			return rows;
		})
		.toEqual([
			{
				last_used_client: "assay-test/1.2.3",
				last_used_address: "127.0.0.1",
				organization_id: tools.organizationId,
				last_client: "assay-test/1.2.3",
				last_address: "127.0.0.1",
				tool: "listRisks",
				calls: "1",
				errors: "0",
			},
		]);
});

test.each([
	["initialize", undefined, /^params: /],
	["initialize", {}, /params\.protocolVersion: .*params\.clientInfo: /],
	[
		"initialize",
		{
			protocolVersion: "2025-06-18",
			capabilities: { roots: 7 },
			clientInfo: { name: "x", version: "1" },
		},
		/^params\.capabilities\.roots: /,
	],
	["tools/call", { name: 7 }, /^params\.name: /],
])("%s with the params %j is answered with −32602 and says in words what is wrong", async (method, params, says) => {
	const { body } = await tools.rpc({ jsonrpc: "2.0", id: 1, method, params });
	expect(body).toMatchObject({
		jsonrpc: "2.0",
		id: 1,
		error: { code: -32602 },
	});
	expect(body.error.message).toMatch(says);
	expect(body.error.message).not.toContain("{");
});
