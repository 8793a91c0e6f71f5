import { badFields } from "../errors.ts";
import { makeEventLoopYield } from "../load/event-loop-yield.ts";
import { givenFields } from "../records/input.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import { nameField } from "../records/result-rows.ts";
import {
	fieldsOfHeadings,
	type GuessedColumn,
	normalize,
} from "./import-headings.ts";
import { type CsvTable, wrongFile } from "./read-table.ts";
import { fromHarmless } from "./text.ts";

/** Longest cell, in characters. No field of any register takes so much. */
const MAX_CELL = 64 * 1024;

export interface FileLine {
	/**
	 * Number of the line as a spreadsheet counts it. Each record is one line, and so is each empty
	 * line, also above the heading.
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
	/** Columns that are read because their heading is another word for a field. */
	guessed: GuessedColumn[];
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
	const { fields, ignored, unknown, guessed } = readHeadings(
		kind,
		table.heading,
		choices,
	);
	const yieldIfDue = makeEventLoopYield();
	const lines: FileLine[] = [];
	for (const { line, cells } of table.lines) {
		await yieldIfDue();
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
	return { headings: new Map(headings), ignored, unknown, guessed, lines };
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
): Pick<CsvFile, "ignored" | "unknown" | "guessed"> & {
	fields: Map<string, number>;
} {
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
	const { fields: given, guessed } = fieldsOfHeadings(kind, headings, choices);
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
	return { fields, ignored, unknown, guessed };
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

/** Returns the headings of the console's template, such as `owner` for owner_id. */
function headingsOf(kind: AnyRecordKind): string[] {
	return Object.entries(givenFields(kind)).map(([name, { reference }]) =>
		reference ? name.replace(/_id(s?)$/, "$1") : name,
	);
}
