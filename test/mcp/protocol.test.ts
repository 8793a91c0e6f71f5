import {
	Client as ModernClient,
	StreamableHTTPClientTransport as ModernTransport,
} from "@modelcontextprotocol/client";
import { Client as LegacyClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as LegacyTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeSecret } from "../../src/tokens/secret.ts";
import { type Json, startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await startTools();
});
afterAll(() => tools.close());

const RISK = {
	name: "Laptop theft",
	category: "Physical",
	treatment: "MITIGATED",
	inherent_likelihood: 4,
	inherent_impact: 5,
};

const INFO = { name: "assay-test", version: "1.2.3" };

/** What the tests need of a client of either package. */
interface AnyClient {
	listTools: () => Promise<{ tools: Json[] }>;
	callTool: (params: {
		name: string;
		arguments?: Record<string, unknown>;
	}) => Promise<Json>;
	close: () => Promise<void>;
	getInstructions: () => string | undefined;
}

type Connect = (token: string, query?: string) => Promise<AnyClient>;

const address = (query = "") => new URL(`${tools.url}/api/mcp/v1${query}`);
const requestInit = (token: string) => ({
	headers: { authorization: `Bearer ${token}` },
});

const clients: [string, Connect][] = [
	[
		"@modelcontextprotocol/sdk 1.x",
		async (token, query) => {
			const client = new LegacyClient(INFO);
			await client.connect(
				new LegacyTransport(address(query), {
					requestInit: requestInit(token),
				}),
			);
			return client as AnyClient;
		},
	],
	[
		"@modelcontextprotocol/client 2.x in revision 2026-07-28",
		async (token, query) => {
			const client = new ModernClient(INFO, {
				versionNegotiation: { mode: { pin: "2026-07-28" } },
			});
			await client.connect(
				new ModernTransport(address(query), {
					requestInit: requestInit(token),
				}),
			);
			return client as unknown as AnyClient;
		},
	],
	[
		"@modelcontextprotocol/client 2.x with initialize",
		async (token, query) => {
			const client = new ModernClient(INFO, {
				versionNegotiation: { mode: "legacy" },
			});
			await client.connect(
				new ModernTransport(address(query), {
					requestInit: requestInit(token),
				}),
			);
			return client as unknown as AnyClient;
		},
	],
];

describe.each(clients)("%s", (_, connect) => {
	test("reads the instructions, lists the tools and calls them", async () => {
		const client = await connect(tools.member.token);
		expect(client.getInstructions()).toContain("listOrganizations");
		const { tools: listed } = await client.listTools();
		expect(listed.map(({ name }) => name)).toContain("addRisk");
		const added = await client.callTool({
			name: "addRisk",
			arguments: { organization_id: tools.organizationId, ...RISK },
		});
		expect(added.isError).toBeFalsy();
		expect(added.structuredContent.risk).toMatchObject(RISK);
		expect(JSON.parse(added.content[0].text)).toEqual(added.structuredContent);
		const read = await client.callTool({
			name: "getRisk",
			arguments: { id: added.structuredContent.risk.id },
		});
		expect(read.structuredContent).toEqual(added.structuredContent);
		await client.close();
	});

	test("gets what is wrong with the input as a result that teaches", async () => {
		const client = await connect(tools.member.token);
		const { isError, content } = await client.callTool({
			name: "addRisk",
			arguments: { organization_id: tools.organizationId, treatment: "HIDE" },
		});
		expect(isError).toBe(true);
		expect(content[0].text).toContain("treatment: must be one of MITIGATED");
		expect(content[0].text).toContain("name: is required");
		await client.close();
	});

	test("gets the words of a refusal by role", async () => {
		const client = await connect(tools.viewer.token);
		await expect(
			client.callTool({
				name: "addRisk",
				arguments: { organization_id: tools.organizationId, ...RISK },
			}),
		).rejects.toThrow(/permission denied: addRisk needs the role member/);
		await client.close();
	});

	test("sees only what its address narrows the tools to", async () => {
		const client = await connect(
			tools.admin.token,
			"?toolsets=risks&readonly=true",
		);
		const { tools: listed } = await client.listTools();
		expect(listed.map(({ name }) => name)).toEqual([
			"listOrganizations",
			"listRisks",
			"getRisk",
		]);
		await expect(
			client.callTool({ name: "listVendors", arguments: {} }),
		).rejects.toThrow(/not among those/);
		await client.close();
	});

	test("is refused without a valid token", async () => {
		await expect(connect(makeSecret("pat"))).rejects.toThrow();
	});
});

