import fc from "fast-check";
import { type JsonSchema, toJsonSchema } from "../../src/mcp/json-schema.ts";
import type { AnyOperation } from "../../src/operation.ts";
import { operations } from "../../src/operations.ts";
import { recordKinds } from "../../src/registers/all.ts";
import { validInputs } from "../fuzz/inputs.ts";
import type { Target } from "../fuzz/target.ts";
import { fill, LISTS, OBJECTS, type Shape, TEXTS } from "./shapes.ts";

/** Bytes of a value that is much longer than its field allows. The body stays below 1 MiB. */
const TOO_LONG = (1 << 20) - 16_000;
/** Length of a text, and of a list, whose schema does not say how long it may be. */
const USUAL_LENGTH = 5_000;
const USUAL_ITEMS = 100;
/** Number of generated inputs among which the first valid one is chosen. */
const SAMPLES = 50;

export interface NamedInput {
	name: string;
	/** Makes the input, which may be large. */
	make: () => object;
}

type Input = Record<string, unknown>;

interface Field {
	/** Names of properties on the way to the field. "[]" stands for the first item of a list. */
	path: string[];
	schema: JsonSchema;
}

/**
 * Returns inputs of an operation that are as large and as hostile as possible. The fields come from
 * the operation's own schema, so a new field is covered by itself.
 */
export function* inputsOf(
	target: Target,
	operation: AnyOperation,
): Generator<NamedInput> {
	const base = validInput(target, operation);
	for (const { path, schema } of fieldsOf(schemaOf(operation), [])) {
		for (const [label, value] of valuesFor(schema)) {
			yield {
				name: `${path.join(".")}: ${label}`,
				make: () => setAt(base, path, value()) as object,
			};
		}
	}
	for (const [shape, make] of Object.entries(TEXTS)) {
		yield {
			name: `every field at its largest: ${shape}`,
			make: () => largestInput(target, operation, make),
		};
	}
}

/** Returns calls that add as many records of each kind as fit, each as full as possible. */
export function* fullRecords(target: Target): Generator<NamedInput> {
	for (const { kind, tool } of recordKinds) {
		const add = (operations as readonly AnyOperation[]).find(
			({ name }) => name === `add${tool.one}`,
		);
		if (!add) throw new Error(`there is no tool that adds a ${kind}`);
		for (const [shape, make] of Object.entries(TEXTS)) {
			yield {
				name: `full records of the kind ${kind}: ${shape}`,
				make: () => {
					const record = largestInput(target, add, make);
					const {
						organization_id,
						idempotency_key: _,
						reference_id: __,
						...fields
					} = record;
					const room = TOO_LONG / Buffer.byteLength(JSON.stringify(fields));
					const count = Math.min(50, Math.floor(room));
					return { organization_id, kind, records: Array(count).fill(fields) };
				},
			};
		}
	}
}

function schemaOf({ input }: AnyOperation): JsonSchema {
	return toJsonSchema(input, "input");
}

/** Returns a valid input. If none of the samples is valid, returns the first one. */
function validInput(target: Target, operation: AnyOperation): Input {
	const samples = fc.sample(validInputs(target, operation), {
		numRuns: SAMPLES,
		seed: 1,
	});
	const valid = samples.find(
		(sample) => operation.input.safeParse(sample).success,
	);
	return { organization_id: target.organizationId, ...(valid ?? samples[0]) };
}

/** Returns every field of a schema, also those within objects and lists. */
function* fieldsOf(schema: JsonSchema, path: string[]): Generator<Field> {
	for (const each of alternatives(schema)) {
		const properties = (each.properties ?? {}) as Record<string, JsonSchema>;
		for (const [name, inner] of Object.entries(properties)) {
			for (const one of alternatives(inner)) {
				yield { path: [...path, name], schema: one };
			}
			yield* fieldsOf(inner, [...path, name]);
		}
		if (each.items) yield* fieldsOf(each.items as JsonSchema, [...path, "[]"]);
	}
}

