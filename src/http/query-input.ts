import { badFields } from "../errors.ts";
import type { JsonSchema } from "../mcp/json-schema.ts";

/**
 * Reads a tool's input from a query string, according to the tool's JSON Schema.
 *
 * - A property of an object is written after a dot (`filter.status=OPEN&order_by.field=name`), or
 *   the whole object is written as JSON.
 * - An array is written by repeating its name for each element.
 * - Numbers, true, false and null are converted where the schema permits them.
 * - A value that does not fit stays text, and an unknown name is kept. The validation of the input
 *   then rejects both and names them.
 */
export function readQueryInput(
	schema: JsonSchema,
	query: Iterable<[string, string]>,
): Record<string, unknown> {
	const input: Record<string, unknown> = {};
	for (const [name, text] of query) {
		let holder = input;
		let shape: JsonSchema | undefined = schema;
		let key = name;
		for (;;) {
			const whole = propertyOf(shape, key);
			const dot: number = whole ? -1 : key.indexOf(".");
			const head = key.slice(0, dot);
			const part: JsonSchema | undefined =
				dot > 0 ? propertyOf(shape, head) : undefined;
			if (!part || !typesOf(part).has("object")) {
				put(holder, key, whole, text);
				break;
			}
			const inner = holder[head];
			if (typeof inner !== "object" || inner === null) holder[head] = {};
			holder = holder[head] as Record<string, unknown>;
			shape = part;
			key = key.slice(dot + 1);
		}
	}
	return input;
}

function put(
	holder: Record<string, unknown>,
	key: string,
	schema: JsonSchema | undefined,
	text: string,
): void {
	const isArray = schema && typesOf(schema).has("array");
	const known = Object.hasOwn(holder, key) ? holder[key] : undefined;
	if (known !== undefined && !isArray) {
		throw badFields([{ field: key, message: "must be given only once" }]);
	}
	const value = isArray
		? [...(Array.isArray(known) ? known : []), readValue(itemsOf(schema), text)]
		: readValue(schema, text);
	// A plain assignment would be wrong, because a key named __proto__ would set the prototype.
	Object.defineProperty(holder, key, {
		value,
		enumerable: true,
		configurable: true,
		writable: true,
	});
}

function readValue(schema: JsonSchema | undefined, text: string): unknown {
	const types = schema ? typesOf(schema) : new Set<unknown>();
	if (types.has("number") || types.has("integer")) {
		if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
	}
	if (types.has("boolean") && (text === "true" || text === "false")) {
		return text === "true";
	}
	if (types.has("null") && text === "null") return null;
	if (types.has("object") && text.startsWith("{")) {
		try {
			return JSON.parse(text);
		} catch {
			return text;
		}
	}
	return text;
}

/** Returns the types that a value may have, according to the schema or its alternatives. */
function typesOf(schema: JsonSchema): Set<unknown> {
	return new Set(alternatives(schema).flatMap(({ type }) => type));
}

function propertyOf(
	schema: JsonSchema | undefined,
	key: string,
): JsonSchema | undefined {
	for (const { properties } of schema ? alternatives(schema) : []) {
		if (properties && Object.hasOwn(properties, key)) {
			return (properties as Record<string, JsonSchema>)[key];
		}
	}
	return undefined;
}

function itemsOf(schema: JsonSchema): JsonSchema | undefined {
	return alternatives(schema).find(({ items }) => items)?.items as
		| JsonSchema
		| undefined;
}

function alternatives(schema: JsonSchema): JsonSchema[] {
	const inner = [schema.anyOf, schema.oneOf].filter(Array.isArray).flat();
	return [schema, ...(inner as JsonSchema[]).flatMap(alternatives)];
}
