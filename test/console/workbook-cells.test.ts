import { expect, test } from "vitest";
import { formatOf } from "../../console/src/workbook/cell-formats.ts";
import { textOfNumber } from "../../console/src/workbook/cell-numbers.ts";
import { openFile } from "../../console/src/workbook/open-file.ts";
import { makeWorkbook } from "../support/make-workbook.ts";

/** Returns the cells of a workbook's first sheet. */
async function cellsOf(file: Buffer<ArrayBuffer>) {
	const workbook = await openFile(file);
	const [sheet] = workbook.sheets;
	if (!sheet) throw new Error("the workbook has no sheet");
	return workbook.read(sheet);
}

/** Returns the texts of the first row. */
async function firstRow(...[rows, options]: [string, object?]) {
	const file = makeWorkbook([{ name: "A", rows }], options);
	const { rows: found } = await cellsOf(file);
	return [...(found.get(1) ?? [])];
}

test("shared, rich and inline texts are read, without what only says how to pronounce them", async () => {
	expect(
		await firstRow(
			'<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="inlineStr"><is><r><t>a &lt;</t></r><r><rPr><b/></rPr><t xml:space="preserve"> b</t></r></is></c><c r="D1" t="s"><v>2</v></c></row>',
			{
				texts: [
					"M&#252;ller &amp; Söhne",
					"<r><t>Fire </t></r><r><rPr><b/></rPr><t>in the room</t></r><rPh sb='0' eb='1'><t>ka</t></rPh>",
					"two_x000D_\nlines _x005F_x0041_",
				],
			},
		),
	).toEqual([
		"Müller & Söhne",
		"Fire in the room",
		"a < b",
		"two\nlines _x0041_",
	]);
});

test("a cell stands where its reference says, and without one behind the cell before it", async () => {
	const { rows } = await cellsOf(
		makeWorkbook([
			{
				name: "A",
				rows: '<row r="2"><c r="C2"><v>1</v></c><c><v>2</v></c><c r="AB2"><v>3</v></c></row><row><c><v>4</v></c></row><row r="7"><c r="B7" t="str"><v> </v></c></row>',
			},
		]),
	);
	expect([...rows.keys()]).toEqual([2, 3]);
	expect(Object.entries(rows.get(2) ?? [])).toEqual([
		["2", "1"],
		["3", "2"],
		["27", "3"],
	]);
	expect(rows.get(3)).toEqual(["4"]);
});

test("a formula is its result, and one without a result and an error are counted", async () => {
	const { rows, ...sheet } = await cellsOf(
		makeWorkbook([
			{
				name: "A",
				rows: '<row r="1"><c r="A1" t="str"><f>B1&amp;"x"</f><v>ax</v></c><c r="B1"><f>1+1</f><v>2</v></c><c r="C1"><f>1</f></c><c r="D1"><f>1</f><v></v></c><c r="E1" t="e"><f>1/0</f><v>#DIV/0!</v></c><c r="F1" t="str"><f>""</f><v></v></c><c r="G1" t="b"><v>1</v></c><c r="H1" t="b"><v>0</v></c></row>',
			},
		]),
	);
	expect(Object.values(rows.get(1) ?? [])).toEqual([
		"ax",
		"2",
		"#DIV/0!",
		"TRUE",
		"FALSE",
	]);
	expect(sheet).toMatchObject({
		formulasWithoutResult: 2,
		errors: 1,
		firstError: "E1",
	});
});

test("a number with the format of a date is a date, in workbooks that count from 1900 or 1904", async () => {
	const cells = (numbers: number[]) =>
		`<row r="1">${numbers.map((number, at) => `<c s="${at + 1}"><v>${number}</v></c>`).join("")}</row>`;
	const formats = [14, "dd/mm/yyyy", "yyyy-mm-dd hh:mm", 22, "0.00"];
	const texts = ["2026-12-31", "2026-12-31", "2026-12-31 14:30", "2026-12-31"];
	expect(
		await firstRow(cells([46387, 46387.9, 46387.604166666664, 46387, 1.5]), {
			formats,
		}),
	).toEqual([...texts, "1.5"]);
	expect(
		await firstRow(cells([44925, 44925, 44925.604166666664, 44925, 1.5]), {
			formats,
			is1904: true,
		}),
	).toEqual([...texts, "1.5"]);
	expect(
		await firstRow(
			'<row r="1"><c t="d"><v>2026-12-31T00:00:00.000Z</v></c></row>',
		),
	).toEqual(["2026-12-31"]);
});

test.for([
	["General", "number"],
	["0", "number"],
	["#,##0.00 [$€-407]", "number"],
	['0 "days"', "number"],
	["0.00E+00", "number"],
	["@", "number"],
	['@" days"', "number"],
	["0.0%", "percent"],
	["m/d/yy", "date"],
	["[$-409]d\\-mmm\\-yyyy;@", "date"],
	["[Red]yyyy/mm/dd", "date"],
	["mmm yy", "date"],
	['dd"."mm"."yyyy', "date"],
	["yyyy\\-mm\\-dd\\Thh:mm:ss", "datetime"],
	["m/d/yyyy h:mm AM/PM", "datetime"],
	["[h]:mm:ss.000", "time"],
	["mm:ss", "time"],
] as const)("the format %s is a %s", ([code, type]) => {
	expect(formatOf(code).type).toBe(type);
});

test("numbers are written as people read them in the sheet", () => {
	const write = (number: number, code: string) =>
		textOfNumber(number, formatOf(code), false);
	expect(write(0.1 + 0.2, "General")).toBe("0.3");
	expect(write(3, "0.00")).toBe("3");
	expect(write(0.07, "0%")).toBe("7%");
	expect(write(7, "000")).toBe("007");
	expect(write(7, '"R-"000')).toBe("R-007");
	expect(write(7, '"R-"0')).toBe("R-7");
	expect(write(0.5, "h:mm")).toBe("12:00");
	expect(write(1.25, "[h]:mm")).toBe("30:00");
	// Excel takes 1900 for a leap year.
	expect([1, 59, 61].map((day) => write(day, "yyyy-mm-dd"))).toEqual([
		"1900-01-01",
		"1900-02-28",
		"1900-03-01",
	]);
	// A little too low, because a fraction of a day has no exact number.
	expect(write(46386.999999999, "yyyy-mm-dd hh:mm")).toBe("2026-12-31");
	expect(write(-1, "yyyy-mm-dd")).toBe("-1");
	expect(write(3_000_000, "yyyy-mm-dd")).toBe("3000000");
});
