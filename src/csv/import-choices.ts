import { z } from "zod";
import { badFields, type FieldIssue } from "../errors.ts";
import { makeEventLoopYield } from "../load/event-loop-yield.ts";
import { choiceLabel } from "../records/labels.ts";
import { scaleOf, stepsOf } from "../records/scales.ts";
import type { CsvFile, FileLine } from "./import-file.ts";

/** The answer for a value whose lines are not stored. No register has it as a choice. */
export const SKIP = "SKIP";

/** Largest number of unknown values that an import asks about, and the longest, in characters. */
const MAX_VALUES = 50;
const MAX_VALUE = 80;
/**
 * Largest total length of these values in the address of a request. Node rejects a request whose
 * headers are longer than 16 KiB.
 */
const MAX_ENCODED = 6 * 1024;

/** The meaning of unknown values, by field and value: a choice, null for empty, or SKIP. */
export type ValueChoices = Readonly<
	Record<string, Readonly<Record<string, string | null>>>
>;

export const valueChoices = z
	.record(z.string(), z.record(z.string(), z.string().nullable()))
	.refine((given) => textsOf(given).length <= MAX_VALUES * 2, {
		error: `must name at most ${MAX_VALUES * 2} values`,
	})
	.refine(
		(given) => textsOf(given).every(({ length }) => length <= MAX_VALUE),
		{ error: `must name values of at most ${MAX_VALUE} characters` },
	);

function textsOf(given: ValueChoices): string[] {
	return Object.values(given).flatMap(Object.keys);
}

export const unknownValue = z.object({
	field: z.string(),
	column: z.string().describe("Heading of the column"),
	value: z.string().describe("The first of its spellings in the file"),
	count: z.int().describe("Number of lines that have it"),
});

/** The choices of a field, by the keys of their values and labels. */
type Choices = ReadonlyMap<string, string>;
export interface ChoiceField {
	choices: Choices;
	/** True if the choices are the steps of a scale, or if the field is another number. */
	isNumber: boolean;
}
export type ChoiceFields = ReadonlyMap<string, ChoiceField>;

/** The unknown values that an import asks about, by the field and the key of the value. */
export type AskedValues = ReadonlyMap<
	string,
	ReadonlyMap<string, z.output<typeof unknownValue>>
>;

/**
 * Returns the normal form of a choice as people write it. "In progress", " in_progress" and
 * "IN-PROGRESS" are the same, and so are "2 Unlikely" and "2 – Unlikely".
 */
function keyOf(text: string): string {
	// The minus of a number is kept, so that -2 is not the step 2 of a scale.
	const sign = /^\s*[–-]\s*\d/.test(text) ? "-" : "";
	return sign + text.toLowerCase().replace(/[\s_–-]+/g, "");
}

export function choicesByKey(values: readonly string[]): Choices {
	return new Map(
		values.flatMap((value) => [
			[keyOf(choiceLabel(value)), value],
			[keyOf(value), value],
		]),
	);
}

/** Returns the steps of a field's scale by their numbers, their words, and both together. */
export function stepsByKey(fieldName: string): Choices {
	const words = scaleOf(fieldName);
	return new Map(
		stepsOf(fieldName).flatMap(({ value, label }, index) =>
			[value, words[index] ?? "", label].map((text) => [keyOf(text), value]),
		),
	);
}

export function isInteger(text: string): boolean {
	return /^\s*-?\d{1,15}\s*$/.test(text);
}

/** Returns the choice that a cell names by its value or its label. */
export function readChoice(choices: Choices, text: string): string | undefined {
	return text.length > MAX_VALUE * 2 ? undefined : choices.get(keyOf(text));
}

/**
 * Returns the values of choices that the file has and the register does not know, each once,
 * whether or not they have an answer. Blanks around a value and its case make no difference.
 */
