import { z } from "zod";
import { canonicalKey, MAX_KEY_LENGTH } from "../devices/terms.ts";
import type { FieldIssue } from "../errors.ts";
import type { IdKind } from "../id.ts";
import { COUNTRIES } from "./countries.ts";
import { DISTINCT } from "./distinct.ts";
import {
	dateSchema,
	emailSchema,
	filledTextSchema,
	idSchema,
	lineSchema,
	nameSchema,
	textSchema,
	timeSchema,
	urlSchema,
} from "./text-schemas.ts";

/** Type of a field's value. It determines how a form asks for the value and how a page shows it. */
export type FieldType =
	| "name"
	| "text"
	| "url"
	| "email"
	| "date"
	| "datetime"
	| "choice"
	| "integer"
	| "reference"
	| "references"
	| "names"
	| "emails"
	| "countries"
	| "check"
	| "checks";

/**
 * One field of a register. `Value` is the type of the field's value, and includes null if the field
 * may be empty. `Given` says whether a caller must, may or cannot give the value when adding a
 * record.
 */
export interface Field<
	Value = unknown,
	Given extends "required" | "optional" | "computed" =
		| "required"
		| "optional"
		| "computed",
> {
	type: FieldType;
	/** Explains to people what the field means. */
	help: string;
	/** Explains the same to AI models, and says in which form to give the value. */
	description: string;
	given: Given;
	/** Schema of the values that a caller may give. A computed field's schema is not used. */
	input: z.ZodType<Value>;
	/**
	 * Schema of the value in results. It checks only the shape, because the database enforces the
	 * rules.
	 */
	output: z.ZodType<Value>;
	/**
	 * Value of a new record if the caller gives none. Undefined means that the value is derived or
	 * generated, or that the caller must give it.
	 */
	initial: Value | undefined;
	/** Type of the column of a whole number. */
	column?: "smallint" | "integer" | undefined;
	/** The kind of records that the field refers to. */
	reference?: IdKind;
	/**
	 * Table of the references, if they are stored as rows of a table of their own instead of a
	 * column.
	 */
	join?: ReferenceTable;
}

/**
 * A table with one row for each reference. `column` contains the id of a record in the table `of`.
 */
export interface ReferenceTable {
	table: string;
	column: string;
	of: string;
}

/**
 * A text for people, or a pair of texts if AI models need a longer or different one. The text for
 * people is empty if the label says everything.
 */
export type Help = string | Pick<Field, "help" | "description">;

/** The texts of a status that says how far something is. */
export const PROGRESS: Help = { help: "", description: "Progress" };

const MAX_LIST = 100;
/** Largest number of device checks in a field. */
const MAX_CHECKS = 20;
const MAX_REFERENCE_ID = 100;

/**
 * Returns the text for people and the text for AI models. `form` is added to the second and says
 * how to write the value.
 */
function textsOf(help: Help, form = ""): Pick<Field, "help" | "description"> {
	const { help: forPeople, description } =
		typeof help === "string" ? { help, description: help } : help;
	return { help: forPeople, description: `${description}${form}` };
}

/** The parts of a field that depend only on its type. */
interface Schemas<Value> {
	type: FieldType;
	input: z.ZodType<Value>;
	output: z.ZodType<Value>;
	column?: Field["column"];
	/** Text that is added to the description for AI models. */
	form?: string;
}

const NAME = (): Schemas<string> => ({
	type: "name",
	input: nameSchema(),
	output: z.string(),
});
const TEXT = (): Schemas<string> => ({
	type: "text",
	input: textSchema(),
	output: z.string(),
});
const FILLED_TEXT = () => ({ ...TEXT(), input: filledTextSchema() });
const URL_ADDRESS = (): Schemas<string> => ({
	type: "url",
	input: urlSchema(),
	output: z.string(),
});
const EMAIL = (): Schemas<string> => ({
	type: "email",
	input: emailSchema(),
	output: z.string(),
});
const DATE = (): Schemas<string> => ({
	type: "date",
	input: dateSchema(),
	output: z.string().meta({ format: "date" }),
	form: ", YYYY-MM-DD",
});
const DATETIME = (): Schemas<string> => ({
	type: "datetime",
	// The service stores and returns times in UTC. Without this conversion, the same time with
	// another offset would look like a change.
	input: timeSchema().transform((text) => new Date(text).toISOString()),
	output: z.string().meta({ format: "date-time" }),
	form: ", RFC 3339",
});

function required<Value>(
	{ form, ...schemas }: Schemas<Value>,
	help: Help,
): Field<Value, "required"> {
	return {
		...schemas,
		...textsOf(help, form),
		given: "required",
		initial: undefined,
	};
}

function nullable<Value>(
	{ form, input, output, ...others }: Schemas<Value>,
	help: Help,
): Field<Value | null, "optional"> {
	return {
		...others,
		...textsOf(help, form),
		given: "optional",
		input: input.nullable(),
		output: output.nullable(),
		initial: null,
	};
}

/**
 * Makes a field that is never empty. If `initial` is undefined, the value is generated or derived
 * from other fields.
 */
function initially<Value>(
	{ form, ...schemas }: Schemas<Value>,
	initial: Value | undefined,
	help: Help,
): Field<Value, "optional"> {
	return { ...schemas, ...textsOf(help, form), given: "optional", initial };
}

export const requiredName = (help: Help) => required(NAME(), help);
export const optionalName = (help: Help) => nullable(NAME(), help);
export const requiredText = (help: Help) => required(FILLED_TEXT(), help);
export const optionalText = (help: Help) => nullable(TEXT(), help);
export const optionalUrl = (help: Help) => nullable(URL_ADDRESS(), help);
export const requiredEmail = (help: Help) => required(EMAIL(), help);
export const optionalDate = (help: Help) => nullable(DATE(), help);
export const requiredDateTime = (help: Help) => required(DATETIME(), help);
export const optionalDateTime = (help: Help) => nullable(DATETIME(), help);

