import { expect, test } from "vitest";
import { openFile, readTable } from "../../console/src/workbook/open-file.ts";
import { inlineRows, makeWorkbook, makeZip } from "../support/make-workbook.ts";

const kind = {
	title: "name",
	fields: [{ name: "name", label: "Name" }],
};

async function read(file: Buffer<ArrayBuffer>) {
	return readTable(await openFile(file), 0, kind);
}

const ole = (...names: string[]) =>
	Buffer.concat([
		Buffer.from("d0cf11e0a1b11ae1", "hex"),
		Buffer.alloc(512),
		...names.map((name) => Buffer.from(name, "utf16le")),
	]);

const sheetOf = (rows: string) => makeWorkbook([{ name: "A", rows }]);
const rowAt = (row: number) => inlineRows([["x"]], row);
const heading = inlineRows([["Name"]]);

test.for([
	[
		"a workbook with a password",
		ole("Root Entry", "EncryptedPackage"),
		/^is protected with a password\. .*remove the password/,
	],
	[
		"a workbook from before 2007",
		ole("Root Entry", "Workbook"),
		/^is in the format of Excel before 2007 \(\.xls\)\..* save it as .*\.xlsx/,
	],
	[
		"an OpenDocument file",
		makeZip({ mimetype: "application/vnd.oasis", "content.xml": "<a/>" }),
		/^is an OpenDocument file \(\.ods\)\. Save it as an Excel workbook/,
	],
	[
		"a binary workbook",
		makeZip({ "xl/workbook.bin": "", "[Content_Types].xml": "<Types/>" }),
		/^is a binary workbook \(\.xlsb\)/,
	],
	[
		"a file of Numbers",
		makeZip({ "Index/Document.iwa": "" }),
		/^is a file of Numbers/,
	],
	[
		"another archive",
		makeZip({ "word/document.xml": "<a/>" }),
		/^is not an Excel workbook \(\.xlsx\)/,
	],
	["an incomplete file", sheetOf(heading).subarray(0, 900), /^is damaged/],
	["an archive without a list", Buffer.from("PK\x03\x04"), /^is damaged/],
	[
		"a sheet that declares entities",
		makeWorkbook([{ name: "A", rows: '<!DOCTYPE x [<!ENTITY a "b">]><row/>' }]),
		/^is damaged/,
	],
	["a sheet that breaks off", sheetOf("<row><c t="), /^is damaged/],
	["an empty sheet", sheetOf("<row r='5'/>"), /^has no text on this sheet/],
	[
		"headings far below",
		sheetOf(rowAt(1001)),
		/^has no text in its first 1,000 rows/,
	],
	[
		"too many rows",
		sheetOf(heading + rowAt(10_002)),
		/^has text in row 10,002, but an import takes at most 10,000 rows/,
	],
	[
		"a row at the end of the sheet",
		sheetOf(heading + rowAt(1_048_576)),
		/^has text in row 1,048,576/,
	],
	[
		"too many columns",
		sheetOf(inlineRows([Array<string>(201).fill("Name")])),
		/^has more than 200 columns/,
	],
] as const)("%s is rejected, with what to do", async ([, file, message]) => {
	await expect(read(file as Buffer<ArrayBuffer>)).rejects.toMatchObject({
		name: "UnreadableWorkbook",
		message: expect.stringMatching(message),
	});
});

test("the last row and column that an import takes are read", async () => {
	const wide = inlineRows([["Name", ...Array<string>(199).fill("x")]]);
	const { text, lines } = await read(sheetOf(wide + rowAt(10_001)));
	expect(text.split("\r\n")).toHaveLength(10_002);
	expect(lines).toBe(1);
});

test("a long text that many cells share is not repeated without end", async () => {
	const row = (row: number) =>
		`<row r="${row}">${'<c t="s"><v>0</v></c>'.repeat(100)}</row>`;
	const file = makeWorkbook(
		[
			{
				name: "A",
				rows:
					inlineRows([Array.from({ length: 100 }, (_, at) => `Name ${at}`)]) +
					Array.from({ length: 20 }, (_, at) => row(at + 2)).join(""),
			},
		],
		{ texts: ["x".repeat(32_000)] },
	);
	await expect(read(file)).rejects.toThrow(
		/^has more than 16 MB of text up to row 7, the limit for one import/,
	);
});

test("the page can react while a long sheet is read", async () => {
	const cells = Array<string>(40).fill("a text in a cell");
	// Unpacking would give the page its turns.
	const rows = heading + inlineRows(Array<string[]>(5000).fill(cells), 2);
	const file = makeWorkbook([{ name: "A", rows }], { isStored: true });
	let turns = 0;
	const timer = setInterval(() => {
		turns += 1;
	}, 1);
	const { lines } = await read(file);
	clearInterval(timer);
	expect(lines).toBe(5000);
	expect(turns).toBeGreaterThan(2);
});
