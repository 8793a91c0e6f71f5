/**
 * Byte order mark at the start of each file. Without it, Excel reads UTF-8 in the system's old
 * encoding and shows "ZÃ¼rich". The lines after it follow RFC 4180, as spreadsheets expect: they
 * end with CR LF, and cells are quoted where necessary.
 */
export const BYTE_ORDER_MARK = "\ufeff";

export function writeLine(cells: readonly string[]): string {
	return `${cells.map(quoteCell).join(",")}\r\n`;
}

function quoteCell(cell: string): string {
	// Some spreadsheets use semicolons or tabs as separators, so cells that contain them are quoted
	// too.
	return /[",;\t\r\n]|^\s|\s$/.test(cell)
		? `"${cell.replaceAll('"', '""')}"`
		: cell;
}

/**
 * The beginning of a formula with what separates it from the text before. A spreadsheet that uses
 * one of these separators also splits inside our quotes, and it skips quotes and blanks before a
 * sign. The last four signs are the full-width forms of the first four. Japanese spreadsheets treat
 * both forms alike.
 */
const FORMULA =
	/(^|[;\t\r\n])((?:['"]|[^\S\t\r\n])*[=+\-@\uff1d\uff0b\uff0d\uff20])/g;
const BLANK_START = /^'*[\t\r\n]/;

/**
 * Adds apostrophes to a text so that no spreadsheet runs a part of it as a formula. An apostrophe
 * goes before each formula at the beginning of the text or after a semicolon, tab or line break. If
 * there are apostrophes already, one more is added, so that `fromHarmless` returns exactly the
 * original text.
 */
export function toHarmless(text: string): string {
	return rewrite(text, (place) => `'${place}`);
}

/** Returns the original of a text that `toHarmless` has changed. */
export function fromHarmless(cell: string): string {
	return rewrite(cell, (place) =>
		place.startsWith("'") ? place.slice(1) : place,
	);
}

/**
 * Applies `change` to the beginning of each formula, and to a text that begins with a tab or a line
 * break.
 */
function rewrite(text: string, change: (place: string) => string): string {
	const rewritten = text.replace(
		FORMULA,
		(_, separator: string, place: string) => separator + change(place),
	);
	return BLANK_START.test(text) ? change(rewritten) : rewritten;
}

/**
 * Writes a list into one cell. Semicolons separate the entries. An entry that contains a semicolon
 * is quoted.
 */
export function writeList(entries: readonly string[]): string {
	return entries
		.map((entry) =>
			/[;"\r\n]|^\s|\s$/.test(entry)
				? `"${entry.replaceAll('"', '""')}"`
				: entry,
		)
		.join("; ");
}

/**
 * Returns the entries of a cell. Semicolons or line breaks separate them, and blank entries are
 * left out.
 */
export function readList(cell: string): string[] {
	const entries = cell
		.trimStart()
		.matchAll(/(?:"((?:[^"]|"")*)"[^\S\r\n]*|([^;\r\n]*))(?:[;\r\n]|$)\s*/gy);
	return [...entries]
		.map(
			([, quoted, plain]) =>
				quoted?.replaceAll('""', '"') ?? plain?.trim() ?? "",
		)
		.filter((entry) => entry !== "");
}
