import { givenFields } from "../records/input.ts";
import type { AnyRecordKind } from "../records/kind.ts";
import { nameField } from "../records/result-rows.ts";
import { type CsvTable, wrongFile } from "./read-table.ts";

export interface FileLine {
	/**
	 * Number of the line as a spreadsheet counts it. The heading is line 1, and each record is one
	 * line.
	 */
	line: number;
	/** The cells by the name of the field, including `id`. */
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
	lines: FileLine[];
}

/**
 * Reads a table as records of a register. Throws bad_request for a column that the register does
 * not have.
 */
export function readFile(kind: AnyRecordKind, table: CsvTable): CsvFile {
	const { fields, ignored } = readHeadings(kind, table.heading);
	const columns = table.heading.length;
	const lines = table.lines.map(({ line, cells }): FileLine => {
		if (cells.length !== columns) {
			const issue = `has ${cells.length} cells where the heading has ${columns}; a comma, a line break or a quote too many or too few may be the cause`;
			return { line, cells: new Map(), issue };
		}
		const known = [...fields].map(([field, at]): [string, string] => [
			field,
			cells[at] ?? "",
		]);
		return { line, cells: new Map(known) };
	});
	const headings = [...fields].map(([field, at]): [string, string] => [
		field,
		table.heading[at] ?? field,
	]);
	return { headings: new Map(headings), ignored, lines };
}

/** Returns the number of each field's column, and the headings of the columns that are not read. */
function readHeadings(
	kind: AnyRecordKind,
	headings: readonly string[],
): { fields: Map<string, number>; ignored: string[] } {
	const aliases = aliasesOf(kind);
	const beside = new Set(
		Object.entries(kind.fields)
			.filter(([, { reference }]) => reference)
			.map(([name]) => nameField(name)),
	);
	const given = headings.map((heading) => aliases.get(normalize(heading)));
	const counts = new Map<string | null | undefined, number>();
	for (const field of given) counts.set(field, (counts.get(field) ?? 0) + 1);
	const fields = new Map<string, number>();
	const ignored: string[] = [];
	for (const [at, heading] of headings.entries()) {
		const field = given[at];
		if (field === undefined) {
			throw wrongFile(
				`has a column "${heading.slice(0, 80)}", which is not a field of ${kind.nouns}; the fields are id, ${headingsOf(kind).join(", ")}`,
			);
		}
		const isBeside = beside.has(normalize(heading));
		if (field === null || (isBeside && (counts.get(field) ?? 0) > 1)) {
			if (heading.trim() !== "") ignored.push(heading);
		} else if (fields.has(field)) {
			throw wrongFile(`has two columns for ${field}; remove one of them`);
		} else fields.set(field, at);
	}
	return { fields, ignored };
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
	for (const name of ["organization_id", "created_at", "updated_at"]) {
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
