import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { z } from "zod";
import { CHECK_KEYS_TEXT } from "../../src/devices/check-keys.ts";
import { Catalogue, type Tool } from "../../src/mcp/catalogue.ts";
import { type JsonSchema, terse } from "../../src/mcp/json-schema.ts";
import type { Toolsets } from "../../src/mcp/narrowing.ts";
import { operations } from "../../src/operations.ts";
import type { Principal } from "../../src/principal.ts";
import {
	choice,
	optionalText,
	owner,
	requiredName,
} from "../../src/records/field.ts";
import { type AnyRecordKind, recordKind } from "../../src/records/kind.ts";
import { byText } from "../../src/records/list-pages.ts";
import { recordOperations } from "../../src/records/operations.ts";
import { described, obvious } from "../../src/records/shown-in-tool-list.ts";
import { recordKinds } from "../../src/registers/all.ts";
import { byName, catalogue } from "../support/every-tool.ts";

/** Number of registers. Each has five tools in the list, and some other tools name each. */
const KINDS = recordKinds.length;
/** The bytes of the keys of the checks, which some tools name. */
const KEYS = Buffer.byteLength(CHECK_KEYS_TEXT);

/**
 * Largest number of bytes in the list of tools, by a tool's name or the verb that it begins with.
 */
const MAX_BYTES: Record<string, number> = {
	list: 2_900,
	get: 550,
	add: 1_700,
	update: 1_100,
	delete: 400,
	other: 1_000,
	// Devices have twice as many filters as a register.
	listDevices: 3_615 + KEYS,
	searchRecords: 790 + 15 * KINDS,
	// The kinds, and the fields by which it groups.
	countRecords: 535 + 40 * KINDS + KEYS,
	// The rules of the checks. The default list leaves it out.
	updateDevicePolicy: 2_800,
	setDeviceGroupPolicy: 2_600,
	// The tools of registers, by the number of their fields.
	...Object.fromEntries(
		recordKinds.flatMap(({ tool, fields }) => {
			const count = Object.keys(fields).length;
			return [
				[`add${tool.one}`, 600 + 100 * count],
				[`update${tool.one}`, 450 + 50 * count],
			];
		}),
	),
};

const admin: Principal = {
	kind: "TOKEN",
	userId: "",
	name: "",
	memberships: [{ organizationId: "", role: "admin" }],
};

const sizeOf = (tools: Catalogue, toolsets: Toolsets) =>
	Buffer.byteLength(tools.listJson(admin, { toolsets, isReadOnly: false }));

/** Names the toolsets with their sizes, for the message of a failure. */
function sizesOfToolsets(): string {
	const sizes = catalogue.toolsets.map((name) => {
		const tools = [...catalogue.tools.values()].filter(
			({ operation }) => operation.toolset === name,
		);
		const bytes = tools.reduce((sum, { json }) => sum + json.length, 0);
		return { name, bytes };
	});
	return sizes
		.sort((a, b) => b.bytes - a.bytes)
		.map(({ name, bytes }) => `${name} ${bytes}`)
		.join(", ");
}

/** Returns the names of the five tools of a register. */
const namesOfTools = ({ tool }: AnyRecordKind) => [
	`list${tool.many}`,
	...["get", "add", "update", "delete"].map((verb) => `${verb}${tool.one}`),
];

const bytesOf = (tools: readonly Tool[]) =>
	tools.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0);

test("the default list stays under 90 KB, and two registers under 12 KB", () => {
	expect(sizeOf(catalogue, undefined), sizesOfToolsets()).toBeLessThan(90_000);
	expect(sizeOf(catalogue, ["measures", "risks"])).toBeLessThan(12_000);
});

test.each([
	{ list: "default", toolsets: undefined, most: 25_830 },
	{ list: "whole", toolsets: "all", most: 63_730 },
] as const)("in the $list list, the tools besides those of registers grow only by the names of kinds", ({
	toolsets,
	most,
}) => {
	const own = new Set(recordKinds.flatMap(namesOfTools));
	const others = catalogue
		.list(admin, { toolsets, isReadOnly: false })
		.filter(({ operation }) => !own.has(operation.name));
	expect(others.length).toBeGreaterThan(30);
	expect(bytesOf(others), sizesOfToolsets()).toBeLessThanOrEqual(
		most + 80 * KINDS,
	);
});

