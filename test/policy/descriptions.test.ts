import { describe, expect, test } from "vitest";
import { INSTRUCTIONS } from "../../src/mcp/instructions.ts";
import type { JsonSchema } from "../../src/mcp/json-schema.ts";
import type { AnyOperation } from "../../src/operation.ts";
import { operations } from "../../src/operations.ts";
import type { Role } from "../../src/principal.ts";
import { byName, catalogue, walk } from "../support/every-tool.ts";

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
