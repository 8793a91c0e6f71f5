import { z } from "zod";

export type JsonSchema = Record<string, unknown>;

/**
 * Returns a schema as JSON Schema 2020-12, for `input` or `output`. It leaves out everything
 * without information, because models read every byte of a tool's schema over and over.
 */
export function toJsonSchema(
	schema: z.ZodType,
	io: "input" | "output",
): JsonSchema {
	const { $schema, ...converted } = z.toJSONSchema(schema, {
		io,
		unrepresentable: "any",
	});
	return compact(converted) as JsonSchema;
}

function compact(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(compact);
	if (typeof value !== "object" || value === null) return value;
	const { anyOf, ...rest } = Object.fromEntries(
		Object.entries(value)
			.filter(([name, inner]) => !isEmptyLimit(name, inner))
			.map(([name, inner]) => [name, compact(inner)]),
	);
	if (anyOf === undefined) return rest;
	return { ...rest, ...(orNull(anyOf as JsonSchema[]) ?? { anyOf }) };
}

/** True for the limits that zod gives every whole number. */
function isEmptyLimit(name: string, value: unknown): boolean {
	return (
		(name === "maximum" && value === Number.MAX_SAFE_INTEGER) ||
		(name === "minimum" && value === Number.MIN_SAFE_INTEGER)
	);
}

/** Writes `anyOf: [{type: "string", …}, {type: "null"}]` as `type: ["string", "null"], …`. */
function orNull([some, none, ...more]: JsonSchema[]): JsonSchema | undefined {
	const isNull = none?.type === "null" && Object.keys(none).length === 1;
	if (!some || !isNull || more.length > 0 || typeof some.type !== "string") {
		return undefined;
	}
	const { type, enum: values, const: only, ...rest } = some;
	if (only !== undefined) return undefined;
	return {
		...rest,
		type: [type, "null"],
		...(Array.isArray(values) ? { enum: [...values, null] } : {}),
	};
}