/** A request of revision 2026-07-28 with its headers. */
function modern(method: string, params: Record<string, unknown> = {}) {
	return {
		body: {
			jsonrpc: "2.0",
			id: 7,
			method,
			params: {
				...params,
				_meta: {
					"io.modelcontextprotocol/protocolVersion": "2026-07-28",
					"io.modelcontextprotocol/clientInfo": INFO,
					"io.modelcontextprotocol/clientCapabilities": {},
				},
			},
		},
		headers: {
			"mcp-protocol-version": "2026-07-28",
			"mcp-method": method,
			...(typeof params.name === "string" ? { "mcp-name": params.name } : {}),
		},
	};
}

const legacy = (method: string, params: object = {}) => ({
	jsonrpc: "2.0",
	id: 7,
	method,
	params,
});

test("plain fetch works: no Accept, no handshake, JSON back", async () => {
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
])("initialize in revision %s is answered in it", async (protocolVersion) => {
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

test("a list of revision 2026-07-28 may be kept five minutes by its client alone", async () => {
	const { body, headers } = modern("tools/list");
	const answer = await tools.rpc(body, { headers });
	expect(answer.status).toBe(200);
	expect(answer.body.result).toMatchObject({
		resultType: "complete",
		ttlMs: 300_000,
		cacheScope: "private",
	});
	const again = await tools.rpc(body, { headers });
	expect(again.body).toEqual(answer.body);
});

test("what is answered here is what the SDK would have answered", async () => {
	const { organizationId: organization_id } = tools;
	const call = modern("tools/call", {
		name: "listRisks",
		arguments: { organization_id },
	});
	for (const { body, headers } of [modern("tools/list"), call]) {
		const direct = await tools.rpc(body, { headers });
		// A name written in Base64 is one of the things left to the SDK, as is a space.
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

test.each([
	[
		"the old revisions",
		(params: Json) => ({ body: legacy("tools/call", params), headers: {} }),
	],
	["2026-07-28", (params: Json) => modern("tools/call", params)],
])("a refusal is HTTP 403 and a JSON-RPC error in %s", async (_, make) => {
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
			error: { message: expect.stringMatching(/^permission denied:/) },
		});
	}
});

test("a record of another organization and one that does not exist are the same tool error", async () => {
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

test("an unknown tool is the JSON-RPC error −32602", async () => {
	for (const name of ["launchRocket", "__proto__", "", "\ud800"]) {
		const { status, body } = await tools.rpc(
			legacy("tools/call", { name, arguments: {} }),
		);
		expect(status).toBe(200);
		expect(body).toMatchObject({ id: 7, error: { code: -32602 } });
	}
});

test("U+0000 in an argument is a tool error that names it", async () => {
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

test("a batch gets an answer for each request, whatever its ids and cancellations", async () => {
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

test("only POST is possible, once the credential is right: 405 with Allow: POST", async () => {
	for (const method of ["GET", "DELETE", "PUT", "HEAD"]) {
		const send = (headers: Record<string, string>) =>
			fetch(address(), { method, headers });
		const allowed = await send(requestInit(tools.admin.token).headers);
		expect(allowed.status, method).toBe(405);
		expect(allowed.headers.get("allow")).toBe("POST");
		expect((await send({})).status, method).toBe(401);
	}
});

test("a missing, malformed or unknown token is 401 and the body says which", async () => {
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
		expect(await response.text()).toMatch(says);
	}
});

test("what is no JSON-RPC is refused with its JSON-RPC error", async () => {
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

test("a body that is not declared as JSON is 415", async () => {
	const answer = await tools.rpc(legacy("ping"), {
		headers: { "content-type": "text/plain" },
	});
	expect(answer.status).toBe(415);
	expect(answer.body.error.message).toContain("Content-Type");
});

test("toolsets and readonly narrow by address and by header, and both together", async () => {
	const names = async (query: string, headers = {}) => {
		const { body } = await tools.rpc(legacy("tools/list"), { query, headers });
		return body.result.tools.map(({ name }: Json) => name) as string[];
	};
	const all = await names("");
	const vendors = await names("?toolsets=vendors");
	expect(vendors).toHaveLength(6);
	// Its ids are what every other tool begins with.
	expect(vendors[0]).toBe("listOrganizations");
	expect(await names("", { "x-mcp-toolsets": "vendors" })).toEqual(vendors);
	expect(await names("?toolsets=all")).toEqual(all);
	expect(
		await names("?toolsets=risks,vendors", { "x-mcp-toolsets": "vendors" }),
	).toEqual(vendors);
	expect(
		await names("?toolsets=vendors", { "x-mcp-readonly": "true" }),
	).toEqual(["listOrganizations", "listVendors", "getVendor"]);
	// What was misspelt or left empty must not fail open.
	for (const query of [
		"?toolsets=rockets",
		"?readonly=maybe",
		"?readonly",
		"?readOnly=true",
		"?toolset=risks",
	]) {
		const { status, body } = await tools.rpc(legacy("tools/list"), { query });
		expect(status).toBe(400);
		expect(body).toMatchObject({ id: 7, error: { code: -32602 } });
	}
});

test("the list shows what the role may call in at least one organization, in fixed order", async () => {
	const list = async (token: string) => {
		const { body } = await tools.rpc(legacy("tools/list"), { token });
		return body.result.tools as Json[];
	};
	const [viewer, member, admin] = await Promise.all(
		[tools.viewer, tools.member, tools.admin].map(({ token }) => list(token)),
	);
	const names = (listed: Json[] = []) => listed.map(({ name }) => name);
	expect(names(viewer)).not.toContain("addRisk");
	expect(viewer?.every((tool) => tool.annotations.readOnlyHint)).toBe(true);
	expect(names(member)).toContain("addRisk");
	expect(names(member)).not.toContain("deleteRisk");
	expect(names(admin)).toContain("deleteRisk");
	expect(names(admin).filter((name) => names(member).includes(name))).toEqual(
		names(member),
	);
	const both = await tools.makeUser({
		[tools.organizationId]: "viewer",
		[tools.otherOrganizationId]: "admin",
	});
	expect(names(await list(both.token))).toEqual(names(admin));
});

test("health says ok with a token and 401 without", async () => {
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

test("who looks for an authorization server finds JSON that says there is none", async () => {
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

test("a token's use is known by the client's own name", async () => {
	const user = await tools.makeUser({ [tools.organizationId]: "viewer" });
	const { body, headers } = modern("tools/call", {
		name: "listRisks",
		arguments: { organization_id: tools.organizationId },
	});
	await tools.rpc(body, { headers, token: user.token });
	await expect
		.poll(async () => {
			const { rows } = await tools.database.owner.query(
				`select t.last_used_client, t.last_used_address, u.tool, u.calls, u.errors
					 from api_tokens t join api_token_usage u on u.token_id = t.id where t.id = $1`,
				[user.tokenId],
			);
			return rows;
		})
		.toEqual([
			{
				last_used_client: "assay-test/1.2.3",
				last_used_address: "127.0.0.1",
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
])("%s with the params %j is −32602 and says in words what is wrong", async (method, params, says) => {
	const { body } = await tools.rpc({ jsonrpc: "2.0", id: 1, method, params });
	expect(body).toMatchObject({
		jsonrpc: "2.0",
		id: 1,
		error: { code: -32602 },
	});
	expect(body.error.message).toMatch(says);
	expect(body.error.message).not.toContain("{");
});
