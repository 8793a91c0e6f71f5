import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { readTable } from "../../src/csv/read-table.ts";

test("bytes that are not UTF-8 are rejected", async () => {
	const bytes = Readable.from([Buffer.from("name\nZ\xfcrich", "latin1")]);
	await expect(readTable(bytes)).rejects.toThrow(/is not UTF-8 text/);
});

test.for([
	["empty lines", "\n\n", 3],
	["lines of separators", ";;\n\n; ;\n", 4],
	["a byte order mark and an empty line", "\ufeff\n", 2],
] as const)("the heading may stand below %s, which count as lines", async ([
	,
	above,
	headingLine,
]) => {
	const text = `${above}name;"a,b,c";x\nFire;1;2\n`;
	const { heading, lines } = await readTable(
		Readable.from([Buffer.from(text)]),
	);
	expect(heading).toEqual(["name", "a,b,c", "x"]);
	expect(lines).toEqual([{ line: headingLine + 1, cells: ["Fire", "1", "2"] }]);
});

test("a file of empty lines has no heading", async () => {
	await expect(
		readTable(Readable.from([Buffer.from("\n;;;\n \n")])),
	).rejects.toThrow(/^the file is empty/);
});
