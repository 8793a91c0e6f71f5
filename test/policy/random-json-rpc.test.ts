import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await startTools();
});
afterAll(() => tools.close());

test("JSON-RPC of any shape is never answered with 5xx", async () => {
	const method = fc.constantFrom(
		"tools/call",
		"tools/list",
		"initialize",
		"ping",
		"server/discover",
		"subscriptions/listen",
		"notifications/cancelled",
		"notifications/initialized",
		"logging/setLevel",
		"__proto__",
	);
	const meta = fc.record(
		{
			"io.modelcontextprotocol/protocolVersion": fc.constantFrom<unknown>(
				"2026-07-28",
				"2099-01-01",
				7,
			),
			"io.modelcontextprotocol/clientInfo": fc.constantFrom<unknown>(
				{ name: "\0\ud800", version: "1" },
				{ name: "x", version: {} },
				null,
			),
			"io.modelcontextprotocol/clientCapabilities": fc.constantFrom<unknown>(
				{},
				null,
			),
		},
		{ requiredKeys: [] },
	);
	const params = fc.oneof(
		fc.jsonValue(),
		fc.record(
			{
				name: fc.constantFrom<unknown>("listOrganizations", "x", 7, null),
				arguments: fc.oneof(fc.constant({}), fc.jsonValue()),
				protocolVersion: fc.constantFrom<unknown>("2025-06-18", "x", 7),
				capabilities: fc.jsonValue(),
				clientInfo: fc.jsonValue(),
				requestId: fc.constantFrom(1, "x"),
				notifications: fc.jsonValue(),
				requestState: fc.jsonValue(),
				inputResponses: fc.jsonValue(),
				_meta: meta,
			},
			{ requiredKeys: [] },
		),
	);
	const message = fc.record(
		{
			jsonrpc: fc.constantFrom<unknown>("2.0", "2.0", "2.0", "1.0", 2),
			id: fc.constantFrom<unknown>(1, 1, "x", 1.5, null, {}),
			method,
			params,
		},
		{ requiredKeys: [] },
	);
	const body = fc.oneof(
		{ weight: 8, arbitrary: message },
		{ weight: 2, arbitrary: fc.array(message, { maxLength: 4 }) },
		{ weight: 1, arbitrary: fc.jsonValue() },
	);
	const headers = fc.record(
		{
			"mcp-protocol-version": fc.constantFrom("2026-07-28", "2025-06-18", "x"),
			"mcp-method": fc.constantFrom("tools/call", "tools/list", "x"),
			"mcp-name": fc.constantFrom("listOrganizations", "=?base64?!?="),
			"mcp-session-id": fc.constant("x"),
		},
		{ requiredKeys: [] },
	);
	await fc.assert(
		fc.asyncProperty(body, headers, async (given, extra) => {
			const answer = await fetch(`${tools.url}/api/mcp/v1`, {
				method: "POST",
				headers: {
					authorization: `Bearer ${tools.admin.token}`,
					"content-type": "application/json",
					...extra,
				},
				body: JSON.stringify(given),
			});
			const text = await answer.text();
			expect(answer.status, text).toBeLessThan(500);
			expect(text).not.toMatch(/node_modules|\.ts:\d/);
		}),
		{ numRuns: 150 },
	);
});

test("deeply nested brackets are rejected and do not crash the service", async () => {
	const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
	const answers = [
		await tools.call("listRisks", `{"organization_id":${deep}}`),
		await tools.call("listRisks", `{"filter":${deep}}`),
		await tools.rpc(deep),
		await tools.rpc(
			`{"jsonrpc":"2.0","id":1,"method":"ping","params":${deep}}`,
		),
		await tools.rpc(
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"listRisks","arguments":{"filter":${deep}}}}`,
		),
	];
	for (const { status } of answers) expect(status).toBeLessThan(500);
});
