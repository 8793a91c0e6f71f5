import type { JsonSchema } from "../mcp/json-schema.ts";

/** Describes a JSON body in the OpenAPI document. */
export function jsonBody(schema: JsonSchema): JsonSchema {
	return { required: true, content: { "application/json": { schema } } };
}

export function jsonResponse(
	description: string,
	schema: JsonSchema,
): JsonSchema {
	return { description, content: { "application/json": { schema } } };
}

export function errorResponse(description: string): JsonSchema {
	return jsonResponse(description, { $ref: "#/components/schemas/Error" });
}
