import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
	fromHarmless,
	readList,
	toHarmless,
	writeLine,
	writeList,
} from "../../src/csv/text.ts";

const text = () =>
	fc.oneof(
		fc.string({ unit: "grapheme" }),
		fc
			.array(
				fc.constantFrom(
					"'",
					"=",
					"+",
					"-",
					"@",
					"\t",
					"\r",
					"\n",
					'"',
					",",
					";",
					" ",
					"a",
					"＝",
				),
			)
			.map((parts) => parts.join("")),
	);

test("text that a spreadsheet would run as a formula is made harmless, and nothing else is changed", () => {
	for (const formula of [
		"=1+1",
		"+1",
		"-1",
		"@A1",
		"\ttab",
		"\rline",
		"＝1",
		"'=1",
	]) {
		expect(toHarmless(formula)).toBe(`'${formula}`);
	}
	for (const plain of ["", "a=b", "it's", "'quoted'", "1-2", "a@b.c"]) {
		expect(toHarmless(plain)).toBe(plain);
	}
});

test("a formula behind a semicolon, a tab or a line break in a cell is made harmless too", () => {
	expect(toHarmless("z;=1+cmd|' /C calc'!A0;w")).toBe(
		"z;'=1+cmd|' /C calc'!A0;w",
	);
	expect(toHarmless("a\t-1\n+2\r\n@3")).toBe("a\t'-1\n'+2\r\n'@3");
	expect(toHarmless('a; "=1')).toBe("a;' \"=1");
	for (const plain of [
		"a; b",
		"one\n\ntwo",
		"x;1-2",
		"don't; =x".slice(0, 7),
	]) {
		expect(toHarmless(plain)).toBe(plain);
	}
});

test("a spreadsheet that separates by semicolons or tabs finds no formula in any cell", () => {
	fc.assert(
		fc.property(
			fc.array(text(), { minLength: 1, maxLength: 3 }),
			fc.constantFrom(";", "\t"),
			(cells, delimiter) => {
				const line = writeLine(["id", ...cells.map(toHarmless)]);
				const read: string[][] = parse(line, {
					delimiter,
					relax_quotes: true,
					relax_column_count: true,
					// This kind of spreadsheet also ends the line at a line break inside a cell, because no
					// quote begins the cell.
					quote: null,
				});
				for (const cell of read.flat()) {
					expect(cell).not.toMatch(/^["\s]*[=+\-@\uff1d\uff0b\uff0d\uff20]/);
				}
			},
		),
		{ numRuns: 500 },
	);
});

test("reading a harmless cell returns exactly the text that was written", () => {
	fc.assert(
		fc.property(text(), (written) => {
			expect(fromHarmless(toHarmless(written))).toBe(written);
		}),
		{ numRuns: 500 },
	);
});

test("reading a list from a cell returns exactly its entries, whatever their content", () => {
	const entry = text().filter((one) => one !== "" && !/[\r\n]/.test(one));
	fc.assert(
		fc.property(fc.array(entry), (entries) => {
			expect(readList(writeList(entries))).toEqual(entries);
		}),
		{ numRuns: 500 },
	);
});

test("a list may be written with line breaks, with blanks and without a final separator", () => {
	expect(readList("DE; CH;US;")).toEqual(["DE", "CH", "US"]);
	expect(readList("DE\r\nCH\nUS")).toEqual(["DE", "CH", "US"]);
	expect(readList('"a; b" ;c "d"')).toEqual(["a; b", 'c "d"']);
	expect(readList(" ; ")).toEqual([]);
});

test("lines follow RFC 4180, so that every CSV reader returns the same cells", () => {
	fc.assert(
		fc.property(
			fc.array(fc.array(text(), { minLength: 2, maxLength: 2 })),
			(rows) => {
				const csv = writeLine(["a", "b"]) + rows.map(writeLine).join("");
				expect(parse(csv)).toEqual([["a", "b"], ...rows]);
			},
		),
		{ numRuns: 250 },
	);
});
