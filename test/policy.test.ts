import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeId } from "../src/id.ts";
import { Catalogue, type Tool } from "../src/mcp/catalogue.ts";
import { INSTRUCTIONS } from "../src/mcp/instructions.ts";
import type { JsonSchema } from "../src/mcp/json-schema.ts";
import type { AnyOperation } from "../src/operation.ts";
import { operations } from "../src/operations.ts";
import type { Role } from "../src/principal.ts";
import { type Json, startTools, type TestTools } from "./support/tools.ts";

/**
 * This file checks the promises of the interface for every operation. It loops over the list of
 * operations.
 */

const catalogue = new Catalogue(operations);
const all: Tool[] = [...catalogue.tools.values()];
const byName = all.map((tool) => [tool.operation.name, tool] as const);

let tools: TestTools;
beforeAll(async () => {
	tools = await startTools();
});
afterAll(() => tools.close());

/** Returns all schemas inside a schema, each with its path. */
function walk(schema: JsonSchema, path = ""): [string, JsonSchema][] {
	const properties = Object.entries(
		(schema.properties ?? {}) as Record<string, JsonSchema>,
	).flatMap(([name, inner]) => walk(inner, `${path}.${name}`));
	const others = [schema.anyOf, schema.oneOf, schema.items]
		.flat()
		.filter((inner) => inner !== undefined)
		.flatMap((inner) => walk(inner as JsonSchema, `${path}[]`));
	return [[path, schema], ...properties, ...others];
}

describe("the description for clients", () => {
	test.each(
		byName,
	)("%s and each of its properties have a description", (_, tool) => {
		const { description, title, inputSchema } = tool.definition;
		expect(title.length).toBeGreaterThan(3);
		expect(description.length).toBeGreaterThan(20);
		expect(description).toMatch(/[.]$/);
		for (const [path, schema] of walk(inputSchema)) {
			const properties = (schema.properties ?? {}) as Record<
				string,
				JsonSchema
			>;
			for (const [name, property] of Object.entries(properties)) {
				expect(property.description, `${path}.${name}`).toBeTruthy();
			}
			if (schema.type === "object" && schema.properties) {
				expect(schema.additionalProperties, path).toBe(false);
			}
		}
		expect(tool.json).not.toContain("$schema");
		expect(tool.json).not.toContain("$ref");
	});

	test.each(
		byName,
	)("%s has all four hints, and they are consistent", (_, tool) => {
		const { annotations } = tool.definition;
		expect(Object.keys(annotations).sort()).toEqual([
			"destructiveHint",
			"idempotentHint",
			"openWorldHint",
			"readOnlyHint",
		]);
		const { access, name } = tool.operation;
		if (annotations.readOnlyHint) {
			expect(annotations.destructiveHint).toBe(false);
			expect(annotations.idempotentHint).toBe(true);
			expect(["read", "self", "admin"]).toContain(access);
			expect(name).toMatch(/^(list|get|search)/);
		} else {
			expect(access).not.toBe("read");
		}
		if (/^(delete|revoke)/.test(name)) {
			expect(annotations.destructiveHint).toBe(true);
			expect(access).toBe("admin");
		}
	});

	test("names are unique and have a format that every client accepts", () => {
		for (const { name, toolset } of operations as readonly AnyOperation[]) {
			expect(name).toMatch(/^[a-z][A-Za-z]{2,63}$/);
			expect(toolset).toMatch(/^[a-z_]+$/);
		}
		const names = operations.map(({ name }) => name);
		expect(new Set(names).size).toBe(names.length);
	});

	test("the whole list stays under 90 KB, and the list for two registers under 25 KB", () => {
		const admin = {
			kind: "TOKEN" as const,
			userId: "",
			name: "",
			memberships: [{ organizationId: "", role: "admin" as Role }],
		};
		const size = (toolsets: string[] | undefined) =>
			Buffer.byteLength(
				catalogue.listJson(admin, { toolsets, isReadOnly: false }),
			);
		expect(size(undefined)).toBeLessThan(90_000);
		expect(size(["measures", "risks"])).toBeLessThan(25_000);
	});

	test("the instructions are at most 2 KB and name only tools that exist", () => {
		expect(Buffer.byteLength(INSTRUCTIONS)).toBeLessThanOrEqual(2048);
		const named = INSTRUCTIONS.match(
			/\b(list|get|add|update|delete|search|link)[A-Z]\w+/g,
		);
		expect(named?.length).toBeGreaterThan(5);
		for (const name of named ?? []) {
			expect(catalogue.tools.has(name), name).toBe(true);
		}
	});
});

