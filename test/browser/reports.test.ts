import { readFile, writeFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readPdf, wordsOf } from "../support/read-pdf.ts";
import { partOf } from "../support/read-word.ts";
import type { Json } from "../support/tools.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { openReport } from "./report-pages.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

const HEADINGS = {
	"board-summary": "Board summary",
	"risk-register": "Risk register",
	"statement-of-applicability": "Statement of applicability",
	"fleet-posture": "Fleet posture",
	nonconformities: "Nonconformities",
};

const open = (path: string, options = {}, as?: "admin") =>
	openReport(served, path, options, as);

test("an auditor opens each report, on paper it has no frame, and axe finds nothing", async () => {
	const { page, organization_id } = await open("reports");
	await page.getByRole("heading", { name: "Reports", level: 1 }).waitFor();
	// Its PDF has two pages if there is enough to say.
	await page.getByText(/twelve months, and what needs a decision\.$/).waitFor();
	await axe(page);
	await screenshot(page, "reports/list");
	for (const [name, heading] of Object.entries(HEADINGS)) {
		await visit(page, `/o/${organization_id}/reports/${name}`);
		await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
		await page.getByRole("columnheader").first().waitFor();
		await axe(page);
		await screenshot(page, `reports/${name}`);
		await page.emulateMedia({ media: "print" });
		for (const frame of ["banner", "navigation"] as const) {
			expect(await page.getByRole(frame).count(), frame).toBe(0);
		}
		expect(await page.getByRole("button").count()).toBe(0);
		await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
		await screenshot(page, `reports/${name}-print`);
		// Wide tables have lying pages.
		const paper = (await page.pdf({ preferCSSPageSize: true })).toString(
			"latin1",
		);
		const [, width, height] =
			/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(paper) ?? [];
		expect(Number(width) > Number(height), name).toBe(name !== "board-summary");
		await page.emulateMedia({ media: "screen" });
	}
});

interface Look {
	color: string;
	backgroundColor: string;
}

test("a report is printed in light colors although the console is dark", async () => {
	const { page, organization_id } = await open("reports/board-summary", {
		colorScheme: "dark",
	});
	const look = (): Promise<Look> =>
		page.evaluate(
			"(({ color, backgroundColor }) => ({ color, backgroundColor }))(getComputedStyle(document.querySelector('[aria-label=Approval]')))",
		);
	const approval = page.getByRole("region", { name: "Approval" });
	await page.getByRole("columnheader").first().waitFor();
	await screenshot(page, "reports/board-summary-dark");
	await page.emulateMedia({ media: "print", colorScheme: "dark" });
	await page.locator("[data-mantine-color-scheme=light]").waitFor();
	await axe(page, "contrast");
	await screenshot(page, "reports/board-summary-dark-print");
	await page.emulateMedia({ media: "screen", colorScheme: "dark" });
	await visit(page, `/o/${organization_id}/reports/statement-of-applicability`);
	await page.locator("[data-mantine-color-scheme=dark]").waitFor();
	await approval.getByText("Nobody has approved this statement yet.").waitFor();
	const onScreen = await look();
	await page.emulateMedia({ media: "print", colorScheme: "dark" });
	await expect.poll(look).toEqual({
		color: "rgb(0, 0, 0)",
		backgroundColor: "rgb(255, 255, 255)",
	});
	await axe(page, "contrast");
	await screenshot(page, "reports/applicability-dark-print");
	await page.emulateMedia({ media: "screen", colorScheme: "dark" });
	await expect.poll(look).toEqual(onScreen);
	expect(onScreen.backgroundColor).not.toBe("rgb(255, 255, 255)");
	// The browser's print dialog sends these events.
	await page.evaluate("dispatchEvent(new Event('beforeprint'))");
	await expect
		.poll(async () => (await look()).backgroundColor)
		.toBe("rgb(255, 255, 255)");
	await page.evaluate("dispatchEvent(new Event('afterprint'))");
	await expect.poll(look).toEqual(onScreen);
});

