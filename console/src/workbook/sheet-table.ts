import {
	MAX_COLUMNS,
	MAX_CSV_BYTES,
	MAX_LINES,
} from "../../../src/csv/import-limits.ts";
import { writeLine } from "../../../src/csv/text.ts";
import type { MergedCells, SheetCells } from "./read-sheet.ts";
import { UnreadableWorkbook } from "./unreadable-workbook.ts";
import { makePageYield } from "./yield-to-page.ts";

/** Last row that may have the headings. */
const LAST_HEADING = 1_000;
/** The rows among which the headings are looked for. */
export const HEADING_ROWS = 20;
/** Most merged cells that are filled. */
const MAX_FILLED = 200_000;

interface KnownField {
	name: string;
	label: string;
	/** The register whose records the field refers to. */
	reference?: string;
}

/** As much of a register as decides which of its fields a heading means. */
export interface KnownFields {
	title: string | null;
	fields: readonly KnownField[];
}

/** Returns the rows that may have the headings, and that with the headings of the register. */
export function findHeadings(
	sheet: SheetCells,
	kind: KnownFields,
): { choices: readonly number[]; row: number; isSure: boolean } {
	const fields = new Map(
		[ID, ...kind.fields].flatMap((field) =>
			headingsOf(field).map((heading) => [normalize(heading), field.name]),
		),
	);
	const found = [...sheet.rows].slice(0, HEADING_ROWS).map(([row, cells]) => {
		const filled = cells.filter((cell) => cell !== undefined);
		const names = new Set(
			headingsAt(sheet, row).map(
				(heading) => heading && fields.get(normalize(heading)),
			),
		);
		names.delete(undefined);
		const isSure = names.has("id") || (!!kind.title && names.has(kind.title));
		return { row, filled: filled.length, known: names.size, isSure };
	});
	const choices = found
		.filter(({ row }) => row <= LAST_HEADING)
		.map(({ row }) => row);
	const most = Math.max(0, ...found.map(({ known }) => known));
	const best =
		most > 0
			? found.find(({ known }) => known === most)
			: // A title above the table has one cell.
				found[0]?.filled === 1
				? (found.find(({ filled }) => filled > 1) ?? found[0])
				: found[0];
	return { choices, row: best?.row ?? 1, isSure: best?.isSure ?? false };
}

const ID: KnownField = { name: "id", label: "ID" };

/** Returns the headings that mean a field, as an export and the console write them. */
function headingsOf({ name, label, reference }: KnownField): string[] {
	return [name, label, ...(reference ? [name.replace(/_id(s?)$/, "$1")] : [])];
}

function normalize(heading: string): string {
	return heading
		.trim()
		.toLowerCase()
		.replace(/[\s_-]+/g, "_");
}

/**
 * Returns a sheet as the CSV file that an import takes. Its lines have the numbers of the sheet's
 * rows. The rows above the headings and the columns without a heading are left out. Throws
 * UnreadableWorkbook if the table is too large.
 */
export async function toCsv(
	sheet: SheetCells,
	headingRow: number,
	kind: KnownFields,
): Promise<{ text: string; lines: number }> {
	rejectTooLong(sheet, headingRow);
	const rows = new Map(
		[...sheet.rows].map(([row, cells]) => [row, [...cells]]),
	);
	const headings = headingsAt(sheet, headingRow);
	const own = new Set(
		[ID, ...kind.fields]
			.filter(({ name }) => [kind.title, "id", "reference_id"].includes(name))
			.flatMap(headingsOf)
			.map(normalize),
	);
	fillMerged(rows, sheet.merged, (column) => {
		const heading = headings[column];
		return heading !== undefined && !own.has(normalize(heading));
	});
	const columns = [...headings.keys()].filter(
		(column) => headings[column] !== undefined,
	);
	let text =
		"\r\n".repeat(headingRow - 1) +
		writeLine(columns.map((column) => headings[column] ?? ""));
	let line = headingRow;
	let lines = 0;
	const yieldIfDue = makePageYield();
	for (const [row, cells] of rows) {
		await yieldIfDue();
		if (row <= headingRow) continue;
		const given = columns.map((column) => cells[column] ?? "");
		if (given.every((cell) => cell === "")) continue;
		text += "\r\n".repeat(row - line - 1) + writeLine(given);
		line = row;
		lines += 1;
		// A character takes at least one byte.
		if (text.length > MAX_CSV_BYTES) {
			throw new UnreadableWorkbook(
				`has more than ${MAX_CSV_BYTES / 2 ** 20} MB of text up to row ${row.toLocaleString()}, the limit for one import. Split the sheet and import the parts.`,
			);
		}
	}
	return { text, lines };
}

