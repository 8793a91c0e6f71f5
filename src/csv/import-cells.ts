import type { FieldIssue } from "../errors.ts";
import type { IdKind } from "../id.ts";
import { makeEventLoopYield } from "../load/event-loop-yield.ts";
import { toJsonSchema } from "../mcp/json-schema.ts";
import { readCountry } from "../records/countries.ts";
import type { Field } from "../records/field.ts";
import { givenFields } from "../records/input.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import { isScale, stepsOf } from "../records/scales.ts";
import type { Values } from "../records/values.ts";
import { shown } from "../validation.ts";
import { readDay } from "./dates.ts";
import {
	type ChoiceField,
	type ChoiceFields,
	choicesByKey,
	isInteger,
	readChoice,
	stepsByKey,
} from "./import-choices.ts";
import { type DateColumns, noDate } from "./import-dates.ts";
import type { CsvFile, FileLine } from "./import-file.ts";
import type { References, Wanted } from "./import-references.ts";
import { wrongFile } from "./read-table.ts";
import { readList } from "./text.ts";

/** Permitted content of a field's cells. It is determined once for each file. */
interface CellKind extends ChoiceField {
	field: Field;
	reference: IdKind | undefined;
	isList: boolean;
	/** True for a number up to 100, which a cell may write with a percent sign. */
	isPercent: boolean;
	/** True if the choices are the steps of a scale. */
	isScale: boolean;
	mayBeNull: boolean;
}

/** Largest number of different records that the reference columns of a file may name. */
const MAX_REFERENCES = 50_000;

export type CellKinds = ReadonlyMap<string, CellKind>;

export function cellKindsOf(kind: AnyRecordKind): CellKinds {
	const kinds = Object.entries(givenFields(kind)).map(
		([name, field]): [string, CellKind] => {
			const schema = toJsonSchema(field.input, "input");
			const types = [schema.type].flat();
			const choices = [
				...(Array.isArray(schema.enum) ? schema.enum : []),
				...(kind.csv?.choices[name] ?? []),
			];
			const { minimum: min, maximum: max } = schema;
			const isStep = isScale({ type: field.type, min, max });
			return [
				name,
				{
					field,
					reference: field.reference,
					isList: types.includes("array"),
					isNumber: types.includes("integer"),
					mayBeNull: field.input.safeParse(null).success,
					isPercent: max === 100,
					isScale: isStep,
					choices: isStep
						? stepsByKey(name)
						: choicesByKey(choices.map(String)),
				},
			];
		},
	);
	return new Map(kinds);
}

/** Returns the choices of the fields that have some. */
export function choiceFieldsOf(kinds: CellKinds): ChoiceFields {
	return new Map([...kinds].filter(([, { choices }]) => choices.size > 0));
}

/** Returns the names of the fields with dates. */
export function dateFieldsOf(kinds: CellKinds): string[] {
	return [...kinds]
		.filter(([, { field }]) => field.type === "date")
		.map(([name]) => name);
}

/**
 * Returns the texts in the file's reference columns, by the kind of record that they should name.
 * Throws bad_request if there are too many of them.
 */
export async function wantedReferences(
	file: CsvFile,
	kinds: CellKinds,
): Promise<Wanted> {
	const wanted: Wanted = new Map();
	const yieldIfDue = makeEventLoopYield();
	for (const { line, cells } of file.lines) {
		await yieldIfDue();
		for (const [name, cell] of cells) {
			const kind = kinds.get(name);
			if (!kind?.reference) continue;
			const texts = wanted.get(kind.reference) ?? new Set();
			wanted.set(kind.reference, texts);
			for (const text of namesIn(kind, cell)) texts.add(text);
			if (texts.size > MAX_REFERENCES) {
				throw wrongFile(
					`names more than ${MAX_REFERENCES} records in the lines up to ${line}, the limit for one import; split the file and import the parts`,
				);
			}
		}
	}
	return wanted;
}

/**
 * Returns the values that a line gives its record. An empty cell empties the field, which becomes
 * null or an empty list. If the field must not be empty, a new record gets its initial value. For
 * an existing record, the empty cell is then an issue.
 */
export function readCells(
	{ cells }: FileLine,
	kinds: CellKinds,
	references: References,
	dates: DateColumns,
	before: Values | undefined,
): { given: Values; issues: FieldIssue[] } {
	const given: Values = {};
	const issues: FieldIssue[] = [];
	for (const [name, cell] of cells) {
		const kind = kinds.get(name);
		if (!kind) continue;
		if (cell === "") {
			// A CSV file cannot distinguish empty text from no text. An empty cell must therefore not
			// turn an empty text or list into null.
			if (before?.[name] === "" || isEmptyList(before?.[name])) continue;
			if (kind.mayBeNull) given[name] = null;
			else if (kind.isList) given[name] = [];
			else if (before)
				issues.push({ field: name, message: "must not be empty" });
			continue;
		}
		if (kind.field.type === "countries") {
			const { codes, unknown } = readCountries(cell);
			if (unknown === undefined) given[name] = codes;
			else issues.push({ field: name, message: noCountry(unknown) });
			continue;
		}
		if (kind.field.type === "date") {
			const order = dates.get(name)?.order ?? null;
			const day = readDay(cell, order);
			if (day !== undefined) given[name] = day;
			else issues.push({ field: name, message: noDate(cell, order) });
			continue;
		}
		if (!kind.reference) {
			const value = readCell(kind, cell);
			given[name] = value;
			if (kind.isScale && typeof value === "string") {
				issues.push({ field: name, message: noStep(name) });
			}
			continue;
		}
		const ids: string[] = [];
		for (const text of namesIn(kind, cell)) {
			const found = references.get(kind.reference)?.get(text);
			if (found && "id" in found) ids.push(found.id);
			else
				issues.push({
					field: name,
					message:
						found?.issue ??
						"must name a record that exists in this organization",
				});
		}
		// The database stores references in this order, so any other order would look like a change.
		given[name] = kind.isList ? ids.sort() : ids[0];
	}
	return { given, issues };
}

function isEmptyList(value: unknown): boolean {
	return Array.isArray(value) && value.length === 0;
}

function namesIn({ isList }: CellKind, cell: string): string[] {
	if (isList) return readList(cell);
	return cell.trim() === "" ? [] : [cell.trim()];
}

/** Returns the codes of the countries that a cell names, and the first text that names none. */
function readCountries(cell: string) {
	const texts = readList(cell);
	return {
		codes: texts.map((text) => readCountry(text) ?? text),
		unknown: texts.find((text) => readCountry(text) === undefined),
	};
}

function noCountry(text: string): string {
	return `must have English names or codes of countries (ISO 3166-1), such as Germany or DE, separated by semicolons${shown(text)}`;
}

function noStep(name: string): string {
	return `must be one of ${stepsOf(name)
		.map(({ label }) => label)
		.join(", ")}, or the number or the word alone`;
}

const withoutPercent = (text: string) =>
	text.endsWith("%") ? text.slice(0, -1).trimEnd() : text;

function readCell(kind: CellKind, text: string): unknown {
	if (kind.isList) return readList(text);
	const bare = kind.isPercent ? withoutPercent(text.trimEnd()) : text;
	const value = readChoice(kind.choices, bare) ?? bare;
	return kind.isNumber && isInteger(value) ? Number(value) : value;
}
