import { expect, test } from "vitest";
import type { z } from "zod";
import { SOURCE_PARAMETER } from "../../src/http/read-source.ts";
import { type JsonSchema, toJsonSchema } from "../../src/mcp/json-schema.ts";
import { MCP_PARAMETERS } from "../../src/mcp/narrowing.ts";
import type { AnyOperation } from "../../src/operation.ts";
import { operations } from "../../src/operations.ts";

/** A field of an input, also one within an object or a list. */
interface Field {
	/** Names on the way to the field. 0 stands for the first item of a list. */
	path: (string | number)[];
	schema: JsonSchema;
}

function* fieldsOf(
	schema: JsonSchema,
	path: (string | number)[] = [],
): Generator<Field> {
	for (const each of (schema.anyOf as JsonSchema[]) ?? [schema]) {
		yield { path, schema: each };
		const properties = (each.properties ?? {}) as Record<string, JsonSchema>;
		for (const [name, inner] of Object.entries(properties)) {
			yield* fieldsOf(inner, [...path, name]);
		}
		if (each.items) yield* fieldsOf(each.items as JsonSchema, [...path, 0]);
	}
}

/** Returns every field whose JSON Schema has this type, in every operation. */
function allFields(type: string): [string, AnyOperation, Field][] {
	return (operations as readonly AnyOperation[]).flatMap((operation) =>
		[...fieldsOf(toJsonSchema(operation.input, "input"))]
			.filter(({ schema }) => [schema.type].flat().includes(type))
			.map((field): [string, AnyOperation, Field] => [
				`${operation.name} ${field.path.join(".")}`,
				operation,
				field,
			]),
	);
}

/** Returns an input that contains only `value`, at the path. */
function inputWith(path: Field["path"], value: unknown): unknown {
	return path.reduceRight<unknown>(
		(inner, name) => (name === 0 ? [inner] : { [name]: inner }),
		value,
	);
}

/** Returns the issues about the field at the path, also those within it. */
function issuesAt(
	operation: AnyOperation,
	path: Field["path"],
	value: unknown,
): z.core.$ZodIssue[] {
	const { error } = operation.input.safeParse(inputWith(path, value)) as {
		error?: z.ZodError;
	};
	return (error?.issues ?? [])
		.flatMap((issue) =>
			issue.code === "invalid_union"
				? issue.errors.flatMap((issues) =>
						issues.map((one) => ({
							...one,
							path: [...issue.path, ...one.path],
						})),
					)
				: [issue],
		)
		.filter((issue) => path.every((name, at) => issue.path[at] === name));
}

test.each(
	allFields("array"),
)("%s has a limit of entries, and a longer list is rejected before its entries are examined", (_, operation, field) => {
	const { maxItems } = field.schema;
	expect(maxItems).toBeGreaterThan(0);
	const issues = issuesAt(
		operation,
		field.path,
		Array(Number(maxItems) + 1).fill(0),
	);
	expect(issues.some(({ code }) => code === "too_big")).toBe(true);
	expect(issues.filter(({ path }) => path.length > field.path.length)).toEqual(
		[],
	);
});

test.each(
	allFields("string"),
)("%s has a limit of characters, and a longer text is rejected before any other check", (_, operation, field) => {
	const { maxLength } = field.schema;
	const tooLong = Number(maxLength ?? 20_000) + 1;
	for (const text of ["a".repeat(tooLong), " ".repeat(tooLong)]) {
		const issues = issuesAt(operation, field.path, text);
		expect(issues.length).toBeGreaterThan(0);
		if (maxLength === undefined) continue;
		expect(issues.filter(({ code }) => code !== "too_big")).toEqual([]);
	}
});

test("no input that a query string may hold has the name of a parameter of the server", () => {
	const taken = new Set([...MCP_PARAMETERS, SOURCE_PARAMETER]);
	const names = (operations as readonly AnyOperation[]).flatMap(
		({ name, input, isReadOnly }) =>
			Object.keys(toJsonSchema(input, "input").properties ?? {})
				.filter((field) => isReadOnly && taken.has(field))
				.map((field) => `${name} ${field}`),
	);
	expect(names).toEqual([]);
});
