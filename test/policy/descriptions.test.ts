import { describe, expect, test } from "vitest";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { instructionsFor } from "../../src/mcp/instructions.ts";
import type { JsonSchema } from "../../src/mcp/json-schema.ts";
import type { AnyOperation } from "../../src/operation.ts";
import { operations } from "../../src/operations.ts";
import type { Principal } from "../../src/principal.ts";
import { toolsetOf } from "../../src/records/kind.ts";
import { recordKinds } from "../../src/registers/all.ts";
import { describeToolsets } from "../../src/tokens/toolset-descriptions.ts";
import { byName, catalogue, walk } from "../support/every-tool.ts";

const ADMIN: Principal = {
	kind: "TOKEN",
	userId: "",
	name: "",
	memberships: [{ organizationId: "", role: "admin" }],
};

describe("the description for clients", () => {
	test.each(
		byName,
	)("%s and each of its properties have a description", (_, tool) => {
		const { title, description } = tool.operation;
		expect(title.length).toBeGreaterThan(3);
		expect(description.length).toBeGreaterThan(10);
		expect(tool.definition.description).toContain(description);
		expect(description).toMatch(/[.]$/);
		for (const [path, schema] of walk(tool.inputSchema)) {
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

	test.each(byName)("%s has consistent hints", (_, tool) => {
		const { annotations } = tool.definition;
		const { access, name } = tool.operation;
		if (annotations.readOnlyHint) {
			expect(annotations).toEqual({ readOnlyHint: true });
			expect(["read", "self", "admin"]).toContain(access);
			expect(name).toMatch(/^(list|get|search|count)/);
		} else {
			expect(access).not.toBe("read");
			// A client takes a tool for a destructive one unless it says that it is not.
			expect(annotations.destructiveHint).toBeTypeOf("boolean");
			expect(annotations.idempotentHint ?? false).toBe(
				tool.operation.isIdempotent,
			);
		}
		if (/^(delete|revoke)/.test(name)) {
			expect(annotations.destructiveHint).toBe(true);
			expect(access).toBe("admin");
		}
	});

	test("every tool that takes a check names the canonical keys", () => {
		const taking = byName.filter(
			([name, { inputSchema }]) =>
				name === "countRecords" ||
				walk(inputSchema).some(([, { properties }]) =>
					Object.keys(properties ?? {}).some((key) =>
						/^(check|check_key|failing_check)$/.test(key),
					),
				),
		);
		expect(taking.map(([name]) => name).sort()).toEqual([
			"addDeviceException",
			"countRecords",
			"listDeviceExceptions",
			"listDevicePostures",
			"listDevices",
			"listPostureSpans",
			"setDeviceGroupPolicy",
			"updateDevicePolicy",
		]);
		for (const [name, { json }] of taking) {
			for (const key of CHECK_KEYS) expect(json, name).toContain(key);
		}
	});

	test("the default list names no tool that it leaves out", () => {
		const lists = ["all", undefined].map((toolsets) =>
			catalogue.list(ADMIN, {
				toolsets: toolsets as "all" | undefined,
				isReadOnly: false,
			}),
		);
		const [all = [], listed = []] = lists;
		const left = all.filter((tool) => !listed.includes(tool));
		expect(left.length).toBeGreaterThan(5);
		for (const { json, operation } of listed) {
			for (const { operation: other } of left) {
				expect(json, operation.name).not.toMatch(
					new RegExp(`\\b${other.name}\\b`),
				);
			}
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

	test("the form for an API token has a sentence for each toolset and for no other", () => {
		const descriptions = describeToolsets();
		expect([...descriptions.keys()].sort()).toEqual(
			[...catalogue.toolsets].sort(),
		);
		for (const [toolset, text] of descriptions) {
			expect(text, toolset).toMatch(/^[A-Z][^.]+\.$/);
		}
	});

	test("the sentences for a read-only token promise no change", () => {
		const reading = describeToolsets(true);
		expect([...reading.keys()]).toEqual([...describeToolsets().keys()]);
		for (const tool of operations as readonly AnyOperation[]) {
			const text = reading.get(tool.toolset);
			if (tool.surface !== "tool" || !tool.isReadOnly) continue;
			expect(text, tool.toolset).not.toMatch(
				/\b(add|approve|change|delete|keep|make|publish|remove|revoke|set|write)\b/i,
			);
		}
	});

	test("the instructions are at most 2 KB, however many registers there are, and name only tools that exist", () => {
		const instructions = instructionsFor(catalogue.toolsets);
		expect(Buffer.byteLength(instructions)).toBeLessThanOrEqual(2048);
		const registers = recordKinds.map(toolsetOf);
		const others = catalogue.toolsets.filter(
			(toolset) => !registers.includes(toolset),
		);
		expect(others.length).toBeGreaterThan(10);
		const few = [...others, ...registers.slice(0, 5)];
		for (const toolset of others) expect(instructions).toContain(toolset);
		for (const toolset of few) expect(instructionsFor(few)).toContain(toolset);
		expect(instructions).toContain(
			"(one for each kind; listOrganizations has all names)",
		);
		const fewer = instructionsFor([...others, ...registers.slice(0, 6)]);
		expect(fewer).toHaveLength(instructions.length);
		const named = instructions.match(
			/\b(list|get|add|update|delete|search|link)[A-Z]\w+/g,
		);
		expect(named?.length).toBeGreaterThan(5);
		for (const name of named ?? []) {
			expect(catalogue.tools.has(name), name).toBe(true);
		}
	});
});
