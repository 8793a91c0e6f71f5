import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import type { JsonSchema } from "../../src/mcp/json-schema.ts";
import { anyUnicode } from "../support/any-unicode.ts";
import { byName, walk } from "../support/every-tool.ts";
import { type LeastInputs, makeLeastInputs } from "../support/least-inputs.ts";
import { type Json, startTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let inputs: LeastInputs;
beforeAll(async () => {
	tools = await startTools();
	inputs = await makeLeastInputs(tools);
});
afterAll(() => tools.close());

/** Generates valid values of a schema, values that are nearly valid, and nonsense. */
function junkFor(schema: JsonSchema): fc.Arbitrary<unknown> {
	const types = [schema.type].flat();
	const options: fc.Arbitrary<unknown>[] = [
		fc.constantFrom<unknown>(null, "", 0, -1, 1e308, "\0", "\ud800", [], {}),
		anyUnicode(),
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

test.each(
	byName,
)("%s never answers 5xx at either door, with any arguments", async (name, {
	operation,
	inputSchema,
}) => {
	const isSafe = !/^(removeMember|updateMember)$/.test(name);
	const organization = fc.constant(inputs.tenantOf(operation));
	await fc.assert(
		fc.asyncProperty(
			inputOf(inputSchema),
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
		{ numRuns: 5 },
	);
});

test.each(
	byName.filter(([, { operation }]) => operation.isReadOnly),
)("%s never answers 5xx to a query string", async (name, { inputSchema }) => {
	const properties = walk(inputSchema)
		.map(([path]) => path.slice(1))
		.filter((path) => path !== "" && !path.includes("["));
	const names = fc.oneof(
		fc.constantFrom("organization_id", ...properties),
		anyUnicode(),
	);
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.tuple(names, anyUnicode()), {
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
		{ numRuns: 5 },
	);
});
