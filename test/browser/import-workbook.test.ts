import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeXlsx } from "../../console/src/exports/make-xlsx.ts";
import { callByName } from "../support/call-by-name.ts";
import { inlineRows, makeWorkbook, makeZip } from "../support/make-workbook.ts";
import type { TestUser } from "../support/people.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { choose, preview } from "./import-page.ts";
import { openReport } from "./report-pages.ts";
import { focused } from "./settled.ts";

let served: TestConsole;
let admin: TestUser;
beforeAll(async () => {
	served = await startConsole();
	admin = await served.makePerson("admin");
});
afterAll(() => served.close());

const at = (path: string) => `/o/${served.organizationId}/${path}`;

const listTasks = async (query: string) =>
	(
		await callByName(served.database, admin, "listTasks", {
			organization_id: served.organizationId,
			filter: { query },
		})
	).tasks;

/** A workbook that counts its days from 1904. Its table stands below a title. */
const register = makeWorkbook(
	[
		{ name: "Lists", state: "hidden", rows: inlineRows([["Name"], ["High"]]) },
		{ name: "Notes", rows: inlineRows([["How to use this file"], ["Ask"]]) },
		{
			name: "Tasks",
			rows: `${inlineRows([["Our tasks"]])}<row r="3"><c r="A3" t="s"><v>0</v></c><c r="B3" t="s"><v>1</v></c><c r="C3" t="s"><v>2</v></c></row><row r="4"><c r="A4" t="s"><v>3</v></c><c r="B4" t="s"><v>4</v></c><c r="C4" s="1"><v>44925</v></c></row><row r="6"><c r="A6" t="inlineStr"><is><t>Replace the lock</t></is></c><c r="B6" t="str"><f>UPPER("low")</f><v>LOW</v></c><c r="C6" t="s"><v>5</v></c></row>`,
			after: '<mergeCells><mergeCell ref="A1:C1"/></mergeCells>',
		},
		{
			name: "Done",
			rows: inlineRows([["Name"], ["Test the backup"], ["Call the vendor"]]),
		},
	],
	{
		texts: [
			"Name",
			"Priority",
			"Deadline",
			"<r><t>Check </t></r><r><rPr><b/></rPr><t>the alarm</t></r>",
			"High",
			"soon",
		],
		formats: ["dd/mm/yyyy"],
		is1904: true,
	},
);

test("a workbook is checked as a CSV file is, with the rows of its sheet, and by keyboard", async () => {
	const page = await served.openPageAs(admin, at("r/task/import"));
	await choose(page, "register.xlsx", register);
	const summary = preview(page).getByRole("status");
	await summary
		.getByText("2 lines: 1 to add, 0 to change, 0 unchanged, 1 wrong.")
		.waitFor();
	const sheet = page.getByRole("combobox", { name: "Sheet" });
	const headings = page.getByRole("combobox", {
		name: "Row with the headings",
	});
	expect(await sheet.inputValue()).toBe("Tasks");
	expect(await headings.inputValue()).toBe("3: Name, Priority, Deadline");
	const lines = preview(page).locator("tbody tr");
	await expect
		.poll(() => lines.allInnerTexts())
		.toEqual([
			expect.stringMatching(
				/^6\s+Wrong\s+Replace the lock\s+Deadline must be a date.*soon/,
			),
		]);
	await axe(page);
	await screenshot(page, "import-workbook");

	await sheet.focus();
	await focused(sheet);
	await page.keyboard.press("ArrowDown");
	await page.getByRole("option", { name: "Lists (hidden)" }).waitFor();
	await axe(page);
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Enter");
	await summary.getByText("2 lines: 2 to add").waitFor();
	expect(await sheet.inputValue()).toBe("Done");
	await focused(sheet);

	await page.keyboard.press("ArrowUp");
	await page.keyboard.press("ArrowUp");
	await page.keyboard.press("Enter");
	await summary.getByText("1 to add, 0 to change, 0 unchanged, 1").waitFor();
	await page.getByRole("checkbox", { name: "Skip the wrong line" }).check();
	await page.getByRole("button", { name: "Import 1 task" }).click();
	await page.getByText("1 task added, 1 line skipped").waitFor();
	expect(await listTasks("alarm")).toMatchObject([
		{
			name: "Check the alarm",
			priority: "HIGH",
			deadline: "2026-12-31",
		},
	]);
});

test("another row can have the headings", async () => {
	const page = await served.openPageAs(admin, at("r/vendor/import"));
	const rows = inlineRows([["Name", "x"], ["Lieferant"], ["Miro"]]);
	await choose(page, "v.xlsx", makeWorkbook([{ name: "A", rows }]));
	await preview(page).getByText("1 column has an unknown name").waitFor();
	expect(await page.getByRole("combobox", { name: "Sheet" }).count()).toBe(0);
	await page.getByRole("combobox", { name: "Row with the headings" }).click();
	await page.getByRole("option", { name: "2: Lieferant" }).click();
	const unknown = preview(page).getByRole("combobox", { name: "Lieferant" });
	await unknown.click();
	await page.getByRole("option", { name: "Name", exact: true }).click();
	await preview(page).getByText("1 line: 1 to add").waitFor();
	const [line] = await preview(page).locator("tbody tr").allInnerTexts();
	expect(line).toMatch(/^3\s+Add\s+Miro/);
});

