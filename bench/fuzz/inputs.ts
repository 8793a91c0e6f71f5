import fc from "fast-check";
import { parseId } from "../../src/id.ts";
import { type JsonSchema, toJsonSchema } from "../../src/mcp/json-schema.ts";
import type { AnyOperation } from "../../src/operation.ts";
import type { Body, Target } from "./target.ts";
import {
	hostile,
	json,
	ofKind,
	spoil,
	strangeText,
	strangeValue,
} from "./values.ts";

/** Existing records whose ids may appear in inputs. */
type Known = Pick<Target, "organizationId" | "ids">;

/** Generates ids. Most are of the kind of record that `name` suggests, if such records exist. */
function idFor(known: Known, name: string): fc.Arbitrary<string> {
	const named = name.replace(/_ids?$/, "");
	const kind = /^(owner|assigned_to|person)$/.test(named) ? "people" : named;
	const fitting = known.ids.filter((id) => parseId(id)?.kind === kind);
	const any = fc.constantFrom(...known.ids);
	if (fitting.length === 0) return any;
	return fc.oneof(
		{ weight: 6, arbitrary: fc.constantFrom(...fitting) },
		{ weight: 1, arbitrary: any },
	);
}

/**
 * Returns the kind of record that the field "id" of an operation refers to, such as a risk for
 * getRisk.
 */
function kindOf(operation: AnyOperation): string {
	const noun = operation.name.replace(/^[a-z]+/, "");
	return noun.replace(/(?<=.)[A-Z]/g, "_$&").toLowerCase();
}

/**
 * Generates values that are valid by the schema. If the schema says too little, `name` tells what
 * is meant.
 */
function goodFor(
	known: Known,
	name: string,
	schema: JsonSchema,
): fc.Arbitrary<unknown> {
	if (name === "organization_id") return fc.constant(known.organizationId);
	if (name === "id" || name.endsWith("_id") || name.endsWith("_ids")) {
		const id = idFor(known, name);
		return schema.type === "array" ? fc.array(id, { maxLength: 3 }) : id;
	}
	const types = [schema.type].flat();
	if (Array.isArray(schema.enum)) {
		return fc.constantFrom(...(schema.enum as unknown[]));
	}
	if (Array.isArray(schema.anyOf)) {
		const each = schema.anyOf.map((inner) =>
			goodFor(known, name, inner as JsonSchema),
		);
		return fc.oneof(...each);
	}
	if (schema.type === "object") {
		return inputOf(known, schema, (inner, property) =>
			goodFor(known, property, inner),
		);
	}
	if (types.includes("array")) {
		const items = (schema.items ?? {}) as JsonSchema;
		return fc.array(goodFor(known, name, items), { maxLength: 3 });
	}
	if (types.includes("integer") || types.includes("number")) {
		const min = Number(schema.minimum ?? 0);
		return fc.integer({ min, max: Number(schema.maximum ?? min + 10) });
	}
	if (types.includes("boolean")) return fc.boolean();
	if (name.includes("email")) {
		return fc.nat(9_999).map((number) => `person-${number}@example.com`);
	}
	if (name.endsWith("_url")) return fc.constant("https://example.com/a?b=c");
	if (/date|deadline|valid_|_at$|since|until|as_of/.test(name)) {
		return fc.constantFrom(
			"2026-01-31",
			"2024-02-29",
			"2026-12-01",
			"2026-03-31T08:00:00Z",
		);
	}
	if (name === "countries") return fc.constantFrom("DE", "CH");
	return fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });
}

/** Generates objects with all required properties of the schema and some of the others. */
function inputOf(
	known: Known,
	schema: JsonSchema,
	arbitraryOf: (inner: JsonSchema, name: string) => fc.Arbitrary<unknown> = (
		inner,
		name,
	) =>
		fc.oneof(
			{ weight: 8, arbitrary: goodFor(known, name, inner) },
			{ weight: 1, arbitrary: strangeValue },
		),
): fc.Arbitrary<Record<string, unknown>> {
	const properties = (schema.properties ?? {}) as Record<string, JsonSchema>;
	return fc.record(
		Object.fromEntries(
			Object.entries(properties).map(([name, inner]) => [
				name,
				arbitraryOf(inner, name),
			]),
		),
		{ requiredKeys: (schema.required ?? []) as never[] },
	);
}

/** Generates inputs of an operation that are valid by its schema. */
export function validInputs(
	known: Known,
	operation: AnyOperation,
): fc.Arbitrary<Record<string, unknown>> {
	const schema = toJsonSchema(operation.input, "input");
	const { cursor: _, ...properties } = (schema.properties ?? {}) as object & {
		cursor?: unknown;
	};
	// A cursor is valid only if it comes from a list, so valid inputs have none.
	const ids = idsFor(known, operation);
	return inputOf({ ...known, ids }, { ...schema, properties }, (inner, name) =>
		goodFor({ ...known, ids }, name, inner),
	);
}

/**
 * Returns the ids that inputs of an operation name. If there are records of the operation's kind,
 * most ids in fields that name no kind are theirs.
 */
function idsFor({ ids }: Known, operation: AnyOperation): string[] {
	const own = ids.filter((id) => parseId(id)?.kind === kindOf(operation));
	return [...own, ...own, ...own, ...ids];
}

/** Generates inputs of an operation: valid ones, nearly valid ones, and nonsense. */
export function bodiesOf(
	everything: Known,
	operation: AnyOperation,
): fc.Arbitrary<Body> {
	const schema = toJsonSchema(operation.input, "input");
	const known = { ...everything, ids: idsFor(everything, operation) };
	const good = validInputs(everything, operation);
	const near = inputOf(known, schema);
	const names = Object.keys((schema.properties ?? {}) as object);
	const surplus = fc
		.tuple(near, strangeText, strangeValue)
		.map(
			([input, name, value]) =>
				`{${json(name)}:${json(value)},${json(input).slice(1)}`,
		);
	return fc.oneof(
		{ weight: 4, arbitrary: ofKind("as the schema says", good.map(json)) },
		{ weight: 6, arbitrary: ofKind("nearly", near.map(json)) },
		{ weight: 1, arbitrary: ofKind("a field too many", surplus) },
		{
			weight: 1,
			arbitrary: ofKind("any JSON value", strangeValue.map(json)),
		},
		{ weight: 1, arbitrary: hostile },
		{ weight: 2, arbitrary: spoil(good, names) },
	);
}
