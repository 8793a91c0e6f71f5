import { expect, test } from "vitest";
import {
	findSheet,
	openFile,
	readTable,
} from "../../console/src/workbook/open-file.ts";
import { inlineRows, makeWorkbook } from "../support/make-workbook.ts";

const field = (name: string, label: string) => ({ name, label });
/** As much of a register as the reader of workbooks looks at. */
const risks = {
	title: "name",
	fields: [
		field("name", "Name"),
		field("category", "Category"),
		field("inherent_likelihood", "Inherent likelihood"),
		field("inherent_impact", "Inherent impact"),
		field("residual_likelihood", "Residual likelihood"),
		field("residual_impact", "Residual impact"),
		{ ...field("owner_id", "Owner"), reference: "people" },
	],
};

type Sheets = Parameters<typeof makeWorkbook>[0];

async function tableOf(sheets: Sheets, headingRow?: number) {
	const workbook = await openFile(makeWorkbook(sheets));
	const at = await findSheet(workbook, risks);
	return { at, ...(await readTable(workbook, at, risks, headingRow)) };
}

const rowsOf = (...rows: string[][]): Sheets => [
	{ name: "A", rows: inlineRows(rows) },
];

test("rows keep their numbers, and columns without a heading are left out", async () => {
	const { text, lines } = await tableOf(
		rowsOf(
			["", "Name", "", "Category"],
			["", "a,b", "a note", 'c "d"'],
			[],
			["", "", "a note", ""],
			["", "e\nf", "", ""],
		),
	);
	expect(text).toBe('Name,Category\r\n"a,b","c ""d"""\r\n\r\n\r\n"e\nf",\r\n');
	expect(lines).toBe(2);
});

test("the headings may stand below a title, and the reader can choose their row", async () => {
	const sheets = rowsOf(
		["Risk register"],
		[],
		["name", "Owner", "Inherent\nlikelihood"],
		["Fire", "Ada", "2"],
	);
	const found = await tableOf(sheets);
	expect(found.headingRow).toBe(3);
	expect(found.text).toBe(
		"\r\n\r\nname,Owner,Inherent likelihood\r\nFire,Ada,2\r\n",
	);
	expect(found.headingChoices).toEqual([
		{ row: 1, text: "Risk register" },
		{ row: 3, text: "name, Owner, Inherent likelihood" },
		{ row: 4, text: "Fire, Ada, 2" },
	]);
	expect((await tableOf(sheets, 4)).text).toBe("\r\n\r\n\r\nFire,Ada,2\r\n");
	// No heading is known.
	const foreign = rowsOf(["Risiken"], ["Titel", "Art"], ["Feuer", "IT"]);
	expect((await tableOf(foreign)).headingRow).toBe(2);
	expect((await tableOf(rowsOf(["Titel"], ["Feuer"]))).headingRow).toBe(1);
});

test("merged headings give their name to the cells below and beside them", async () => {
	const { text } = await tableOf([
		{
			name: "A",
			rows: inlineRows([
				["Name", "Inherent", "", "Residual", ""],
				["", "Likelihood", "Impact", "Likelihood", "Impact"],
				["Fire", "1", "2", "3", "4"],
			]),
			after:
				'<mergeCells><mergeCell ref="A1:A2"/><mergeCell ref="B1:C1"/><mergeCell ref="D1:E1"/></mergeCells>',
		},
	]);
	expect(text).toBe(
		"\r\nName,Inherent Likelihood,Inherent Impact,Residual Likelihood,Residual Impact\r\nFire,1,2,3,4\r\n",
	);
});

test("a merged cell counts in all its rows, but a merged name does not repeat the record", async () => {
	const { text } = await tableOf([
		{
			name: "A",
			rows: inlineRows([
				["Name", "Category"],
				["Fire", "IT"],
				["Flood", ""],
				["", "HR"],
				[],
			]),
			after:
				'<mergeCells><mergeCell ref="B2:B3"/><mergeCell ref="A3:A4"/><mergeCell ref="B4:B1048576"/></mergeCells>',
		},
	]);
	expect(text).toBe("Name,Category\r\nFire,IT\r\nFlood,IT\r\n,HR\r\n");
});

test("the first visible sheet with the headings of the register is chosen, or else the first", async () => {
	const names = inlineRows([["Name", "Category"], ["x"]]);
	const other = inlineRows([["Hello"], ["Category", "Owner"]]);
	const chosen = async (...sheets: Sheets) => (await tableOf(sheets)).at;
	expect(
		await chosen(
			{ name: "Lists", state: "hidden", rows: names },
			{ name: "About", rows: other },
			{ name: "Risks", rows: names },
			{ name: "More", rows: names },
		),
	).toBe(2);
	expect(
		await chosen(
			{ name: "Lists", state: "hidden", rows: names },
			{ name: "About", rows: other },
			{ name: "Notes", rows: other },
		),
	).toBe(1);
	const workbook = await openFile(
		makeWorkbook([
			{ name: "A & B", rows: names },
			{ name: "C", state: "veryHidden", rows: names },
			{ name: "D", state: "hidden", rows: names },
		]),
	);
	expect(workbook.sheets.map(({ name, isHidden }) => [name, isHidden])).toEqual(
		[
			["A & B", false],
			["D", true],
		],
	);
});

test("what could not be read as the sheet shows it is said", async () => {
	const { notes } = await tableOf([
		{
			name: "A",
			rows: '<row r="1"><c t="str"><v>Name</v></c></row><row r="2"><c><f>1</f></c><c r="B2" t="e"><v>#N/A</v></c></row>',
		},
	]);
	expect(notes).toEqual([
		"1 formula has no result in the file and is read as empty. Open the file in your spreadsheet program and save it there.",
		"The cell B2 has an error instead of a value.",
	]);
});

test("the parts of a workbook are found in upper and lower case, and beside what is outside of it", async () => {
	const main = "http://schemas.openxmlformats.org/officeDocument";
	const relation = (id: string, type: string, target: string) =>
		`<Relationship Id="${id}" Type="${main}/2006/relationships/${type}" Target="${target}"/>`;
	const file = makeWorkbook([{ name: "A", rows: inlineRows([["x"]]) }], {
		extra: {
			"xl/Worksheets/Other.xml": `<x:worksheet xmlns:x="a"><x:sheetData><x:row><x:c t="inlineStr"><x:is><x:t>Name</x:t></x:is></x:c></x:row></x:sheetData></x:worksheet>`,
			"xl/_rels/workbook.xml.rels": `<Relationships>${relation("w", "externalLink", "http://[bad")}${relation("v", "externalLink", "%E0%A4%A")}${relation("r0", "worksheet", "../xl/worksheets/other.XML")}</Relationships>`,
		},
	});
	const { text } = await readTable(await openFile(file), 0, risks);
	expect(text).toBe("Name\r\n");
});