test("dates of an Excel file that Assay wrote are stored as they were", async () => {
	const page = await served.openPageAs(admin, at("r/task/import"));
	const title = "Tasks";
	const columns = ["Name", "Deadline"];
	const rows = [
		["=First written", { day: "2026-03-04" }],
		["Last written", { day: "2026-11-30" }],
	];
	const tables = [{ title, columns, rows }];
	const file = await makeXlsx({ isCut: false, tables }, ["About it"]);
	const bytes = Buffer.from(await file.arrayBuffer());
	await choose(page, "written.xlsx", bytes);
	await page.getByRole("button", { name: "Import 2 tasks" }).click();
	await page.getByText("2 tasks added.").waitFor();
	const stored = await listTasks("written");
	expect(
		stored
			.map(({ name, deadline }: { name: string; deadline: string }) => [
				name,
				deadline,
			])
			.sort(),
	).toEqual([
		["=First written", "2026-03-04"],
		["Last written", "2026-11-30"],
	]);
});

test("a report that was saved as an Excel file and is imported changes nothing", async () => {
	const { page, use, organization_id } = await openReport(
		served,
		"reports",
		{},
		"admin",
	);
	await use("addNonconformity", {
		title: "Dated",
		due_date: "2026-04-03",
		date_identified: "2026-02-01",
	});
	await page.goto(`/o/${organization_id}/reports/nonconformities`);
	const [download] = await Promise.all([
		page.waitForEvent("download"),
		page.getByRole("button", { name: "Excel", exact: true }).click(),
	]);
	const file = await readFile(await download.path());
	await page.goto(`/o/${organization_id}/r/nonconformity/import`);
	await choose(page, "report.xlsx", file);
	await preview(page)
		.getByText("2 lines: 0 to add, 0 to change, 2 unchanged, 0 wrong.")
		.waitFor();
	expect(await page.getByRole("combobox", { name: "Sheet" }).inputValue()).toBe(
		"Nonconformities",
	);
});

test("a file that is no workbook of today is rejected with what to do, and another one can follow", async () => {
	const page = await served.openPageAs(admin, at("r/vendor/import"));
	const refused = page.getByRole("alert");
	const ole = Buffer.from("d0cf11e0a1b11ae1", "hex");
	await choose(page, "old.xls", ole);
	await refused
		.getByText("old.xls is in the format of Excel before 2007 (.xls).")
		.waitFor();
	await axe(page);
	await choose(
		page,
		"secret.xlsx",
		Buffer.concat([ole, Buffer.from("EncryptedPackage", "utf16le")]),
	);
	await refused.getByText("is protected with a password").waitFor();
	await choose(
		page,
		"list.ods",
		makeZip({ mimetype: "x", "content.xml": "<a/>" }),
	);
	await refused.getByText("list.ods is an OpenDocument file").waitFor();
	await choose(page, "report.xls", "<html><table><tr><td>Name");
	await refused.getByText("report.xls is a web page or XML.").waitFor();
	const comment = `<!--${" ".repeat(1_000_000)}-->`;
	await choose(
		page,
		"bomb.xlsx",
		makeWorkbook([{ name: "A", rows: comment.repeat(150) }]),
	);
	await refused
		.getByText("bomb.xlsx has a sheet or texts of more than 128 MB")
		.waitFor();
	const rows = inlineRows([["Name"], ["Northwind"]]);
	await choose(page, "vendors.xlsx", makeWorkbook([{ name: "A", rows }]));
	await preview(page).getByText("1 line: 1 to add").waitFor();
	expect(await refused.count()).toBe(0);
});

test("a sheet that cannot be imported leaves the choice of another one", async () => {
	const page = await served.openPageAs(admin, at("r/vendor/import"));
	await choose(
		page,
		"v.xlsx",
		makeWorkbook([
			{ name: "Empty", rows: "" },
			{ name: "Vendors", rows: inlineRows([["Anbieter"], ["Miro"]]) },
		]),
	);
	await page
		.getByRole("alert")
		.getByText("v.xlsx has no text on this sheet.")
		.waitFor();
	await page.getByRole("combobox", { name: "Sheet" }).click();
	await page.getByRole("option", { name: "Vendors" }).click();
	await preview(page).getByText("1 column has an unknown name").waitFor();
	expect(await page.getByRole("alert").count()).toBe(0);
});

test("only a workbook loads the code that reads workbooks", async () => {
	const page = await served.openPageAs(admin, at("r/vendor/import"));
	const loaded: string[] = [];
	page.on("request", (request) => loaded.push(request.url()));
	const isLoaded = () => loaded.some((url) => /\/open-file-/.test(url));
	await choose(page, "v.csv", "name\r\nMiro\r\n");
	await preview(page).getByText("1 line: 1 to add").waitFor();
	expect(isLoaded()).toBe(false);
	const rows = inlineRows([["Name"], ["Miro"], ["Zoom"]]);
	await choose(page, "v.xlsx", makeWorkbook([{ name: "A", rows }]));
	await preview(page).getByText("2 lines: 2 to add").waitFor();
	expect(isLoaded()).toBe(true);
});

test("the choice of a sheet is usable at 375 px and in dark mode", async () => {
	const page = await served.openPageAs(admin, at("r/task/import"), {
		viewport: { width: 375, height: 740 },
		colorScheme: "dark",
	});
	await choose(page, "register.xlsx", register);
	await preview(page).getByText("2 lines: 1 to add").waitFor();
	const width = await page.evaluate("document.documentElement.scrollWidth");
	expect(width).toBeLessThanOrEqual(375);
	await axe(page);
	await screenshot(page, "import-workbook-375-dark");
});