test("the risk register as CSV has what the page shows, and no formula", async () => {
	const { page } = await open("reports/risk-register");
	const risks = page.getByRole("region", { name: "Risks", exact: true });
	await risks.getByText("Somebody gives their password").waitFor();
	const scores = risks.locator("tbody tr td:nth-child(7)");
	expect(await scores.allInnerTexts()).toEqual([
		"20 Critical\nLikelihood: 5 Almost certain\nImpact: 4 Major",
		"15 Critical\nLikelihood: 3 Possible\nImpact: 5 Severe",
		"1 Low\nLikelihood: 1 Rare\nImpact: 1 Negligible",
	]);
	await risks.getByText(/critical 15 to 25\.$/).waitFor();
	const measures = await risks
		.locator("tbody tr td:nth-child(6)")
		.allInnerTexts();
	expect(measures).toEqual([
		"Sign-in needs a second factor (not started)",
		"Backups are made and restored in tests (not started)",
		"–",
	]);
	const levels = page
		.getByRole("region", { name: "Summary", exact: true })
		.locator("tbody tr");
	await expect
		.poll(() => levels.allInnerTexts())
		.toEqual(["Inherent\t2\t0\t0\t1", "Residual\t2\t0\t0\t1"]);
	const [download] = await Promise.all([
		page.waitForEvent("download"),
		page.getByRole("button", { name: "CSV" }).click(),
	]);
	expect(download.suggestedFilename()).toMatch(
		/^risk-register-\d{4}-\d\d-\d\d\.csv$/,
	);
	for (const [button, ending, begin] of [
		["PDF", "pdf", "%PDF-"],
		["Excel", "xlsx", "PK"],
	] as const) {
		const [file] = await Promise.all([
			page.waitForEvent("download"),
			page.getByRole("button", { name: button }).click(),
		]);
		expect(file.suggestedFilename()).toMatch(new RegExp(`\\.${ending}$`));
		const content = await readFile(await file.path());
		expect(content.subarray(0, begin.length).toString()).toBe(begin);
		if (ending === "pdf") {
			const { pages } = await readPdf(content);
			const words = pages.map(wordsOf).join(" ");
			expect(words).toContain("20 Critical");
			expect(words).toContain("Likelihood: 5 Almost certain");
			expect(words).toContain("Sign-in needs a second factor");
		}
		if (ending === "xlsx") {
			const texts = partOf(content, "xl/sharedStrings.xml");
			expect(texts).toMatch(/^[^–]*Critical[^–]*$/);
			// A sheet says whose report it is, and of which day.
			expect(texts).toMatch(/>Risk register<[\s\S]*>[^<]*\b20\d\d</);
		}
		const { SAVED } = process.env;
		if (SAVED) await writeFile(`${SAVED}/${file.suggestedFilename()}`, content);
	}
	const csv = await readFile(await download.path(), "utf8");
	const [headings, first, ...rest] = csv.split("\r\n");
	expect(headings).toContain(
		"Risk,Description,Category,Owner,Inherent likelihood,Inherent impact,Inherent score,Inherent level,Treatment,Measures,",
	);
	expect(first).toMatch(
		/Access,,5 Almost certain,4 Major,20,Critical,Not decided,Sign-in needs a second factor \(not started\),5 Almost certain,4 Major,20,Critical,$/,
	);
	expect(rest.join("\n")).toContain("'=1+1,,Formulas,,1 Rare,1 Negligible");
});

test("the statement of applicability is about one framework, is approved, and a day before the records says so", async () => {
	const { page, organization_id, use } = await open("", {}, "admin");
	// The report opens with the framework in use, and from a framework's page with that framework.
	const { framework } = await use("addFramework", { name: "A new one" });
	await use("addControl", {
		framework_id: framework.id,
		section_title: "1",
		name: "Only control",
		status: "INCLUDED",
	});
	await visit(page, `/o/${organization_id}/r/framework/${framework.id}`);
	await page.getByRole("link", { name: "Statement of applicability" }).click();
	await page.getByRole("cell", { name: "Only control" }).waitFor();
	await page.goto(`/o/${organization_id}/reports/statement-of-applicability`);
	await page.getByText("NIS 2 2022/2555").waitFor();
	const summary = page.getByRole("region", { name: "Summary", exact: true });
	await expect
		.poll(() => summary.locator("tbody td").allInnerTexts())
		.toEqual(["15", "15", "0", "0", "0", "15"]);
	const approval = page.getByRole("region", { name: "Approval" });
	await approval.getByText("Nobody has approved this statement yet.").waitFor();
	await approval.getByText("13 controls have no justification.").waitFor();
	await approval.getByRole("button", { name: "Approve …" }).click();
	const dialog = page.getByRole("dialog", { name: "Approve the statement" });
	await dialog.getByText("13 controls have no justification.").waitFor();
	await screenshot(page, "reports/applicability-approve");
	await dialog.getByLabel("What is new (optional)").fill("For the audit");
	await axe(page);
	await dialog.getByRole("button", { name: "Approve", exact: true }).click();
	await approval.getByText("Approved", { exact: true }).waitFor();
	await approval.getByText("For the audit").waitFor();
	// Progress, evidence and checks change daily, so the approval does not cover them.
	const limits = approval.getByText("device checks are those of today");
	await limits.waitFor();
	await approval.getByText("are the same, too").waitFor();
	const { frameworks } = await use("listFrameworks", {});
	const nis = frameworks.find(({ name }: Json) => name === "NIS 2");
	const { controls } = await use("listControls", {
		filter: { framework_id: nis.id },
		// They were made at once, so their order varies by default. Two of them are justified already.
		order_by: { field: "name" },
		size: 1,
	});
	await use("addObligation", {
		requirement: "Report incidents within a day",
		linked_record_ids: [controls[0].id],
	});
	await page.reload();
	await approval.getByText("are linked to 1 control or to its").waitFor();
	await approval.getByText("Other risks since approval").waitFor();
	await approval.getByText("12 controls have no justification.").waitFor();
	const [pdf] = await Promise.all([
		page.waitForEvent("download"),
		page.getByRole("button", { name: "PDF" }).click(),
	]);
	const { pages } = await readPdf(await readFile(await pdf.path()));
	// A line of the PDF may end after the number, which depends on the name of the user.
	expect(pages.map(wordsOf).join(" ")).toMatch(
		/12 ?controls have no justification\./,
	);
	await axe(page);
	await screenshot(page, "reports/applicability-approved");
	await approval.getByRole("combobox", { name: "Version" }).click();
	await page.getByRole("option", { name: "Version 1" }).click();
	await page.waitForURL(/version=1/);
	await summary.waitFor();
	await limits.waitFor({ state: "hidden" });
	await approval.getByRole("combobox", { name: "Version" }).click();
	await page.getByRole("option", { name: "As it is now" }).click();
	await page.getByLabel("As of the end of").fill("2020-01-31");
	await page.getByText(/^Nothing is known about .*2020$/).waitFor();
	await axe(page);
});
