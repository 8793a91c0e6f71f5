import { CsvError, parse } from "csv-parse/sync";
import { AppError } from "../errors.ts";
import { givenFields } from "../records/input.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import { nameHeading } from "./columns.ts";

export const MAX_LINES = 10_000;

export interface FileLine {
	/** As a spreadsheet counts: the heading is line 1, a record is one line. */
	line: number;
	/** By field, `id` included. */
	cells: ReadonlyMap<string, string>;
	/** Why its cells cannot be told apart. */
	issue?: string;
}

export interface CsvFile {
	/** Field → its heading in the file. */
	headings: ReadonlyMap<string, string>;
	/** Headings of what cannot be given: times, scores, the names beside ids. */
	ignored: string[];
	lines: FileLine[];
}

/** A CSV file of records of a kind. Throws bad_request when it cannot be read as one. */
export function readFile(kind: AnyRecordKind, csv: string): CsvFile {
	const [heading = [], ...records] = split(csv);
	if (heading.every((name) => name.trim() === "")) {
		throw wrongFile("is empty; its first line has to name the columns");
	}
	const { fields, ignored } = readHeadings(kind, heading);
	if (records.length > MAX_LINES) {
		throw wrongFile(
			`has more than ${MAX_LINES} lines, the most at a time; import it in parts`,
		);
	}
	const lines = records.flatMap((cells, index): FileLine[] => {
		if (cells.every((cell) => cell.trim() === "")) return [];
		const line = index + 2;
		if (cells.length !== heading.length) {
			const issue = `has ${cells.length} cells where the heading has ${heading.length}; a comma, a line break or a quote too many or too few may be the cause`;
			return [{ line, cells: new Map(), issue }];
		}
		const known = fields.flatMap((field, at): [string, string][] =>
			field === undefined ? [] : [[field, cells[at] ?? ""]],
		);
		return [{ line, cells: new Map(known) }];
	});
	const headings = fields.flatMap((field, at): [string, string][] =>
		field === undefined ? [] : [[field, heading[at] ?? field]],
	);
	return { headings: new Map(headings), ignored, lines };
}

function split(csv: string): string[][] {
	try {
		return parse(csv, {
			bom: true,
			delimiter: delimiterOf(csv),
			relax_column_count: true,
			// One more than may be, and the heading, so that too many are noticed.
			to: MAX_LINES + 2,
		});
	} catch (error) {
		if (!(error instanceof CsvError)) throw error;
		const { lines } = error as CsvError & { lines?: number };
		const where = lines === undefined ? "" : ` near line ${lines}`;
		throw wrongFile(
			error.code === "CSV_QUOTE_NOT_CLOSED"
				? `has a quoted cell${where} that does not end`
				: `cannot be read as CSV${where}: quote a cell that has a quote in it, and double that quote`,
		);
	}
}

/** What most separates the headings: Excel writes semicolons where a comma is the decimal sign. */
function delimiterOf(csv: string): string {
	const heading = /^[^\r\n]*/.exec(csv)?.[0] ?? "";
	const counted = [",", ";", "\t"].map((delimiter) => ({
		delimiter,
		count: heading.split(delimiter).length,
	}));
	counted.sort((a, b) => b.count - a.count);
	return counted[0]?.delimiter ?? ",";
}

function readHeadings(kind: AnyRecordKind, headings: string[]) {
	const aliases = aliasesOf(kind);
	const beside = new Set(
		Object.entries(kind.fields)
			.filter(([, { reference }]) => reference)
			.map(([name]) => nameHeading(name)),
	);
	const given = headings.map((heading) => aliases.get(normalize(heading)));
	const fields: (string | undefined)[] = [];
	const ignored: string[] = [];
	for (const [at, heading] of headings.entries()) {
		const field = given[at];
		if (field === undefined) {
			throw wrongFile(
				`has a column "${heading.slice(0, 80)}", which is no field of ${kind.nouns}; known are id, ${headingsOf(kind).join(", ")}`,
			);
		}
		const isBeside = beside.has(normalize(heading));
		const others = given.filter((other) => other === field).length > 1;
		if (field === null || (isBeside && others)) {
			if (heading.trim() !== "") ignored.push(heading);
			fields.push(undefined);
		} else if (fields.includes(field)) {
			throw wrongFile(`has two columns for ${field}; remove one of them`);
		} else fields.push(field);
	}
	return { fields, ignored };
}

/** How the headings of a kind may be written → the field; null: a column that is not read. */
function aliasesOf(kind: AnyRecordKind): Map<string, string | null> {
	const aliases = new Map<string, string | null>([
		["id", "id"],
		// Spreadsheets leave empty columns behind.
		["", null],
	]);
	for (const name of ["organization_id", "created_at", "updated_at"]) {
		aliases.set(name, null);
	}
	for (const [name, field] of Object.entries(kind.fields)) {
		aliases.set(name, field.given === "computed" ? null : name);
		if (!field.reference) continue;
		aliases.set(nameHeading(name), name);
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

/** The columns as the template of the console has them: `owner` for owner_id. */
function headingsOf(kind: AnyRecordKind): string[] {
	return Object.entries(givenFields(kind)).map(([name, { reference }]) =>
		reference ? name.replace(/_id(s?)$/, "$1") : name,
	);
}

/** "Owner ID", "owner-id" → `owner_id`. */
function normalize(heading: string): string {
	return heading
		.trim()
		.toLowerCase()
		.replace(/[\s-]+/g, "_");
}

function wrongFile(what: string): AppError {
	const issue = { field: "csv", message: `the file ${what}` };
	return new AppError("bad_request", issue.message, { fields: [issue] });
}