/**
 * One complete record of the organization of each kind, for example a risk under `Risk`. The add
 * operations create them.
 */
const seeds = new Map<string, Json>();

/** Returns the smallest value that a schema accepts. */
function leastOf(name: string, schema: JsonSchema): unknown {
	if (name === "organization_id") return tools.organizationId;
	if (name.endsWith("_id")) {
		const kind = name.slice(0, -"_id".length);
		return seeds.get(`${kind[0]?.toUpperCase()}${kind.slice(1)}`)?.id;
	}
	if (name.includes("email")) return "ada@example.com";
	if (Array.isArray(schema.enum)) return schema.enum[0];
	return schema.type === "integer" ? (schema.minimum ?? 0) : "Least";
}

beforeAll(async () => {
	for (const [name, { definition }] of byName) {
		if (!name.startsWith("add")) continue;
		const { properties, required } = definition.inputSchema as Json;
		const names = (required ?? []) as string[];
		const added = await tools.use(
			name,
			Object.fromEntries(
				names.map((each) => [each, leastOf(each, properties[each])]),
			),
		);
		seeds.set(name.slice("add".length), Object.values<Json>(added)[0]);
	}
});

/** Returns an input that names the organization in the field that the operation expects. */
function inputFor({ tenant, name }: AnyOperation): Record<string, unknown> {
	if (tenant === null) return {};
	const seed = seeds.get(name.replace(/^[a-z]+/, "")) ?? seeds.get("Risk");
	return {
		[tenant]: tenant === "organization_id" ? tools.organizationId : seed.id,
	};
}

describe("callers without permission", () => {
	test.each(byName)("%s answers 401 without a token", async (name) => {
		const answer = await tools.call(name, {}, "");
		expect(answer.status).toBe(401);
	});

	test.each(
		byName,
	)("%s returns nothing to a member of another organization", async (name, {
		operation,
		definition,
	}) => {
		const input = inputFor(operation);
		// All other values of the input are valid, so only the organization can be the reason.
		const { properties, required = [] } = definition.inputSchema as Json;
		for (const each of required as string[]) {
			input[each] ??= leastOf(each, properties[each]) ?? seeds.get("Risk").id;
		}
		const answer = await tools.call(name, input, tools.stranger.token);
		const text = JSON.stringify(answer.body);
		if (operation.tenant === null) {
			expect(text).not.toContain(tools.organizationId);
		} else if (operation.tenant === "organization_id") {
			expect(answer.status).toBe(403);
		} else {
			expect([400, 404], text).toContain(answer.status);
		}
		expect(text).not.toContain("Least");
	});

	test("callers without permission cannot change anything in an organization", async () => {
		for (const [kind, seed] of seeds) {
			if (!catalogue.tools.has(`get${kind}`)) continue;
			const read = await tools.use(`get${kind}`, { id: seed.id });
			expect(Object.values<Json>(read)[0]).toMatchObject(seed);
		}
	});

	test.each(
		byName.filter(([, { operation }]) =>
			["write", "admin"].includes(operation.access),
		),
	)("%s answers 403 to a role that is too low", async (name, { operation }) => {
		const users =
			operation.access === "admin"
				? [tools.viewer, tools.member]
				: [tools.viewer];
		for (const { token } of users) {
			const input = inputFor(operation);
			const answer = await tools.call(name, input, token);
			expect(answer.status).toBe(403);
			expect(answer.body.message).toMatch(/^permission denied:/);
		}
	});
});

describe("lists", () => {
	const lists = byName.filter(
		([, { definition }]) =>
			(definition.inputSchema as Json).properties.order_by,
	);
	test.each(
		lists,
	)("%s supports every order and direction that it offers, and continues with the cursor", async (name, {
		operation,
		definition,
	}) => {
		const { properties } = definition.inputSchema as Json;
		for (const field of properties.order_by.properties.field.enum) {
			for (const direction of ["ASC", "DESC"]) {
				const input = {
					...inputFor(operation),
					size: 1,
					order_by: { field, direction },
				};
				const { next_cursor } = await tools.use(name, input);
				await tools.use(name, { ...input, cursor: next_cursor });
			}
		}
	});
});

