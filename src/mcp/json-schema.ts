import { z } from "zod";
import type { Shown } from "../records/shown-in-tool-list.ts";

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
	return compact(convert(schema, io), new Set(["shown"])) as JsonSchema;
}

/**
 * Returns an input schema with fewer words, for the list of tools, which a model pays for. It says
 * less than the server checks: the errors say the rest.
 *
 * - A property is shown as its `Shown` says, and without a description that only repeats its name.
 * - A choice that takes one value or several is shown as a list.
 * - Texts and lists do not say how long they may be, and texts have no pattern. Numbers do not say
 *   that they begin at 1.
 * - Dates do not say how they are written, because the instructions do.
 * - Objects do not say which further properties they have. Some converters for Gemini also fail on
 *   `additionalProperties: false`.
 */
export function terse(schema: z.ZodType): JsonSchema {
	return tersely(compact(convert(schema, "input")) as JsonSchema);
}

function tersely(schema: JsonSchema, name = ""): JsonSchema {
	const { type, items, anyOf, properties, required } = schema;
	const shown = schema.shown as Shown | undefined;
	const description = String(schema.description ?? "");
	const [one, several, ...more] = (anyOf ?? []) as JsonSchema[];
	if (one && several) {
		const isOneOrSeveral =
			more.length === 0 &&
			several.type === "array" &&
			JSON.stringify(several.items) === JSON.stringify(one);
		return isOneOrSeveral
			? tersely({ ...schema, ...several, anyOf: undefined }, name)
			: { anyOf: (anyOf as JsonSchema[]).map((each) => tersely(each)) };
	}
	const withoutNull =
		(shown === "filled" || shown === "bare") && Array.isArray(type);
	const kept: JsonSchema = {
		type: withoutNull ? type[0] : type,
		...(items !== undefined && {
			items: tersely({ ...(items as JsonSchema), ...only(shown) }),
		}),
		...(properties !== undefined && {
			properties: Object.fromEntries(
				Object.entries(properties as Record<string, JsonSchema>)
					.filter(([, inner]) => inner.shown !== "nothing")
					.map(([name, inner]) => [name, tersely(inner, name)]),
			),
			required,
		}),
	};
	if (shown === "type") return kept;
	for (const limit of ["minimum", "maximum", "enum", "const"]) {
		const value = schema[limit];
		if (value === undefined || (limit === "minimum" && value === 1)) continue;
		kept[limit] = withoutNull
			? [value].flat().filter((each) => each !== null)
			: value;
	}
	const unsaid = description
		.split("; ")
		.map((part) => part.replace(/, YYYY-MM-DD$/, ""))
		.filter((part) => !isIn(part, name))
		.join("; ");
	return shown === "undescribed" || shown === "bare" || unsaid === ""
		? kept
		: { ...kept, description: unsaid };
}

/** Returns the mark for the items of a list that is marked with `type`. */
function only(shown: Shown | undefined) {
	return shown === "type" ? { shown } : {};
}

/** Words that add nothing to a name. The instructions say how a date is written. */
const SMALL_WORDS = "a an the of on in its it yyyy mm dd".split(" ");

/** Returns true if every word of a description occurs in the name. */
function isIn(description: string, name: string): boolean {
	const said = [...name.split("_"), ...SMALL_WORDS, ""];
	return description
		.toLowerCase()
		.split(/\W+/)
		.every((word) => said.includes(word));
}

/** Converts a schema and leaves out everything that says nothing new. */
function convert(schema: z.ZodType, io: "input" | "output") {
	const { $schema, ...converted } = z.toJSONSchema(schema, {
		io,
		unrepresentable: "any",
	});
	return converted;
}

const NOTHING: ReadonlySet<string> = new Set();

/** Returns the schema without limits that mean nothing, and without the keywords in `left`. */
function compact(value: unknown, left = NOTHING): unknown {
	if (Array.isArray(value)) return value.map((inner) => compact(inner, left));
	if (typeof value !== "object" || value === null) return value;
	const { anyOf, ...rest } = Object.fromEntries(
		Object.entries(value)
			.filter(([name, inner]) => !isEmptyLimit(name, inner) && !left.has(name))
			.map(([name, inner]) => [name, compact(inner, left)]),
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
