import { z } from "zod";

export type JsonSchema = Record<string, unknown>;

/**
 * Returns a schema as JSON Schema 2020-12, either for its `input` or for its `output`. Everything
 * that says nothing new is left out, because models read every byte of a tool's schema again and
 * again.
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

/**
 * Returns an input schema with fewer words, for the list of tools, which a model pays for. It says
 * less than the server checks: the errors say the rest.
 *
 * - A choice that takes one value or several is shown as a list.
 * - Texts do not say how long they may be.
 * - An object whose properties have no descriptions is shown without them, because its own
 *   description names them.
 * - Objects do not say that they have no further properties. Some converters for Gemini also fail
 *   on `additionalProperties: false`.
 */
export function terse(schema: JsonSchema): JsonSchema {
	const convert = (value: unknown): unknown => {
		if (Array.isArray(value)) return value.map(convert);
		if (typeof value !== "object" || value === null) return value;
		const { additionalProperties, maxLength, anyOf, ...rest } =
			withoutPlainProperties(value as JsonSchema);
		const kept = Object.fromEntries(
			Object.entries(rest).map(([name, inner]) => [name, convert(inner)]),
		);
		if (anyOf !== undefined) {
			const [one, several, ...more] = anyOf as JsonSchema[];
			const isOneOrSeveral =
				more.length === 0 &&
				several?.type === "array" &&
				JSON.stringify(several.items) === JSON.stringify(one);
			return isOneOrSeveral
				? { ...kept, type: "array", items: convert(one) }
				: { ...kept, anyOf: convert(anyOf) };
		}
		return additionalProperties === undefined || additionalProperties === false
			? kept
			: { ...kept, additionalProperties };
	};
	return convert(schema) as JsonSchema;
}

function withoutPlainProperties(schema: JsonSchema): JsonSchema {
	const { properties, ...rest } = schema;
	const isPlain =
		rest.type === "object" &&
		rest.description !== undefined &&
		Object.values((properties ?? {}) as Record<string, JsonSchema>).every(
			({ description }) => description === undefined,
		);
	return isPlain ? rest : schema;
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

/** Returns true for the limits that zod gives every whole number. */
function isEmptyLimit(name: string, value: unknown): boolean {
	return (
		(name === "maximum" && value === Number.MAX_SAFE_INTEGER) ||
		(name === "minimum" && value === Number.MIN_SAFE_INTEGER)
	);
}

/**
 * Returns `type: ["string", "null"], …` for `anyOf: [{type: "string", …}, {type: "null"}]`. Returns
 * undefined for any other alternatives.
 */
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
