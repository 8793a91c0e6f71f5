import { badFields } from "../errors.ts";
import { makeBreather } from "../load/breather.ts";
import { givenFields } from "../records/input.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import { nameField } from "../records/result-rows.ts";
import { type CsvTable, wrongFile } from "./read-table.ts";
import { fromHarmless } from "./text.ts";

/** Longest cell, in characters. No field of any register takes so much. */
const MAX_CELL = 64 * 1024;

export interface FileLine {
	/**
	 * Number of the line as a spreadsheet counts it. The heading is line 1, and each record is one
	 * line.
	 */
	line: number;
	/** The cells by the name of the field, including `id`, without the guard against formulas. */
	cells: ReadonlyMap<string, string>;
	/** The reason why the line's cells cannot be assigned to columns. */
	issue?: string;
}

export interface CsvFile {
	/** The heading of each field, as the file writes it. */
	headings: ReadonlyMap<string, string>;
	/**
	 * Headings of columns that an import does not read: times, scores, and names that stand beside
	 * ids.
	 */
	ignored: string[];
	/** Headings of columns that are no fields of the register. */
	unknown: string[];
	lines: FileLine[];
}

/** The field of a column by its heading, or null for a column that is not imported. */
export type ColumnChoices = Readonly<Record<string, string | null>>;

/**
 * Reads a table as records of a register. Throws bad_request if a choice names no field, or if two
 * columns are for the same field.
 */
export async function readFile(
	kind: AnyRecordKind,
	table: CsvTable,
	choices: ColumnChoices = {},
): Promise<CsvFile> {
	const { fields, ignored, unknown } = readHeadings(
		kind,
		table.heading,
		choices,
	);
	const breathe = makeBreather();
	const lines: FileLine[] = [];
	for (const { line, cells } of table.lines) {
		await breathe();
		const issue = findIssue(cells, table.heading);
		const known = issue ? [] : [...fields];
		lines.push({
			line,
			cells: new Map(
				known.map(([field, at]) => [field, fromHarmless(cells[at] ?? "")]),
			),
			...(issue && { issue }),
		});
	}
	const headings = [...fields].map(([field, at]): [string, string] => [
		field,
		table.heading[at] ?? field,
	]);
	return { headings: new Map(headings), ignored, unknown, lines };
}

/** Returns why the cells of a line cannot be read, or undefined if they can. */
function findIssue(
	cells: readonly string[],
	{ length }: readonly string[],
): string | undefined {
	if (cells.length !== length) {
		return `has ${cells.length} cells, but the heading has ${length}; look for a missing or extra comma, quote or line break`;
	}
	return cells.some((cell) => cell.length > MAX_CELL)
		? `has a cell of more than ${MAX_CELL} characters`
		: undefined;
}

/** Returns the number of each field's column, and the headings of the columns that are not read. */
function readHeadings(
	kind: AnyRecordKind,
	headings: readonly string[],
	choices: ColumnChoices,
): { fields: Map<string, number>; ignored: string[]; unknown: string[] } {
	const aliases = aliasesOf(kind);
	const possible = new Set(["id", ...Object.keys(givenFields(kind))]);
	for (const [heading, field] of Object.entries(choices)) {
		if (field !== null && !possible.has(field)) {
			throw badFields([
				{
					field: `columns.${heading.slice(0, 80)}`,
					message: `must be null or a field of ${kind.nouns}: ${[...possible].join(", ")}`,
				},
			]);
		}
	}
	const isChosen = (heading: string) => Object.hasOwn(choices, heading);
	const beside = new Set(
		Object.entries(kind.fields)
			.filter(([, { reference }]) => reference)
			.map(([name]) => nameField(name)),
	);
	const given = headings.map((heading) =>
		isChosen(heading) ? choices[heading] : aliases.get(normalize(heading)),
	);
	const named = `${normalize(kind.noun)}_name`;
	const { title } = kind;
	// "Vendor name" is the name of a vendor, unless another column is.
	if (title && possible.has(title) && !given.includes(title)) {
		const at = headings.findIndex((heading) => normalize(heading) === named);
		if (given[at] === undefined && at >= 0) given[at] = title;
	}
	const counts = new Map<string | null | undefined, number>();
	for (const field of given) counts.set(field, (counts.get(field) ?? 0) + 1);
	const fields = new Map<string, number>();
	const ignored: string[] = [];
	const unknown: string[] = [];
	for (const [at, heading] of headings.entries()) {
		const field = given[at];
		if (field === undefined) {
			unknown.push(heading);
			continue;
		}
		const isBeside = beside.has(normalize(heading));
		if (field === null || (isBeside && (counts.get(field) ?? 0) > 1)) {
			if (heading.trim() !== "" && !isChosen(heading)) ignored.push(heading);
		} else if (fields.has(field)) {
			throw wrongFile(`has two columns for ${field}; remove one of them`);
		} else fields.set(field, at);
	}
	return { fields, ignored, unknown };
}

/** Largest number of unknown columns that an error names. */
const MAX_NAMED = 20;

/** Throws bad_request if the file has columns that are no fields, because one may be misspelled. */
export function rejectUnknown(kind: AnyRecordKind, { unknown }: CsvFile): void {
	if (unknown.length === 0) return;
	const names = unknown
		.slice(0, MAX_NAMED)
		.map((heading) => `"${heading.slice(0, 80)}"`);
	const what =
		unknown.length === 1
			? `a column ${names[0]}, which is not a field`
			: `${unknown.length} columns that are not fields: ${names.join(", ")}; they are none`;
	throw wrongFile(
		`has ${what} of ${kind.nouns}; the fields are id, ${headingsOf(kind).join(", ")}; say in columns which field each one is, or null`,
	);
}

/**
 * Returns the field that each spelling of a heading means, or null for a column that is not read.
 */
function aliasesOf(kind: AnyRecordKind): Map<string, string | null> {
	const aliases = new Map<string, string | null>([
		["id", "id"],
		// Spreadsheets often leave empty columns in a file.
		["", null],
	]);
	const derived = Object.keys(kind.derived ?? {});
	for (const name of [
		...["organization_id", "created_at", "updated_at"],
		...derived,
	]) {
		aliases.set(name, null);
	}
	for (const [name, field] of Object.entries(kind.fields)) {
		aliases.set(name, field.given === "computed" ? null : name);
		if (!field.reference) continue;
		aliases.set(nameField(name), name);
		aliases.set(name.replace(/_id(s?)$/, "$1"), name);
	}
	if (kind.kind === "people") {
		for (const alias of ["email", "e_mail", "email_address"]) {
			aliases.set(alias, "primary_email_address");
		}
		aliases.set("name", "full_name");
	}
	return aliases;
}

/** Returns the headings of the console's template, such as `owner` for owner_id. */
function headingsOf(kind: AnyRecordKind): string[] {
	return Object.entries(givenFields(kind)).map(([name, { reference }]) =>
		reference ? name.replace(/_id(s?)$/, "$1") : name,
	);
}

/** Returns the normal form of a heading, such as `owner_id` for "Owner ID" and "owner-id". */
function normalize(heading: string): string {
	return heading
		.trim()
		.toLowerCase()
		.replace(/[\s-]+/g, "_");
}
