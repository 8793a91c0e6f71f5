/**
 * CSV as spreadsheets read it (RFC 4180): lines end with CR LF, cells are quoted where they must
 * be. It begins with a byte order mark, without which Excel takes UTF-8 for the system's old
 * encoding and shows "ZÃ¼rich".
 */
export const BYTE_ORDER_MARK = "\ufeff";

export function writeLine(cells: readonly string[]): string {
	return `${cells.map(quoteCell).join(",")}\r\n`;
}

function quoteCell(cell: string): string {
	// A semicolon or a tab is what other spreadsheets separate by.
	return /[",;\t\r\n]|^\s|\s$/.test(cell)
		? `"${cell.replaceAll('"', '""')}"`
		: cell;
}

// The last four are the full-width forms, which spreadsheets in Japanese read as the first four.
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/**
 * The text so that no spreadsheet takes it for a formula: an apostrophe before what would begin
 * one. Text that has such apostrophes already gets one more, so that `fromHarmless` gives back
 * exactly what was written.
 */
export function toHarmless(text: string): string {
	return FORMULA.test(text) ? `'${text}` : text;
}

export function fromHarmless(cell: string): string {
	return cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
}

/** A list in one cell: entries between semicolons, quoted where one has a semicolon itself. */
export function writeList(entries: readonly string[]): string {
	return entries
		.map((entry) =>
			/[;"\r\n]|^\s|\s$/.test(entry)
				? `"${entry.replaceAll('"', '""')}"`
				: entry,
		)
		.join("; ");
}

/** The entries of a cell, between semicolons or on lines of their own; blank ones do not count. */
export function readList(cell: string): string[] {
	const entries = cell.matchAll(
		/\s*(?:"((?:[^"]|"")*)"[^\S\r\n]*(?=[;\r\n]|$)|([^;\r\n]*))(?:[;\r\n]|$)/g,
	);
	return [...entries]
		.map(
			([, quoted, plain]) =>
				quoted?.replaceAll('""', '"') ?? plain?.trim() ?? "",
		)
		.filter((entry) => entry !== "");
}
