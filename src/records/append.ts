import { z } from "zod";
import { badFields, type FieldIssue } from "../errors.ts";
import { givenFields } from "./input.ts";
import type { AnyRecordKind } from "./kind.ts";
import { obvious } from "./shown-in-tool-list.ts";
import { filledTextSchema, MAX_TEXT } from "./text-schemas.ts";
import type { Values } from "./values.ts";

/** Returns the names of the fields with long texts. An update can append to these. */
export function longTextsOf(kind: AnyRecordKind): string[] {
	return Object.entries(givenFields(kind))
		.filter(([, { type }]) => type === "text")
		.map(([name]) => name);
}

/** Returns the input field with the texts to append, or no field if there are no long texts. */
export function appendShape(
	names: readonly string[],
): Record<string, z.ZodType> {
	if (names.length === 0) return {};
	const shape = names.map((name) => [
		name,
		filledTextSchema().optional().meta(obvious("Lines to add")),
	]);
	return {
		append: z
			.strictObject(Object.fromEntries(shape))
			.optional()
			.meta(obvious(`Lines to add to ${names.join(", ")}`)),
	};
}

/**
 * Returns the whole texts after appending. An appended text begins on a new line. Throws
 * bad_request if a text becomes too long, or if the caller also gives its field.
 */
export function appendedTexts(
	noun: string,
	before: Values,
	given: Values,
	append: unknown,
): Values {
	const whole: Values = {};
	const issues: FieldIssue[] = [];
	for (const [name, text] of Object.entries((append ?? {}) as Values)) {
		if (text === undefined) continue;
		const known = before[name];
		const joined = known ? `${known}\n${text}` : String(text);
		if (given[name] !== undefined) {
			issues.push({
				field: `append.${name}`,
				message: `must not be given together with ${name}, which replaces the text`,
			});
		} else if (joined.length > MAX_TEXT) {
			issues.push({
				field: `append.${name}`,
				message: `would make the ${name} of this ${noun} ${joined.length} characters long; it must have at most ${MAX_TEXT} characters`,
			});
		} else whole[name] = joined;
	}
	if (issues.length > 0) throw badFields(issues);
	return whole;
}
