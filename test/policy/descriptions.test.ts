import { describe, expect, test } from "vitest";
import { instructionsFor, SMALL_SET } from "../../src/mcp/instructions.ts";
import type { JsonSchema } from "../../src/mcp/json-schema.ts";
import type { Toolsets } from "../../src/mcp/narrowing.ts";
import type { AnyOperation } from "../../src/operation.ts";
import { operations } from "../../src/operations.ts";
import type { Role } from "../../src/principal.ts";
import { byName, catalogue, walk } from "../support/every-tool.ts";

/** Largest number of bytes in the list of tools, by the verb that a tool's name begins with. */
const MAX_BYTES: Record<string, number> = {
	list: 2_900,
	get: 700,
	add: 2_000,
	update: 2_000,
	delete: 500,
	other: 1_100,
};

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
		}
		for (const [path, schema] of walk(tool.inputSchema)) {
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
			expect(name).toMatch(/^(list|get|search|count)/);
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

	const admin = {
		kind: "TOKEN" as const,
		userId: "",
		name: "",
		memberships: [{ organizationId: "", role: "admin" as Role }],
	};

	test("the whole list stays under 90 KB, and the list for two registers under 25 KB", () => {
		const size = (toolsets: Toolsets) =>
			Buffer.byteLength(
				catalogue.listJson(admin, { toolsets, isReadOnly: false }),
			);
		expect(size("all")).toBeLessThan(90_000);
		expect(size(["measures", "risks"])).toBeLessThan(25_000);
	});

	test.each(
		byName,
	)("%s takes at most as many bytes of the list as its verb may", (_, tool) => {
		const verb = /^(list|get|add|update|delete)/.exec(tool.operation.name)?.[0];
		expect(Buffer.byteLength(tool.json)).toBeLessThanOrEqual(
			MAX_BYTES[verb ?? "other"] ?? 0,
		);
	});

	test("the set for clients that take few tools has at most 40", () => {
		const toolsets = [...SMALL_SET].sort();
		const few = catalogue.list(admin, { toolsets, isReadOnly: false });
		expect(few.length).toBeLessThanOrEqual(40);
		expect(catalogue.toolsets).toEqual(expect.arrayContaining(toolsets));
	});

	test("the instructions are at most 2 KB and name only tools that exist", () => {
		const instructions = instructionsFor(catalogue.toolsets);
		expect(Buffer.byteLength(instructions)).toBeLessThanOrEqual(2048);
		for (const toolset of catalogue.toolsets) {
			expect(instructions).toContain(toolset);
		}
		const named = instructions.match(
			/\b(list|get|add|update|delete|search|link)[A-Z]\w+/g,
		);
		expect(named?.length).toBeGreaterThan(5);
		for (const name of named ?? []) {
			expect(catalogue.tools.has(name), name).toBe(true);
		}
	});
});
