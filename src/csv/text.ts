/**
 * CSV is written as spreadsheets read it (RFC 4180): lines end with CR LF, and cells are quoted
 * where they must be. A file begins with a byte order mark. Without it, Excel takes UTF-8 for the
 * system's old encoding and shows "ZÃ¼rich".
 */
export const BYTE_ORDER_MARK = "\ufeff";

export function writeLine(cells: readonly string[]): string {
	return `${cells.map(quoteCell).join(",")}\r\n`;
}

function quoteCell(cell: string): string {
	// Some spreadsheets separate cells by a semicolon or a tab.
	return /[",;\t\r\n]|^\s|\s$/.test(cell)
		? `"${cell.replaceAll('"', '""')}"`
		: cell;
}

// The last four are the full-width forms, which spreadsheets in Japanese read as the first four.
const FORMULA_SIGNS = new Set("=+-@\uff1d\uff0b\uff0d\uff20");
/** A spreadsheet that separates by one of these begins a new cell there, also inside our quotes. */
const SEPARATORS = new Set(";\t\r\n");
/** Characters that do not keep a spreadsheet from seeing a formula behind them. */
const SKIPPED = /^(['"]|[^\S\t\r\n])$/;
const BLANK_START = /^'*[\t\r\n]/;

/**
 * Returns the text so that no spreadsheet takes a part of it for a formula: with an apostrophe
 * before each formula at the beginning, or after a semicolon, tab or line break. A place that has
 * apostrophes already gets one more, so `fromHarmless` returns exactly the original text.
 */
export function toHarmless(text: string): string {
	return rewrite(text, (place) => `'${place}`);
}

/** Returns the text that `toHarmless` was given. */
export function fromHarmless(cell: string): string {
	return rewrite(cell, (place) =>
		place.startsWith("'") ? place.slice(1) : place,
	);
}

/** Rewrites the parts of the text that begin with a formula, each up to the next separator. */
function rewrite(text: string, change: (place: string) => string): string {
	// From the end, so that one pass finds out for each place whether a formula follows.
	const parts: string[] = [];
	let isFormula = false;
	let end = text.length;
	for (let at = text.length - 1; at >= 0; at -= 1) {
		const sign = text.charAt(at);
		isFormula = FORMULA_SIGNS.has(sign) || (isFormula && SKIPPED.test(sign));
		if (at > 0 && !SEPARATORS.has(text.charAt(at - 1))) continue;
		const place = text.slice(at, end);
		const isMeant = isFormula || (at === 0 && BLANK_START.test(text));
		parts.push(isMeant ? change(place) : place);
		end = at;
	}
	return parts.reverse().join("");
}

/**
 * Writes a list into one cell: entries between semicolons, quoted where one has a semicolon itself.
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
 * Returns the entries of a cell, between semicolons or on lines of their own, without blank ones.
 */
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
