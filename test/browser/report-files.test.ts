import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readPdf, wordsOf } from "../support/read-pdf.ts";
import { partOf } from "../support/read-word.ts";
import { startConsole, type TestConsole } from "./browser.ts";
import { openReport } from "./report-pages.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

/** Saves the report with this button, and returns the file. */
async function save(page: Page, button: string) {
	const [download] = await Promise.all([
		page.waitForEvent("download"),
		page.getByRole("button", { name: button, exact: true }).click(),
	]);
	return readFile(await download.path());
}

test("a report with more rows than a page takes counts all of them, and its files have them", async () => {
	const { page, organization_id } = await openReport(
		served,
		"reports",
		{},
		"admin",
	);
	const open = Array.from({ length: 3 }, (_, at) => `Old ${at},MINOR,OPEN`);
	const closed = Array.from({ length: 2000 }, (_, at) => `N${at},MINOR,CLOSED`);
	const query = `organization_id=${organization_id}&kind=nonconformity&dry_run=false`;
	const imported = await page.request.post(
		`/api/console/importRecords?${query}`,
		{
			data: ["title,severity,status", ...open, ...closed].join("\n"),
			headers: { origin: served.service.url, "content-type": "text/csv" },
		},
	);
	expect(imported.status(), await imported.text()).toBe(200);
	await page.goto(`/o/${organization_id}/reports/nonconformities`);
	await page
		.getByText(
			"Only the first 2,000 rows are shown. The summary counts all of them, and the Excel and CSV files have up to 50,000.",
		)
		.waitFor();
	const cells = (table: string) =>
		page.getByRole("region", { name: table, exact: true }).locator("tbody tr");
	expect(await cells("Nonconformities").count()).toBe(2000);
	expect(await cells("Summary").allInnerTexts()).toEqual([
		"2,004\t4\t0\t2,000",
	]);
	const csv = (await save(page, "CSV")).toString("utf8");
	expect(csv.trimEnd().split("\r\n")).toHaveLength(1 + 2004);
	const excel = await save(page, "Excel");
	expect(partOf(excel, "xl/worksheets/sheet1.xml")).toContain("<v>2004</v>");
	const texts = partOf(excel, "xl/sharedStrings.xml");
	for (const title of ["No log", "Old 0", "Old 2", "N0", "N1999"]) {
		expect(texts).toMatch(new RegExp(`>${title}<`));
	}
	expect(texts).not.toContain("first 50,000 rows");
});

test("the due date of a nonconformity is in words on the page and in the PDF, and a date in files", async () => {
	const { page, use, organization_id } = await openReport(
		served,
		"reports",
		{},
		"admin",
	);
	await use("addNonconformity", { title: "Dated", due_date: "2026-11-21" });
	await page.goto(`/o/${organization_id}/reports/nonconformities`);
	await page.getByRole("cell", { name: "21 Nov 2026", exact: true }).waitFor();
	const csv = (await save(page, "CSV")).toString("utf8");
	expect(csv).toMatch(/,Dated,.*,2026-11-21,/);
	const excel = await save(page, "Excel");
	expect(partOf(excel, "xl/worksheets/sheet2.xml")).toContain("<v>46347</v>");
	const { pages } = await readPdf(await save(page, "PDF"));
	expect(pages.map(wordsOf).join(" ")).toContain("21 Nov 2026");
});
