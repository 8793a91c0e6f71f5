import { expect, test } from "vitest";
import { makeXlsx } from "../../console/src/exports/make-xlsx.ts";
import {
	inWriting,
	isFigures,
	type Report,
} from "../../console/src/pages/reports/report.ts";
import { toCsv } from "../../console/src/pages/reports/report-csv.ts";
import { partOf } from "../support/read-word.ts";

const report: Report = {
	isCut: false,
	tables: [
		{
			title: "Nonconformities",
			columns: ["Title", "Due", "Devices"],
			rows: [
				["No log", { day: "2026-11-21" }, 3],
				["=1", "–", 0],
			],
		},
	],
};

test("a CSV file has dates as YYYY-MM-DD, and an empty cell for none", () => {
	expect(toCsv(report)).toBe(
		"\ufeffTitle,Due,Devices\r\nNo log,2026-11-21,3\r\n'=1,,0\r\n",
	);
});

test("the CSV file of a report without dates names the past day in each row", () => {
	expect(toCsv({ ...report, csvDay: { day: "2026-10-15" } })).toBe(
		"\ufeffAs of,Title,Due,Devices\r\n2026-10-15,No log,2026-11-21,3\r\n2026-10-15,'=1,,0\r\n",
	);
});

test("an Excel file has dates as numbers with a format, so that they can be sorted and counted", async () => {
	const blob = await makeXlsx(report, ["About it"]);
	const file = Buffer.from(await blob.arrayBuffer());
	const sheet = partOf(file, "xl/worksheets/sheet1.xml");
	// Excel counts days from the end of 1899.
	expect(sheet).toMatch(/<c r="B2" s="\d+"><v>46347<\/v><\/c>/);
	expect(sheet).not.toContain('r="B3"');
	expect(partOf(file, "xl/styles.xml")).toContain('formatCode="yyyy-mm-dd"');
	expect(partOf(file, "xl/sharedStrings.xml")).not.toContain("2026");
});

test("the page and the PDF have dates in words, and a column of dates is no column of figures", () => {
	expect(inWriting({ day: "2026-11-21" })).toBe("Nov 21, 2026");
	expect(inWriting(3)).toBe(3);
	const [table] = report.tables;
	expect(table && [1, 2].map((column) => isFigures(table, column))).toEqual([
		false,
		true,
	]);
});