function alternatives(schema: JsonSchema): JsonSchema[] {
	return schema.anyOf ? (schema.anyOf as JsonSchema[]) : [schema];
}

/** Returns the hostile values of a field, each with its name. */
function* valuesFor(schema: JsonSchema): Generator<[string, () => unknown]> {
	if (isOf(schema, "string") && !schema.enum) {
		const length = Number(schema.maxLength ?? USUAL_LENGTH);
		for (const [shape, make] of Object.entries(TEXTS)) {
			yield [`${length} of ${shape}`, () => fill(make, length)];
			yield [`${shape}, too long`, () => make(TOO_LONG / 2)];
		}
	}
	if (isOf(schema, "array")) {
		const { maxItems = USUAL_ITEMS, items } = schema;
		const { maxLength = USUAL_LENGTH } = (items ?? {}) as JsonSchema;
		const length = Math.min(
			Number(maxLength),
			Math.floor(TOO_LONG / Number(maxItems) / 6),
		);
		for (const [shape, make] of Object.entries(TEXTS)) {
			yield [
				`${maxItems} texts of ${shape}`,
				() =>
					Array.from(
						{ length: Number(maxItems) },
						(_, n) => `${n}${fill(make, length - 3)}`,
					),
			];
		}
		for (const [shape, make] of Object.entries(LISTS)) {
			yield [shape, () => make(TOO_LONG)];
		}
	}
	if (isOf(schema, "object")) yield* Object.entries(OBJECTS);
}

function isOf({ type }: JsonSchema, name: string): boolean {
	return [type].flat().includes(name);
}

/** Returns a copy of `into` with `value` at the path. */
function setAt(into: unknown, path: string[], value: unknown): unknown {
	const [name, ...rest] = path;
	if (name === undefined) return value;
	if (name === "[]") return [setAt((into as unknown[])?.[0], rest, value)];
	const object = (into ?? {}) as Input;
	return { ...object, [name]: setAt(object[name], rest, value) };
}

/**
 * Returns an input in which every field has the largest value that the operation accepts. A field
 * that accepts none keeps the value of a valid input.
 */
export function largestInput(
	target: Target,
	operation: AnyOperation,
	make: Shape,
): Input {
	const base = validInput(target, operation);
	const properties = (schemaOf(operation).properties ?? {}) as Input;
	const parsers = operation.input.shape as Record<
		string,
		{ safeParse: (value: unknown) => { success: boolean } }
	>;
	for (const [name, schema] of Object.entries(properties)) {
		const isId = name === "organization_id" || /(^|_)ids?$/.test(name);
		if (isId && base[name] !== undefined) continue;
		const value = [...largestValues(schema as JsonSchema, make)].find(
			(candidate) => parsers[name]?.safeParse(candidate).success,
		);
		if (value !== undefined) base[name] = value;
	}
	return base;
}

/** Returns values of a field, the largest first. */
function* largestValues(schema: JsonSchema, make: Shape): Generator<unknown> {
	const length = Number(schema.maxLength ?? USUAL_LENGTH);
	if (isOf(schema, "string") && !schema.enum) {
		yield fill(make, length);
		yield `https://example.com/${fill(make, length - 20)}`;
		yield `https://example.com/${"a".repeat(length - 20)}`;
		yield `${"a".repeat(60)}@${"a.".repeat(90)}example.com`;
		return;
	}
	if (isOf(schema, "array")) {
		const items = (schema.items ?? {}) as JsonSchema;
		const count = Number(schema.maxItems ?? USUAL_ITEMS);
		for (const item of largestValues(items, make)) {
			yield Array.from({ length: count }, (_, n) =>
				typeof item === "string" ? `${n}${item}`.slice(0, item.length) : item,
			);
			yield Array(count).fill(item);
		}
		return;
	}
	if (Array.isArray(schema.enum)) yield* schema.enum.toReversed();
	yield schema.maximum;
}