const choiceOf = <const Value extends string>(
	values: readonly Value[],
): Schemas<Value> => ({
	type: "choice",
	input: z.enum(values),
	output: z.enum(values),
});

export const requiredChoice = <const Value extends string>(
	values: readonly Value[],
	help: Help,
) => required<Value>(choiceOf(values), help);

/**
 * Makes a choice field. `initial` is the value of a new record, which the order of `values` does
 * not decide.
 */
export const choice = <const Value extends string>(
	values: readonly Value[],
	help: Help,
	initial: NoInfer<Value>,
) => initially<Value>(choiceOf(values), initial, help);

const MAX_SMALLINT = 32_767;

const integer = (min: number, max: number, form?: string): Schemas<number> => ({
	type: "integer",
	column: max > MAX_SMALLINT ? "integer" : "smallint",
	input: z.int().min(min).max(max),
	output: z.int(),
	...(form !== undefined && { form }),
});

const SCALE = ", 1 (lowest) to 5 (highest)";

/** Makes a required field with a value on a scale from 1 to 5. */
export const requiredScale = (help: Help) =>
	required(integer(1, 5, SCALE), help);

/**
 * Makes a field with a value on a scale from 1 to 5. If the caller gives none, `complete` derives
 * it from other fields.
 */
export const optionalScale = (help: Help) =>
	initially(integer(1, 5), undefined, help);

const MAX_INTEGER = 2_147_483_647;

export const percent = (initial: number, help: Help) =>
	initially(integer(1, 100), initial, help);

export const optionalInteger = (min: number, max: number, help: Help) =>
	nullable(integer(min, max), help);

export const integerFrom = (min: number, initial: number, help: Help) =>
	initially(integer(min, MAX_INTEGER), initial, help);

/** Makes a field whose value the database computes as a generated column of two bytes. */
export const computedInteger = (help: Help): Field<number, "computed"> => ({
	type: "integer",
	column: "smallint",
	...textsOf(help),
	given: "computed",
	input: z.int(),
	output: z.int(),
	initial: undefined,
});

const referenceTo = (kind: IdKind): Schemas<string> => ({
	type: "reference",
	input: idSchema(kind),
	output: z.string(),
});

export const requiredReference = (kind: IdKind, help: Help) => ({
	...required(referenceTo(kind), help),
	reference: kind,
});

export const optionalReference = (kind: IdKind, help: Help) => ({
	...nullable(referenceTo(kind), help),
	reference: kind,
});

const checkKey = () =>
	lineSchema(MAX_KEY_LENGTH).min(1).transform(canonicalKey);

/** Makes a field for a device check. The caller may give its key or its name. */
export const optionalCheck = (help: Help) =>
	nullable<string>(
		{ type: "check", input: checkKey(), output: z.string() },
		help,
	);

/**
 * Makes a field for a list of device checks. Null is not the same as an empty list: it means that
 * nobody has chosen.
 */
export const optionalChecks = (help: Help) =>
	nullable<string[]>(
		{
			type: "checks",
			input: z
				.array(checkKey())
				.max(MAX_CHECKS)
				.transform((keys) => [...new Set(keys)].sort()),
			output: z.array(z.string()),
		},
		help,
	);

export const owner = () => optionalReference("people", "Accountable person");

/**
 * Makes a field for a short name that is unique in the register. If the caller gives none, the
 * service generates one such as `<prefix>-001`.
 */
export const referenceId = (prefix: string) =>
	initially<string>(
		{
			type: "name",
			// People and files write blanks around it, which nobody sees when they name the record.
			input: nameSchema(MAX_REFERENCE_ID).transform((text) => text.trim()),
			output: z.string(),
		},
		undefined,
		`Short name, unique in the organization; by default the next free number, such as ${prefix}-001`,
	);

/**
 * Makes a field that refers to several records. The references have no order and are stored in the
 * table `join`.
 */
export const references = (
	kind: IdKind,
	join: ReferenceTable,
	help: Help,
): Field<string[], "optional"> => ({
	...list("references", idSchema(kind), help, "; replaces the whole list"),
	reference: kind,
	join,
});

const MAX_LISTED_NAME = 200;

export const names = (help: Help) =>
	list("names", lineSchema(MAX_LISTED_NAME).min(1), help);
export const emails = (help: Help) => list("emails", emailSchema(), help);
export const countries = (help: Help) =>
	list(
		"countries",
		z
			.string()
			.refine(
				(text) => COUNTRIES.has(text),
				"must be a country code of two capital letters (ISO 3166-1), such as DE",
			),
		help,
		", as ISO 3166-1 codes such as DE",
	);

/** Makes a field with a list of values. Duplicates are removed, and the order is kept. */
function list(
	type: FieldType,
	item: z.ZodType<string>,
	help: Help,
	form?: string,
): Field<string[], "optional"> {
	const input = z
		.array(item)
		.max(MAX_LIST, { abort: true })
		.refine(...DISTINCT)
		.meta({ uniqueItems: true });
	return initially(
		{
			type,
			input,
			output: z.array(z.string()),
			...(form !== undefined && { form }),
		},
		[],
		help,
	);
}

/** Returns a check that rejects a `second` date before the `first`. Either date may be absent. */
export function datesInOrder(first: string, second: string) {
	return (record: Record<string, unknown>): FieldIssue[] => {
		const [from, until] = [record[first], record[second]];
		return typeof from === "string" && typeof until === "string" && from > until
			? [{ field: second, message: `must not be before ${first} (${from})` }]
			: [];
	};
}
