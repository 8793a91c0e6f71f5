import type { SheetCells } from "./read-sheet.ts";
import {
	findHeadings,
	HEADING_ROWS,
	type KnownFields,
	toCsv,
} from "./sheet-table.ts";
import { UnreadableWorkbook } from "./unreadable-workbook.ts";
import { openWorkbook, type Workbook } from "./workbook.ts";
import { ZipArchive } from "./zip-archive.ts";

/** Most sheets in which the headings of the register are looked for. */
const MAX_SEARCHED = 20;
/** Longest description of a row of headings, in characters. */
const MAX_SHOWN = 60;

/** A sheet as the table that an import takes. */
export interface SheetTable {
	text: string;
	/** Number of rows below the headings that are not empty. */
	lines: number;
	headingRow: number;
	/** The rows that may have the headings, with their first texts. */
	headingChoices: readonly { row: number; text: string }[];
	/** Sentences about cells that could not be read as the sheet shows them. */
	notes: readonly string[];
}

/**
 * Opens a file that begins like a workbook, or like the older kinds of one. Throws
 * UnreadableWorkbook, with what to do instead.
 */
export function openFile(bytes: Uint8Array<ArrayBuffer>): Promise<Workbook> {
	if (bytes[0] === 0xd0) throw olderFormat(bytes);
	return openWorkbook(new ZipArchive(bytes));
}

/** Excel files with a password, and those from before 2007, have the same container. */
function olderFormat(bytes: Uint8Array): UnreadableWorkbook {
	const name = [..."EncryptedPackage"].flatMap((sign) => [
		sign.charCodeAt(0),
		0,
	]);
	const isProtected = bytes.some(
		(byte, at) =>
			byte === name[0] &&
			name.every((expected, n) => bytes[at + n] === expected),
	);
	return new UnreadableWorkbook(
		isProtected
			? "is protected with a password. Open it in Excel, remove the password (File, Info, Protect Workbook, Encrypt with Password), save it, and choose it again."
			: "is in the format of Excel before 2007 (.xls). Open it in your spreadsheet program, save it as an Excel workbook (.xlsx), and choose that file.",
	);
}

/**
 * Returns the number of the first visible sheet that has the headings of the register, or of the
 * first visible sheet if none has.
 */
export async function findSheet(
	{ sheets, read }: Workbook,
	kind: KnownFields,
): Promise<number> {
	const visible = [...sheets.keys()].filter((at) => !sheets[at]?.isHidden);
	for (const at of visible.slice(0, MAX_SEARCHED)) {
		const sheet = sheets[at];
		if (!sheet) continue;
		const cells = await read(sheet, HEADING_ROWS);
		if (findHeadings(cells, kind).isSure) return at;
	}
	return visible[0] ?? 0;
}

/**
 * Reads a sheet as the table of an import. Without `headingRow`, looks for the row with the headings.
 * Throws UnreadableWorkbook.
 */
export async function readTable(
	{ sheets, read }: Workbook,
	at: number,
	kind: KnownFields,
	headingRow?: number,
): Promise<SheetTable> {
	const sheet = sheets[at];
	if (!sheet) throw new Error(`there is no sheet ${at}`);
	const cells = await read(sheet);
	const { choices, row } = findHeadings(cells, kind);
	const chosen = headingRow ?? row;
	return {
		...(await toCsv(cells, chosen, kind)),
		headingRow: chosen,
		headingChoices: choices.map((row) => ({
			row,
			text: shorten(cells.rows.get(row) ?? []),
		})),
		notes: notesAbout(cells),
	};
}

function shorten(cells: readonly (string | undefined)[]): string {
	const text = cells
		.flatMap((cell) => cell?.replace(/\s+/g, " ").trim() ?? [])
		.join(", ");
	return text.length > MAX_SHOWN
		? `${text.slice(0, MAX_SHOWN).trimEnd()}…`
		: text;
}

function notesAbout({
	formulasWithoutResult: formulas,
	errors,
	firstError,
}: SheetCells): string[] {
	return [
		...(formulas > 0
			? [
					`${formulas === 1 ? "1 formula has no result" : `${formulas.toLocaleString()} formulas have no results`} in the file and ${formulas === 1 ? "is" : "are"} read as empty. Open the file in your spreadsheet program and save it there.`,
				]
			: []),
		...(errors > 0
			? [
					errors === 1
						? `The cell ${firstError} has an error instead of a value.`
						: `${errors.toLocaleString()} cells have errors instead of values. The first is ${firstError}.`,
				]
			: []),
	];
}
