import { z } from "zod";
import type { FieldIssue } from "../errors.ts";
import { type IdKind, kindNoun, parseId } from "../id.ts";
import { COUNTRIES } from "./countries.ts";

/** What a field holds, as a form has to ask for it. */
export type FieldType =
	| "name"
	| "text"
	| "url"
	| "email"
	| "date"
	| "choice"
	| "integer"
	| "reference"
	| "references"
	| "names"
	| "emails"
	| "countries";

/**
 * One field of a kind of record. `Value` is what it holds, null included where it may be
 * empty; `Given` says how a caller gives it on add.
 */
export interface Field<
	Value = unknown,
	Given extends "required" | "optional" | "computed" =
		| "required"
		| "optional"
		| "computed",
> {
	type: FieldType;
	description: string;
	given: Given;
	/** What a caller may give; unused for a computed field. */
	input: z.ZodType<Value>;
	/** What comes back: the shape alone, for the database has kept the rules. */
	output: z.ZodType<Value>;
	/** Its value when none is given on add. */
	initial: Value | undefined;
	/** The kind of record that it names, one or several. */
	reference?: IdKind;
	/** Kept in a table of its own, a row a reference, instead of a column. */
	join?: ReferenceTable;
}

/** A table with a row a reference: `column` names a record of the table `of`. */
export interface ReferenceTable {
	table: string;
	column: string;
	of: string;
}

export const MAX_NAME = 1000;
export const MAX_TEXT = 5000;
const MAX_URL = 2048;
const MAX_LIST = 100;

const noControl = (text: string) => !/\p{Cc}/u.test(text);
const noControlButLines = (text: string) => !/[^\P{Cc}\n\r\t]/u.test(text);
const isWellFormed = (text: string) => text.isWellFormed();

/** Text on one line: at most `max` characters, none of them control characters. */
function line(max: number) {
	return z
		.string()
		.max(max)
		.refine(noControl, "must not contain control characters or line breaks")
		.refine(isWellFormed, "must be valid Unicode");
}

/** A name that is not blank. */
export function nameSchema() {
	return line(MAX_NAME).refine(
		(text) => text.trim() !== "",
		"must not be empty",
	);
}

/** Text that may have several lines. */
export function textSchema(max = MAX_TEXT) {
	return z
		.string()
		.max(max)
		.refine(noControlButLines, "must not contain control characters")
		.refine(isWellFormed, "must be valid Unicode");
}

