import { MAX_COLUMNS, MAX_LINES } from "../../../src/csv/import-limits.ts";
import type { CellFormat } from "./cell-formats.ts";
import { textOfNumber } from "./cell-numbers.ts";
import { RichText, readEscapes } from "./shared-texts.ts";
import { UnreadableWorkbook } from "./unreadable-workbook.ts";
import { attributeOf, attributesOf, readTokens } from "./xml-tokens.ts";

/** Most rows of a sheet that are kept. Those of an import, and some above its headings. */
export const MAX_ROWS = MAX_LINES + 1_000;

/** Most cells of a sheet, also empty ones. Each takes a moment to read. */
const MAX_CELLS = 5_000_000;

/** A rectangle of cells that the sheet shows as one cell. The first of them has the value. */
export interface MergedCells {
	top: number;
	left: number;
	bottom: number;
	right: number;
}

/** The texts of a sheet. Rows are numbered from 1 and columns from 0. */
export interface SheetCells {
	/** The rows that are not empty, in order. An empty cell has no element. */
	rows: ReadonlyMap<number, readonly (string | undefined)[]>;
	/** The rows that also have cells behind the last column that is kept. */
	wideRows: ReadonlySet<number>;
	/** A row behind the last one that is kept. */
	cutRow: number | undefined;
	merged: readonly MergedCells[];
	/** Formulas whose results are not in the file. Their cells are empty. */
	formulasWithoutResult: number;
	/** Cells with an error such as `#N/A`, and the first of them. */
	errors: number;
	firstError: string | undefined;
}

interface Common {
	texts: readonly string[];
	formats: readonly CellFormat[];
	is1904: boolean;
}

/**
 * Reads the cells of a sheet, or only its first rows that are not empty. Throws UnreadableWorkbook.
 */
export async function readSheet(
	pieces: AsyncIterable<string>,
	common: Common,
	maxRows = Number.POSITIVE_INFINITY,
): Promise<SheetCells> {
	const rows = new Map<number, string[]>();
	const wideRows = new Set<number>();
	const merged: MergedCells[] = [];
	const sheet = { formulasWithoutResult: 0, errors: 0, firstError: "" };
	let cutRow: number | undefined;
	let count = 0;
	let row = 0;
	let column = -1;
	let cell: Cell | undefined;

	const keep = (cell: Cell, reference: string) => {
		const text = cell.text(common);
		if (cell.isUnresolved) sheet.formulasWithoutResult += 1;
		if (text.trim() === "") return;
		if (cell.type === "e") {
			sheet.errors += 1;
			sheet.firstError ||= reference;
		}
		if (row > MAX_ROWS) cutRow ??= row;
		else if (column >= MAX_COLUMNS) wideRows.add(row);
		else {
			const cells = rows.get(row);
			if (cells) cells[column] = text;
			else {
				const first: string[] = [];
				first[column] = text;
				rows.set(row, first);
			}
		}
	};

	reading: for await (const tokens of readTokens(pieces)) {
		for (const token of tokens) {
			cell?.add(token);
			if (token.type === "text") continue;
			const { name } = token;
			if (token.type === "open") {
				if (name === "row") {
					row = Number(attributeOf(token, "r")) || row + 1;
					column = -1;
				} else if (name === "c") {
					const { r = "", s, t = "n" } = attributesOf(token);
					column = r === "" ? column + 1 : columnOf(r);
					cell = new Cell(t, Number(s ?? 0), r);
					count += 1;
					if (count > MAX_CELLS) {
						throw new UnreadableWorkbook(
							`has more than ${MAX_CELLS.toLocaleString()} cells on one sheet, the limit for one import. Copy the rows to import into a new workbook, and choose that file.`,
						);
					}
				} else if (name === "mergeCell") {
					const cells = readRange(attributeOf(token, "ref") ?? "");
					if (cells) merged.push(cells);
				}
			} else if (name === "c" && cell) {
				keep(cell, cell.reference);
				cell = undefined;
			} else if (name === "row") {
				if (cutRow !== undefined || rows.size >= maxRows) break reading;
			}
		}
	}
	return {
		...sheet,
		rows: new Map([...rows].sort(([a], [b]) => a - b)),
		wideRows,
		cutRow,
		merged,
		firstError: sheet.firstError || undefined,
	};
}

/** Collects what the sheet says about one cell. */
class Cell {
	readonly type: string;
	readonly reference: string;
	readonly #style: number;
	readonly #inline = new RichText();
	#value = "";
	#isValue = false;
	#isFormula = false;

	constructor(type: string, style: number, reference: string) {
		this.type = type;
		this.#style = style;
		this.reference = reference;
	}

	add(token: { type: string; name?: string; text?: string }): void {
		this.#inline.add(token);
		if (token.type === "text") {
			if (this.#isValue) this.#value += token.text;
		} else if (token.name === "v") {
			this.#isValue = token.type === "open";
		} else if (token.name === "f") this.#isFormula = true;
	}

	/** True for a formula whose result is not in the file. It differs from an empty text. */
	get isUnresolved(): boolean {
		return this.#isFormula && this.#value === "" && this.type !== "str";
	}

	text({ texts, formats, is1904 }: Common): string {
		const value = this.#value;
		switch (this.type) {
			case "s":
				return texts[Number(value)] ?? "";
			case "inlineStr":
				return this.#inline.value;
			case "str":
				return readEscapes(value);
			case "b":
				return value === "" ? "" : value.trim() === "1" ? "TRUE" : "FALSE";
			case "d":
				return value.replace(/T00:00(?::00(?:\.0+)?)?Z?$/, "");
			case "n": {
				const number = Number(value);
				if (value.trim() === "" || !Number.isFinite(number)) return value;
				const format = formats[this.#style] ?? { type: "number" };
				return textOfNumber(number, format, is1904);
			}
			default:
				return value;
		}
	}
}

/** Returns the number of the column in a reference such as AB12. */
function columnOf(reference: string): number {
	let column = 0;
	for (const letter of reference.toUpperCase()) {
		const place = letter.charCodeAt(0) - 64;
		if (place < 1 || place > 26) break;
		column = column * 26 + place;
	}
	return column - 1;
}

/** Returns the cells of a reference such as B1:D2, or undefined if it is none. */
function readRange(reference: string): MergedCells | undefined {
	const [, from = "", top, to = "", bottom] =
		/^\$?([a-z]{1,3})\$?(\d{1,7}):\$?([a-z]{1,3})\$?(\d{1,7})$/i.exec(
			reference,
		) ?? [];
	return top && bottom
		? {
				top: Number(top),
				left: columnOf(from),
				bottom: Number(bottom),
				right: columnOf(to),
			}
		: undefined;
}
