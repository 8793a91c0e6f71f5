import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ageRecords } from "../support/aged-records.ts";
import { avoidMidnight } from "../support/midnight.ts";
import { partsOf, readPdf, wordsOf } from "../support/read-pdf.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { openReport } from "./report-pages.ts";
import { names } from "./sample-registers.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

const open = (path: string, options = {}, as?: "admin") =>
	openReport(served, path, options, as);

test("reports read well in dark mode and at 390 px", async () => {
	for (const [name, options] of Object.entries({
		dark: { colorScheme: "dark", viewport: { width: 1440, height: 1200 } },
		"390": { viewport: { width: 390, height: 1200 } },
	})) {
		const { page } = await open("reports/board-summary", options);
		await page.getByRole("heading", { name: "Where we stand" }).waitFor();
		await axe(page);
		await screenshot(page, `reports/board-summary-${name}`);
		const width = await page.evaluate("document.documentElement.scrollWidth");
		expect(width).toBeLessThanOrEqual(options.viewport.width);
	}
});

test("the board summary says what changed since the period that the reader chooses, on screen, as CSV and as PDF", async () => {
	const { page, organization_id, use } = await open("reports", {}, "admin");
	const critical = ["Fire", "Flood", "Fog", "Frost"];
	for (const name of critical) {
		await use("addRisk", {
			...{ name, category: "Nature", treatment: "MITIGATED" },
			...{ inherent_likelihood: 5, inherent_impact: 5 },
		});
	}
	const { task } = await use("addTask", {
		name: "Buy locks",
		deadline: "2020-01-31",
	});
	await ageRecords(served.database.owner, organization_id, "5 months");
	await use("updateTask", { id: task.id, state: "DONE" });
	const { risks } = await use("listRisks", {
		filter: { category: "Formulas" },
	});
	await use("updateRisk", {
		id: risks[0].id,
		residual_likelihood: 5,
		residual_impact: 5,
	});
	await visit(page, `/o/${organization_id}/reports/board-summary`);
	const stand = page.getByRole("region", { name: "Where we stand" });
	const tile = (name: string) =>
		stand.getByRole("listitem").filter({ hasText: name });
	await tile("Overdue work").getByText("Down 1, better").waitFor();
	await tile("High and critical risks").getByText("Up 1, worse").waitFor();
	await tile("Open nonconformities").getByText("No change").waitFor();
	const decisions = page.getByRole("region", { name: "Needs a decision" });
	await decisions
		.getByRole("listitem")
		.filter({ hasText: "Accept or reduce risks that are critical" })
		.getByText("Fire; Flood; Fog; and 1 more")
		.waitFor();
	const plots = page
		.getByRole("region", { name: "Twelve months" })
		.getByRole("img");
	expect(await plots.first().getAttribute("aria-label")).toMatch(
		/^Mean residual risk: .* \d/,
	);
	await axe(page);
	for (const width of [390, 1440, 1920]) {
		await page.setViewportSize({ width, height: 1200 });
		await axe(page);
		await screenshot(page, `reports/board-compared-${width}`);
		const actual = await page.evaluate("document.documentElement.scrollWidth");
		expect(actual).toBeLessThanOrEqual(width);
	}
	const download = async (name: string) => {
		const [file] = await Promise.all([
			page.waitForEvent("download"),
			page.getByRole("button", { name, exact: true }).click(),
		]);
		const content = await readFile(await file.path());
		const { SAVED } = process.env;
		if (SAVED) await writeFile(`${SAVED}/${file.suggestedFilename()}`, content);
		return content;
	};
	const lines = (await download("CSV")).toString("utf8").split("\r\n");
	expect(lines[1]).toMatch(/^Part,Figure,.*,Difference,Change,Detail$/);
	expect(lines).toContain(
		'Summary,Overdue work,0,1,-1,"Down 1, better",Past its due date',
	);
	expect(lines).toContain("Needs a decision");
	expect(lines).toContain("Twelve months");
	const file = await download("PDF");
	const { SAVED } = process.env;
	if (SAVED) await writeFile(`${SAVED}/board-summary.pdf`, file);
	const { pages, info } = await readPdf(file);
	expect(info).toMatchObject({ isMarked: true, language: "en" });
	expect(pages).toHaveLength(1);
	const [board] = pages;
	expect(partsOf(board, /^H1$/).map(wordsOf)).toEqual(["Board summary"]);
	expect(partsOf(board, /^H2$/).map(wordsOf)).toContain("Needs a decision");
	expect(partsOf(board, /^TH$/).map(wordsOf)).toContain("Figure");
	expect(partsOf(board, /^Figure$/).map(({ alt }) => alt)).toContainEqual(
		expect.stringContaining("over twelve months"),
	);

	await page.getByRole("combobox", { name: "Compared with" }).click();
	await page.getByRole("option", { name: "A year ago" }).click();
	await page.waitForURL(/period=year/);
	await page.getByText(/the first day whose records are known/).waitFor();
	await page.reload();
	await page.getByText(/the first day whose records are known/).waitFor();
	await decisions.getByRole("link", { name: /^Accept or reduce/ }).click();
	await page.getByRole("heading", { name: "Risks", level: 1 }).waitFor();
	await page.getByText("Decided, not accepted").waitFor();
	// The accepted risk is critical by now, and so is an undecided one.
	await expect
		.poll(async () => (await names(page)()).toSorted())
		.toEqual(critical);
});

test("the decision about ending exceptions leads to exactly these", async () => {
	const { page, organization_id, use } = await open("reports", {}, "admin");
	for (const [check, days] of [
		["DISK_ENCRYPTION", 10],
		["FIREWALL_ENABLED", 200],
	] as const) {
		const { device_exception } = await use("addDeviceException", {
			...{ check, reason: "The vendor is late" },
			ends_at: new Date(Date.now() + days * 86_400_000).toISOString(),
		});
		await use("approveDeviceException", { id: device_exception.id });
	}
	await visit(page, `/o/${organization_id}/reports/board-summary`);
	await page.getByRole("link", { name: /^Extend or close/ }).click();
	await page.getByRole("heading", { name: "Exceptions", level: 1 }).waitFor();
	const listed = page.getByRole("row");
	await listed.filter({ hasText: "Full-disk encryption" }).waitFor();
	expect(await listed.filter({ hasText: "Host firewall" }).count()).toBe(0);
	const ends = page.getByRole("combobox", { name: "Ends" });
	expect(await ends.inputValue()).toBe("Within 30 days");
	await axe(page);
	await screenshot(page, "devices/exceptions-ending");
	await page.getByRole("button", { name: "Clear Ends" }).click();
	await listed.filter({ hasText: "Host firewall" }).waitFor();
});

test("an organization of today compares with nothing, and says so", async () => {
	await avoidMidnight();
	const { page } = await open("reports/board-summary");
	await page.getByText("Nothing to compare with").waitFor();
	await page.getByText(/no records before today are known/).waitFor();
	expect(await page.getByRole("columnheader", { name: "Change" }).count()).toBe(
		0,
	);
	await axe(page);
});