export function urlSchema() {
	// Of these URL.parse would make an address, of "https:e.com" and " https://e.com" too.
	return line(MAX_URL).refine(
		(text) =>
			/^https?:\/\/[^\s/?#]+\S*$/i.test(text) && URL.parse(text) !== null,
		"must be a web address that begins with http:// or https://, with a host and without spaces",
	);
}

export function emailSchema() {
	return line(320).refine(
		(text) => /^[^\s@<>"]+@[^\s@<>"]+\.[^\s@<>".]+$/.test(text),
		"must be an e-mail address such as ada@example.com",
	);
}

export function dateSchema() {
	return z
		.string()
		.refine(
			isDate,
			"must be a date of the calendar as YYYY-MM-DD, years 1900 to 9999",
		);
}

function isDate(text: string): boolean {
	if (!/^(19|[2-9]\d)\d\d-\d\d-\d\d$/.test(text)) return false;
	const time = new Date(`${text}T00:00:00Z`);
	return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text);
}

/** The id of a record of this kind. */
export function idSchema(kind: IdKind) {
	const wanted = `must be the id of ${article(kindNoun(kind))}, 32 characters`;
	return z.string().refine((text) => parseId(text)?.kind === kind, {
		error: ({ input }) => {
			const other = parseId(String(input))?.kind;
			return other
				? `${wanted}; this is the id of ${article(kindNoun(other))}`
				: wanted;
		},
	});
}

export function article(noun: string): string {
	return `${/^[aeiou]/i.test(noun) ? "an" : "a"} ${noun}`;
}

function required<Value>(
	type: FieldType,
	schema: z.ZodType<Value>,
	output: z.ZodType<Value>,
	description: string,
): Field<Value, "required"> {
	return {
		type,
		description,
		given: "required",
		input: schema,
		output,
		initial: undefined,
	};
}

function nullable<Value>(
	type: FieldType,
	schema: z.ZodType<Value>,
	output: z.ZodType<Value>,
	description: string,
): Field<Value | null, "optional"> {
	return {
		type,
		description,
		given: "optional",
		input: schema.nullable(),
		output: output.nullable(),
		initial: null,
	};
}

function initially<Value>(
	type: FieldType,
	schema: z.ZodType<Value>,
	output: z.ZodType<Value>,
	initial: Value,
	description: string,
): Field<Value, "optional"> {
	return {
		type,
		description,
		given: "optional",
		input: schema,
		output,
		initial,
	};
}

export const requiredName = (description: string) =>
	required("name", nameSchema(), z.string(), description);
export const optionalName = (description: string) =>
	nullable("name", nameSchema(), z.string(), description);
export const requiredText = (description: string) =>
	required(
		"text",
		textSchema().refine((text) => text.trim() !== "", "must not be empty"),
		z.string(),
		description,
	);
export const optionalText = (description: string) =>
	nullable("text", textSchema(), z.string(), description);
export const optionalUrl = (description: string) =>
	nullable("url", urlSchema(), z.string(), description);
export const requiredEmail = (description: string) =>
	required("email", emailSchema(), z.string(), description);
export const optionalDate = (description: string) =>
	nullable("date", dateSchema(), z.string(), description);

export const requiredChoice = <const Value extends string>(
	values: readonly Value[],
	description: string,
) => required("choice", z.enum(values), z.enum(values), description);

/** Starts at the first of `values` unless told otherwise. */
export const choice = <const Value extends string>(
	values: readonly Value[],
	description: string,
	initial: NoInfer<Value> = values[0] as Value,
) =>
	initially<Value>(
		"choice",
		z.enum(values),
		z.enum(values),
		initial,
		description,
	);

export const requiredInteger = (
	min: number,
	max: number,
	description: string,
) => required("integer", z.int().min(min).max(max), z.number(), description);

/** A whole number that, when not given, is worked out from the other fields (see `complete`). */
export const optionalInteger = (
	min: number,
	max: number,
	description: string,
): Field<number, "optional"> => ({
	type: "integer",
	description,
	given: "optional",
	input: z.int().min(min).max(max),
	output: z.number(),
	initial: undefined,
});

export const integerFrom = (
	min: number,
	initial: number,
	description: string,
) =>
	initially<number>(
		"integer",
		z.int().min(min).max(2_147_483_647),
		z.number(),
		initial,
		description,
	);

/** Kept by the database as a generated column. */
export const computedInteger = (
	description: string,
): Field<number, "computed"> => ({
	type: "integer",
	description,
	given: "computed",
	input: z.number(),
	output: z.number(),
	initial: undefined,
});

export const requiredReference = (
	kind: IdKind,
	description: string,
): Field<string, "required"> => ({
	...required("reference", idSchema(kind), z.string(), description),
	reference: kind,
});

export const optionalReference = (
	kind: IdKind,
	description: string,
): Field<string | null, "optional"> => ({
	...nullable("reference", idSchema(kind), z.string(), description),
	reference: kind,
});

export const owner = () =>
	optionalReference("people", "Person who answers for it");

/** A short name of its own within the register, made as `<prefix>-001` when none is given. */
export const referenceId = (prefix: string): Field<string, "optional"> => ({
	type: "name",
	description: `Short name, unique in the organization; the next free ${prefix}-001 unless given`,
	given: "optional",
	input: nameSchema().max(100),
	output: z.string(),
	initial: undefined,
});

/** References to several records, without order, kept in the table `join`. */
export const references = (
	kind: IdKind,
	join: ReferenceTable,
	description: string,
): Field<string[], "optional"> => ({
	...list("references", idSchema(kind), description),
	reference: kind,
	join,
});

export const names = (description: string) =>
	list("names", line(200).min(1), description);
export const emails = (description: string) =>
	list("emails", emailSchema(), description);
export const countries = (description: string) =>
	list(
		"countries",
		z
			.string()
			.refine(
				(text) => COUNTRIES.has(text),
				"must be a country code of two capital letters (ISO 3166-1), such as DE",
			),
		description,
	);

/** A list in the order given, without doubles. */
function list(
	type: FieldType,
	item: z.ZodType<string>,
	description: string,
): Field<string[], "optional"> {
	const schema = z
		.array(item)
		.max(MAX_LIST)
		.refine(
			(entries) => new Set(entries).size === entries.length,
			"must not name the same entry twice",
		);
	return initially(type, schema, z.array(z.string()), [], description);
}

/** The check that of two dates, if both are there, the first is not the later one. */
export function datesInOrder(first: string, second: string) {
	return (record: Record<string, unknown>): FieldIssue[] => {
		const [from, until] = [record[first], record[second]];
		return typeof from === "string" && typeof until === "string" && from > until
			? [{ field: second, message: `must not be before ${first} (${from})` }]
			: [];
	};
}