function rejectTooLong(
	{ rows, cutRow, wideRows }: SheetCells,
	headingRow: number,
): void {
	if (rows.size === 0) {
		throw new UnreadableWorkbook("has no text on this sheet.");
	}
	if (headingRow > LAST_HEADING) {
		throw new UnreadableWorkbook(
			`has no text in its first ${LAST_HEADING.toLocaleString()} rows. Delete the empty rows above the headings.`,
		);
	}
	const last = cutRow ?? lastOf(rows);
	if (last > headingRow + MAX_LINES) {
		throw new UnreadableWorkbook(
			`has text in row ${last.toLocaleString()}, but an import takes at most ${MAX_LINES.toLocaleString()} rows below the headings. Split the sheet and import the parts.`,
		);
	}
	if (wideRows.has(headingRow)) {
		throw new UnreadableWorkbook(
			`has more than ${MAX_COLUMNS} columns. Delete those that are not imported.`,
		);
	}
}

/**
 * Returns the headings by column. A cell that is merged with others below it counts in the last of
 * its rows. If a heading is there twice, such as "Likelihood", the heading above it comes first, as
 * in "Inherent Likelihood".
 */
function headingsAt(
	{ rows, merged }: SheetCells,
	row: number,
): (string | undefined)[] {
	// Real merged cells never overlap, so the two rows have fewer.
	const near = merged
		.filter(
			({ top, bottom, left }) =>
				top <= row && bottom >= row - 1 && left < MAX_COLUMNS,
		)
		.slice(0, 2 * MAX_COLUMNS);
	const table = { rows, merged: near };
	const headings = Array.from({ length: MAX_COLUMNS }, (_, column) =>
		headingAt(table, row, column, "above"),
	);
	const counts = new Map<string, number>();
	for (const heading of headings) {
		if (heading === undefined) continue;
		const key = normalize(heading);
		counts.set(key, (counts.get(key) ?? 0) + 1);
	}
	return headings.map((heading, column) => {
		if (heading === undefined || counts.get(normalize(heading)) === 1) {
			return heading;
		}
		const group = headingAt(table, row - 1, column, "left");
		return group && group !== heading ? `${group} ${heading}` : heading;
	});
}

/** Returns the text of a cell, or of the merged cell that reaches it from this side. */
function headingAt(
	{ rows, merged }: Pick<SheetCells, "rows" | "merged">,
	row: number,
	column: number,
	side: "above" | "left",
): string | undefined {
	const around = merged.find(
		({ top, bottom, left, right }) =>
			top <= row &&
			row <= bottom &&
			left <= column &&
			column <= right &&
			(side === "left" || left === column),
	);
	const text =
		rows.get(row)?.[column] ?? (around && rows.get(around.top)?.[around.left]);
	return text?.replace(/\s+/g, " ").trim();
}

/** Writes the value of each merged cell into all its rows that are not empty. */
function fillMerged(
	rows: ReadonlyMap<number, (string | undefined)[]>,
	merged: readonly MergedCells[],
	isFilled: (column: number) => boolean,
): void {
	const last = lastOf(rows);
	let left = MAX_FILLED;
	for (const { top, bottom, left: column } of merged) {
		const value = rows.get(top)?.[column];
		if (value === undefined || bottom === top || !isFilled(column)) continue;
		for (let row = top + 1; row <= Math.min(bottom, last); row++) {
			if (left-- <= 0) return;
			const cells = rows.get(row);
			if (cells) cells[column] ??= value;
		}
	}
}

function lastOf(rows: ReadonlyMap<number, unknown>): number {
	return Math.max(...rows.keys());
}
