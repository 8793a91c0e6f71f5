import type { z } from "zod";
import type { Field } from "./field.ts";
import type { AnyRecordKind, Fields } from "./kind.ts";
import { described } from "./shown-in-tool-list.ts";

/** Returns the schemas of the fields that a caller may give when adding a record. */
export function shapeToAdd(kind: AnyRecordKind): Record<string, z.ZodType> {
	return mapFields(givenFields(kind), (field) =>
		field.given === "required"
			? field.input.describe(field.description)
			: field.input
					.optional()
					.meta(described(describeInitial(field), "filled")),
	);
}

/**
 * Returns the schemas of the fields that a caller may give when changing a record. The tool that
 * adds such a record describes them.
 */
export function shapeToUpdate(kind: AnyRecordKind): Record<string, z.ZodType> {
	return mapFields(givenFields(kind), (field) =>
		field.input.optional().meta(described(field.description, "type")),
	);
}

/** Returns the fields that a caller may give, which are all except the computed ones. */
export function givenFields(kind: AnyRecordKind): Fields {
	return Object.fromEntries(
		Object.entries(kind.fields).filter(([, { given }]) => given !== "computed"),
	);
}

export function mapFields<Result>(
	fields: Fields,
	map: (field: Field, name: string) => Result,
): Record<string, Result> {
	return Object.fromEntries(
		Object.entries(fields).map(([name, field]) => [name, map(field, name)]),
	);
}

function describeInitial({ description, initial }: Field): string {
	return typeof initial === "string" || typeof initial === "number"
		? `${description}; ${initial} by default`
		: description;
}
