import { attributeOf, readTokens } from "./xml-tokens.ts";

/** How a cell shows its number, as far as it changes the meaning. */
export type CellFormat =
	| { type: "number" | "percent" | "date" | "time" | "datetime" }
	/** Digits with zeros in front, such as 007 or R-007. */
	| { type: "padded"; before: string; digits: number; after: string };

/** Characters of a format's code that are read. Excel allows fewer. */
const MAX_CODE = 255;
/** The first section of a code. A semicolon in quotes ends none. */
const SECTION = /^(?:[^";]|"[^"]*"?)*/;

const NUMBER: CellFormat = { type: "number" };
const PERCENT: CellFormat = { type: "percent" };
const DATE: CellFormat = { type: "date" };
const TIME: CellFormat = { type: "time" };
const DATETIME: CellFormat = { type: "datetime" };

/**
 * The formats that every workbook has without saying so (ISO/IEC 29500-1, 18.8.30). Those from 27 to
 * 58 are dates in workbooks from East Asia.
 */
function builtIn(id: number): CellFormat {
	if (id === 9 || id === 10) return PERCENT;
	if (id === 22) return DATETIME;
	if ((id >= 18 && id <= 21) || (id >= 45 && id <= 47)) return TIME;
	if (id >= 32 && id <= 35) return TIME;
	if ((id >= 14 && id <= 17) || (id >= 27 && id <= 36)) return DATE;
	if (id >= 50 && id <= 58) return id === 55 || id === 56 ? TIME : DATE;
	return NUMBER;
}

/** Returns the formats of cells by the number that cells refer to. */
export async function readFormats(
	pieces: AsyncIterable<string>,
): Promise<CellFormat[]> {
	const own = new Map<string, CellFormat>();
	const formats: CellFormat[] = [];
	let isOfCells = false;
	for await (const tokens of readTokens(pieces)) {
		for (const token of tokens) {
			if (token.type === "text") continue;
			if (token.name === "cellXfs") isOfCells = token.type === "open";
			if (token.type !== "open") continue;
			if (token.name === "numFmt") {
				const code = attributeOf(token, "formatCode") ?? "";
				own.set(attributeOf(token, "numFmtId") ?? "", formatOf(code));
			} else if (token.name === "xf" && isOfCells) {
				const id = attributeOf(token, "numFmtId") ?? "0";
				formats.push(own.get(id) ?? builtIn(Number(id)));
			}
		}
	}
	return formats;
}

/** Returns the format for a code such as `yyyy-mm-dd` or `0.00`. */
export function formatOf(code: string): CellFormat {
	// Further sections are for negative numbers, for zero and for texts.
	const positive = SECTION.exec(code.slice(0, MAX_CODE))?.[0] ?? "";
	const padded = /^(?:"([^"]*)")?(0{2,}|(?<=")0)(?:"([^"]*)")?$/.exec(positive);
	if (padded) {
		const [, before = "", zeros = "", after = ""] = padded;
		return { type: "padded", before, digits: zeros.length, after };
	}
	// A duration such as [h]:mm is a time. Other brackets are colors, conditions and languages.
	const bare = positive
		.replace(/"[^"]*"?|\\.|_.|\*./g, "")
		.replace(/\[(h+|m+|s+)\]/gi, "$1")
		.replace(/\[[^[\]]*\]/g, "");
	if (/general/i.test(bare)) return NUMBER;
	if (/[0#?]/.test(bare.replace(/s\.0+/gi, ""))) {
		return bare.includes("%") ? PERCENT : NUMBER;
	}
	const hasTime = /[hs]/i.test(bare);
	// In a time, "m" means minutes.
	const hasDate = /[yd]/i.test(bare) || (!hasTime && /m/i.test(bare));
	if (hasDate) return hasTime ? DATETIME : DATE;
	return hasTime ? TIME : NUMBER;
}
