import { expect, test } from "vitest";
import { openFile, readTable } from "../../console/src/workbook/open-file.ts";
import { makeWorkbook } from "../support/make-workbook.ts";

/** Reads a workbook with one sheet that has these rows. */
async function read(rows: string) {
	const file = await openFile(makeWorkbook([{ name: "A", rows }]));
	return readTable(file, 0, {
		title: "name",
		fields: [{ name: "name", label: "Name" }],
	});
}

test("a part that unpacks to more than the limit is not read to its end", async () => {
	const comment = `<!--${" ".repeat(1_000_000)}-->`;
	const bomb = comment.repeat(200);
	expect(makeWorkbook([{ name: "A", rows: bomb }]).length).toBeLessThan(
		1024 * 1024,
	);
	await expect(read(bomb)).rejects.toThrow(
		/^has a sheet or texts of more than 128 MB after unzipping, the limit/,
	);
});

test("a sheet with too many empty cells is not read to its end", async () => {
	await expect(read(`<row>${"<c/>".repeat(5_000_001)}</row>`)).rejects.toThrow(
		/^has more than 5,000,000 cells on one sheet, the limit/,
	);
});
