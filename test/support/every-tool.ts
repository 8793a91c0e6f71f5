import { Catalogue, type Tool } from "../../src/mcp/catalogue.ts";
import type { JsonSchema } from "../../src/mcp/json-schema.ts";
import { operations } from "../../src/operations.ts";

export const catalogue = new Catalogue(operations);

/** Every tool with its name, for tests that check a promise of the interface for each tool. */
export const byName: (readonly [string, Tool])[] = [
	...catalogue.tools.values(),
].map((tool) => [tool.operation.name, tool]);

/** Returns all schemas inside a schema, each with its path. */
export function walk(schema: JsonSchema, path = ""): [string, JsonSchema][] {
	const properties = Object.entries(
		(schema.properties ?? {}) as Record<string, JsonSchema>,
	).flatMap(([name, inner]) => walk(inner, `${path}.${name}`));
	const others = [schema.anyOf, schema.oneOf, schema.items]
		.flat()
		.filter((inner) => inner !== undefined)
		.flatMap((inner) => walk(inner as JsonSchema, `${path}[]`));
	return [[path, schema], ...properties, ...others];
}