test.each(
	recordKinds,
)("the tools of $kind take at most 2,300 bytes and 200 for each field", (kind) => {
	const tools = namesOfTools(kind).map((name) => catalogue.tools.get(name));
	const found = tools.filter((tool) => tool !== undefined);
	expect(found).toHaveLength(5);
	expect(bytesOf(found)).toBeLessThanOrEqual(
		2_300 + 200 * Object.keys(kind.fields).length,
	);
});

test.each(
	byName,
)("%s takes at most as many bytes of the list as its verb may", (_, tool) => {
	const verb = /^(list|get|add|update|delete)/.exec(tool.operation.name)?.[0];
	expect(Buffer.byteLength(tool.json)).toBeLessThanOrEqual(
		MAX_BYTES[tool.operation.name] ?? MAX_BYTES[verb ?? "other"] ?? 0,
	);
});

test("a register of four fields adds at most 2.6 KB", () => {
	const waiver = recordKind({
		kind: "risk",
		table: "waivers",
		tool: { one: "Waiver", many: "Waivers" },
		key: { one: "waiver", many: "waivers" },
		noun: "waiver",
		nouns: "waivers",
		help: "A waiver permits a deviation from a measure.",
		title: "name",
		fields: {
			name: requiredName("Deviation in a few words"),
			description: optionalText("Reason for it"),
			status: choice(
				["REQUESTED", "APPROVED", "ENDED"],
				"Progress",
				"REQUESTED",
			),
			owner_id: owner(),
		},
		brief: ["name", "status", "owner_id"],
		orders: { name: byText("name") },
		filters: ["status", "owner_id"],
	});
	const more = new Catalogue([...operations, ...recordOperations(waiver)]);
	const added = sizeOf(more, undefined) - sizeOf(catalogue, undefined);
	expect(added).toBeGreaterThan(1_500);
	expect(added).toBeLessThanOrEqual(2_660);
});

test("the toolsets that the guide names for clients with a limit have at most 40 tools", () => {
	const guide = readFileSync("docs/mcp.md", "utf8");
	const [, named = ""] = /^ {4}\?toolsets=(\S+)$/m.exec(guide) ?? [];
	const toolsets = named.split(",");
	expect(catalogue.toolsets).toEqual(expect.arrayContaining(toolsets));
	const few = catalogue.list(admin, { toolsets, isReadOnly: false });
	expect(few.length).toBeGreaterThan(30);
	expect(few.length).toBeLessThanOrEqual(40);
});

/** Returns the properties of an object as the list of tools shows them. */
const listed = (shape: Record<string, z.ZodType>) =>
	terse(z.strictObject(shape)).properties as Record<string, JsonSchema>;

test("the list leaves out a description that only repeats the name", () => {
	expect(
		listed({
			due_date: z.string().max(10).describe("Due date, YYYY-MM-DD"),
			ends_on: z.string().max(10).describe("Last day in force, YYYY-MM-DD"),
			severity: z.enum(["MINOR"]).describe("Severity; MINOR by default"),
			cause: z.string().describe("Cause of the damage"),
		}),
	).toEqual({
		due_date: { type: "string" },
		ends_on: { type: "string", description: "Last day in force" },
		severity: {
			type: "string",
			enum: ["MINOR"],
			description: "MINOR by default",
		},
		cause: { type: "string", description: "Cause of the damage" },
	});
});

test("the list shows each property as its mark says", () => {
	const states = z.enum(["OPEN", "DONE"]);
	expect(
		listed({
			state: z.union([states, z.array(states)]).meta(obvious("One or several")),
			changed: states.nullable().meta(described("Progress", "type")),
			tags: z.array(states).meta(described("Tags it has", "type")),
			added: states.nullable().meta(described("Progress", "filled")),
			cursor: z.string().nullable().meta(described("Next", "bare")),
			alias: z.string().meta(described("As state", "nothing")),
		}),
	).toEqual({
		state: {
			type: "array",
			items: { type: "string", enum: ["OPEN", "DONE"] },
		},
		changed: { type: ["string", "null"] },
		tags: { type: "array", items: { type: "string" } },
		added: {
			type: "string",
			enum: ["OPEN", "DONE"],
			description: "Progress",
		},
		cursor: { type: "string" },
	});
});