/** Generates valid values of a schema, values that are nearly valid, and nonsense. */
function junkFor(schema: JsonSchema): fc.Arbitrary<unknown> {
	const types = [schema.type].flat();
	const options: fc.Arbitrary<unknown>[] = [
		fc.constantFrom<unknown>(null, "", 0, -1, 1e308, "\0", "\ud800", [], {}),
		fc.string({ unit: "binary" }),
		fc.constantFrom("__proto__", "A".repeat(32), "1900-02-30", "%", "'; --"),
	];
	if (Array.isArray(schema.enum)) options.push(fc.constantFrom(...schema.enum));
	if (types.includes("integer"))
		options.push(fc.integer({ min: -5, max: 200 }));
	if (types.includes("string")) {
		options.push(
			fc.constantFrom(
				"plain text",
				"2026-01-31",
				"https://example.com/",
				"a@example.com",
				"DE",
				tools.organizationId,
				makeId(tools.organizationId, "people"),
			),
			fc.string({ unit: "grapheme", maxLength: 20 }),
		);
	}
	if (schema.type === "object" && schema.properties) {
		options.push(inputOf(schema), inputOf(schema));
	}
	if (types.includes("array") && schema.items) {
		options.push(
			fc.array(junkFor(schema.items as JsonSchema), { maxLength: 3 }),
		);
	}
	for (const inner of (schema.anyOf ?? []) as JsonSchema[]) {
		options.push(junkFor(inner));
	}
	return fc.oneof(...options);
}

function inputOf(schema: JsonSchema): fc.Arbitrary<Record<string, unknown>> {
	const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
	return fc
		.record(
			Object.fromEntries(
				Object.entries(properties).map(([name, inner]) => [
					name,
					junkFor(inner),
				]),
			),
			{ requiredKeys: [] },
		)
		.chain((record) =>
			fc.boolean().map((isMore) =>
				// Most inputs have no additional argument. If all had one, none would pass the validation
				// and reach the code behind it.
				isMore && Object.keys(record).length === 0
					? { ...record, ["__proto__"]: 1, surplus: "\0" }
					: record,
			),
		);
}

describe("random input", () => {
	test.each(
		byName,
	)("%s never answers 5xx at either door, whatever its arguments", async (name, {
		operation,
		definition,
	}) => {
		const isSafe = !/^(removeMember|updateMember)$/.test(name);
		const organization = fc.constant(inputFor(operation));
		await fc.assert(
			fc.asyncProperty(
				inputOf(definition.inputSchema),
				fc.boolean().chain((is) => (is ? organization : fc.constant({}))),
				async (junk, right) => {
					const input = { ...junk, ...right };
					const token = isSafe ? tools.admin.token : tools.member.token;
					const answer = await tools.call(name, input, token);
					expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(500);
					const rpc = await tools.rpc(
						{
							jsonrpc: "2.0",
							id: 1,
							method: "tools/call",
							params: { name, arguments: input },
						},
						{ token },
					);
					expect(rpc.status, JSON.stringify(rpc.body)).toBeLessThan(500);
				},
			),
			{ numRuns: 12 },
		);
	});

	test.each(
		byName.filter(([, { operation }]) => operation.isReadOnly),
	)("%s never answers 5xx to a query string", async (name, { definition }) => {
		const properties = walk(definition.inputSchema)
			.map(([path]) => path.slice(1))
			.filter((path) => path !== "" && !path.includes("["));
		const names = fc.oneof(
			fc.constantFrom("organization_id", ...properties),
			fc.string({ unit: "binary" }),
		);
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.tuple(names, fc.string({ unit: "binary" })), {
					maxLength: 4,
				}),
				async (pairs) => {
					const query = new URLSearchParams([
						["organization_id", tools.organizationId],
						...pairs.filter(([key]) => key !== "toolsets"),
					]);
					const answer = await fetch(
						`${tools.url}/api/mcp/tools/${name}?${query}`,
						{ headers: { authorization: `Bearer ${tools.admin.token}` } },
					);
					const body: Json = await answer.json();
					expect(answer.status, JSON.stringify(body)).toBeLessThan(500);
				},
			),
			{ numRuns: 12 },
		);
	});

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
				"mcp-protocol-version": fc.constantFrom(
					"2026-07-28",
					"2025-06-18",
					"x",
				),
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
			{ numRuns: 400 },
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
});