export async function findUnknownValues(
	{ headings, lines }: CsvFile,
	fields: ChoiceFields,
): Promise<AskedValues> {
	const asked = new Map<string, Map<string, z.output<typeof unknownValue>>>();
	const inFile = [...fields].filter(([field]) => headings.has(field));
	const yieldIfDue = makeEventLoopYield();
	let [count, encoded] = [0, 0];
	for (const { cells } of lines) {
		await yieldIfDue();
		for (const [field, { choices, isNumber }] of inFile) {
			const value = (cells.get(field) ?? "").trim();
			if (value === "" || value.length > MAX_VALUE) continue;
			// A number that is no step may be of another scale. Its line is wrong, because the steps that
			// both scales have would be read without a question.
			if (isNumber && isInteger(value)) continue;
			const key = keyOf(value);
			const known = asked.get(field)?.get(key);
			if (known) {
				known.count += 1;
				continue;
			}
			if (count === MAX_VALUES || readChoice(choices, value)) continue;
			const length = encodeURIComponent(value.toWellFormed()).length;
			if (encoded + length > MAX_ENCODED) continue;
			count += 1;
			encoded += length;
			const column = headings.get(field) ?? field;
			const values = asked.get(field) ?? new Map();
			asked.set(field, values.set(key, { field, column, value, count: 1 }));
		}
	}
	return asked;
}

/** Returns the unknown value of a field in this line, if the import asks about it. */
export function askedValue(
	{ cells }: FileLine,
	field: string,
	asked: AskedValues,
): string | undefined {
	const text = cells.get(field) ?? "";
	// A dash has the same key as a blank cell, but only the dash is a value.
	if (text.trim() === "") return undefined;
	return asked.get(field)?.get(keyOf(text))?.value;
}

/**
 * Returns the lines with the unknown values replaced by their meanings, and why lines are skipped,
 * by their numbers. Throws bad_request if an answer is for no choice or is none.
 */
export async function applyAnswers(
	file: CsvFile,
	fields: ChoiceFields,
	given: ValueChoices = {},
): Promise<{ file: CsvFile; skipped: ReadonlyMap<number, FieldIssue> }> {
	const answers = readAnswers(fields, given);
	const skipped = new Map<number, FieldIssue>();
	if (answers.size === 0) return { file, skipped };
	const lines: FileLine[] = [];
	const yieldIfDue = makeEventLoopYield();
	for (const fileLine of file.lines) {
		await yieldIfDue();
		const cells = new Map(fileLine.cells);
		for (const [field, meanings] of answers) {
			const text = cells.get(field) ?? "";
			if (text.trim() === "" || text.trim().length > MAX_VALUE) continue;
			const meaning = meanings.get(keyOf(text));
			if (meaning === SKIP) {
				const value = text.trim().toWellFormed();
				const message = `has "${value}", whose lines are skipped`;
				skipped.set(fileLine.line, { field, message });
			} else if (meaning === null) {
				// Without its cell, the field of an existing record stays as it is.
				cells.delete(field);
			} else if (meaning !== undefined) cells.set(field, meaning);
		}
		lines.push({ ...fileLine, cells });
	}
	return { file: { ...file, lines }, skipped };
}

function readAnswers(fields: ChoiceFields, given: ValueChoices) {
	const issues: FieldIssue[] = [];
	const answers = new Map<string, ReadonlyMap<string, string | null>>();
	for (const [field, values] of Object.entries(given)) {
		const { choices } = fields.get(field) ?? {};
		if (!choices) {
			issues.push({
				field: `values.${field.slice(0, MAX_VALUE)}`,
				message: `must be a field with choices: ${[...fields.keys()].join(", ")}`,
			});
			continue;
		}
		const known = new Set(choices.values());
		const meanings = new Map<string, string | null>();
		for (const [value, meaning] of Object.entries(values)) {
			if (readChoice(choices, value)) continue;
			if (meaning !== null && meaning !== SKIP && !known.has(meaning)) {
				issues.push({
					field: `values.${field}.${value}`,
					message: `must be null, ${SKIP} or one of ${[...known].join(", ")}`,
				});
			}
			meanings.set(keyOf(value), meaning);
		}
		answers.set(field, meanings);
	}
	if (issues.length > 0) throw badFields(issues.slice(0, 20));
	return answers;
}
