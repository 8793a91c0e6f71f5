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

test("what a spreadsheet would take for a formula is made harmless, and nothing else is changed", () => {
	for (const formula of [
		"=1+1",
		"+1",
		"-1",
		"@A1",
		"\t=1",
		"\r=1",
		"＝1",
		"'=1",
	]) {
		expect(toHarmless(formula)).toBe(`'${formula}`);
	}
	for (const plain of ["", "a=b", "it's", "'quoted'", "1-2", "a@b.c"]) {
		expect(toHarmless(plain)).toBe(plain);
	}
});

test("a harmless cell gives back exactly the text that was written", () => {
	fc.assert(
		fc.property(text(), (written) => {
			expect(fromHarmless(toHarmless(written))).toBe(written);
		}),
		{ numRuns: 2000 },
	);
});

test("a list in a cell gives back exactly its entries, whatever is in them", () => {
	const entry = text().filter((one) => one !== "" && !/[\r\n]/.test(one));
	fc.assert(
		fc.property(fc.array(entry), (entries) => {
			expect(readList(writeList(entries))).toEqual(entries);
		}),
		{ numRuns: 2000 },
	);
});

test("a list is read as people write it: on lines of its own, with blanks, without an end", () => {
	expect(readList("DE; CH;US;")).toEqual(["DE", "CH", "US"]);
	expect(readList("DE\r\nCH\nUS")).toEqual(["DE", "CH", "US"]);
	expect(readList('"a; b" ;c "d"')).toEqual(["a; b", 'c "d"']);
	expect(readList(" ; ")).toEqual([]);
});

test("lines are RFC 4180: any reader gets back the cells", () => {
	fc.assert(
		fc.property(
			fc.array(fc.array(text(), { minLength: 2, maxLength: 2 })),
			(rows) => {
				const csv = writeLine(["a", "b"]) + rows.map(writeLine).join("");
				expect(parse(csv)).toEqual([["a", "b"], ...rows]);
			},
		),
		{ numRuns: 1000 },
	);
});
