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

// Characters that begin a formula. The last four are the full-width forms of the first four.
// Japanese spreadsheets treat both forms alike.
const FORMULA_SIGNS = new Set("=+-@\uff1d\uff0b\uff0d\uff20");
/**
 * Separators of cells. A spreadsheet that uses one of them as separator also splits inside our
 * quotes.
 */
const SEPARATORS = new Set(";\t\r\n");
/** Characters that may precede a formula. A spreadsheet still recognizes the formula after them. */
const SKIPPED = /^(['"]|[^\S\t\r\n])$/;
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
 * Applies `change` to each part of the text that begins with a formula. A part ends at the next
 * separator.
 */
function rewrite(text: string, change: (place: string) => string): string {
	// The loop goes backwards. It then knows at each position whether a formula follows, and needs
	// only one pass.
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
