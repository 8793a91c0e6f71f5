import { afterAll, beforeAll, expect, test } from "vitest";
import { axe, screenshot, visit } from "./browser.ts";
import {
	type LinkedRegisters,
	links,
	startRegisters,
} from "./linked-registers.ts";

let registers: LinkedRegisters;
beforeAll(async () => {
	registers = await startRegisters();
});
afterAll(() => registers.close());

test("a framework shows by section which controls are covered, and a measure can be linked from there", async () => {
	const { framework } = await registers.add("addFramework", {
		name: "ISO 27001",
		version: "2022",
	});
	const policies = await registers.addControl(
		framework.id,
		"A.5.1",
		"Policies for information security",
	);
	const acceptable = await registers.addControl(
		framework.id,
		"A.5.10",
		"Acceptable use of assets",
	);
	const roles = await registers.addControl(framework.id, "A.5.2", "Roles");
	await registers.addControl(framework.id, "A.8.1", "User endpoint devices");
	await registers.addControl(
		framework.id,
		"A.7.4",
		"Physical security monitoring",
		{
			status: "EXCLUDED",
			exclusion_justification: "There is no office",
		},
	);
	await registers.use("linkRecords", {
		record_id: policies,
		linked_record_id: await registers.addMeasure(
			"Policy handbook",
			"IMPLEMENTED",
		),
	});
	await registers.use("linkRecords", {
		record_id: roles,
		linked_record_id: await registers.addMeasure(
			"Role descriptions",
			"IN_PROGRESS",
		),
	});
	await registers.addMeasure("Endpoint management", "IMPLEMENTED");
	await registers.use("linkRecords", {
		record_id: acceptable,
		linked_record_id: await registers.addMeasure("Rules of use", "NOT_STARTED"),
	});

	const incidents = await registers.addControl(
		framework.id,
		"A.6.8",
		"Reporting of events",
	);
	for (const [name, state] of [
		["Hotline", "IMPLEMENTED"],
		["Exercises", "NOT_STARTED"],
		["On call", "NOT_STARTED"],
	] as const) {
		await registers.use("linkRecords", {
			record_id: incidents,
			linked_record_id: await registers.addMeasure(name, state),
		});
	}

	const page = await registers.openPageAs(
		registers.member,
		registers.at(`framework/${framework.id}`),
	);
	const controls = page.getByRole("region", { name: "Controls" });
	await controls
		.getByText("1 of 5 controls that apply, 1 more partly")
		.waitFor();
	await controls.getByText("20%").waitFor();
	const sections = controls.getByRole("heading", { level: 3 });
	await expect
		.poll(() => sections.allInnerTexts())
		.toEqual([
			expect.stringMatching(/^A\.5\s+1 of 3 covered/),
			expect.stringMatching(/^A\.6\s+0 of 1 covered/),
			expect.stringMatching(/^A\.7\s+excluded/),
			expect.stringMatching(/^A\.8\s+0 of 1 covered/),
		]);
	// A measure that has not been started counts as planned, not as under way.
	for (const state of [
		...["Covered", "Partly covered", "Under way"],
		...["Planned only", "Nothing yet"],
	]) {
		await controls
			.getByRole("listitem")
			.filter({ hasText: new RegExp(`^${state} 1`) })
			.waitFor();
	}
	const names = () => controls.getByRole("link", { name: /\w/ });
	await expect
		.poll(() => names().allInnerTexts())
		.toEqual(expect.arrayContaining(["Roles", "Acceptable use of assets"]));
	// Two measures are named, and the others are counted.
	await controls.getByText("Role descriptions", { exact: true }).waitFor();
	await controls
		.getByText("Exercises, Hotline and 1 more", { exact: true })
		.waitFor();
	await controls.scrollIntoViewIfNeeded();
	await axe(page);
	await screenshot(page, "coverage");

	await controls.getByText("Not fully covered").click();
	await page.waitForURL("**show=uncovered");
	await page.reload();
	await controls.getByText("User endpoint devices").waitFor();
	for (const covered of ["Policies for information", "Physical security"])
		await controls.getByText(covered).waitFor({ state: "detached" });
	// The figures of a section still count the controls that are not shown.
	await expect
		.poll(() => sections.allInnerTexts())
		.toEqual([
			expect.stringMatching(/^A\.5\s+1 of 3 covered/),
			expect.stringMatching(/^A\.6\s+0 of 1 covered/),
			expect.stringMatching(/^A\.8\s+0 of 1 covered/),
		]);
	await controls.getByText("Reporting of events").waitFor();
	await controls
		.getByRole("button", { name: "Link a measure to User endpoint devices" })
		.click();
	const dialog = page.getByRole("dialog");
	await dialog.getByLabel("Find measures").fill("endpoint");
	await dialog
		.getByRole("button", { name: "Link Endpoint management" })
		.click();
	await dialog.getByRole("button", { name: /is linked/ }).waitFor();
	await dialog.getByRole("button", { name: "Done" }).click();
	await controls.getByText("2 of 5 controls that apply").waitFor();
	await controls
		.getByText("User endpoint devices")
		.waitFor({ state: "detached" });

	await controls.getByRole("link", { name: "Add a control" }).click();
	await page.waitForURL(`**/r/control/new?framework_id=${framework.id}`);
	await expect
		.poll(() => page.getByRole("combobox", { name: "Framework" }).inputValue())
		.toContain("ISO 27001");

	await visit(page, `/o/${registers.organizationId}/`);
	await page.getByText("2 of 5 controls covered, 1 more partly").waitFor();
	await visit(
		page,
		`/o/${registers.organizationId}/reports/statement-of-applicability?framework=${framework.id}`,
	);
	const partly = page.getByRole("row").filter({ hasText: "Reporting of" });
	await partly.getByRole("cell", { name: "Partly", exact: true }).waitFor();
	await partly.getByText("Exercises (not started); Hotline").waitFor();
	await page.getByText("Measures that are not applicable do not").waitFor();
	const summary = page.getByRole("region", { name: "Summary", exact: true });
	await expect
		.poll(() => summary.locator("tbody td").allInnerTexts())
		.toEqual(["6", "5", "1", "2", "1", "2"]);
	await axe(page);
	await screenshot(page, "reports/applicability-partly");
	await visit(page, `/o/${registers.organizationId}/reports/board-summary`);
	await page.getByText("2 of 5 that apply, 1 more partly").waitFor();
	await page.getByText("2 of 5 controls, 1 more partly").waitFor();
	await axe(page);
});

test("a framework without controls says how to add them", async () => {
	const { framework } = await registers.add("addFramework", { name: "Empty" });
	const page = await registers.openPageAs(
		registers.member,
		registers.at(`framework/${framework.id}`),
	);
	await page.getByText("This framework has no controls yet").waitFor();
	await axe(page);
	await page.getByRole("link", { name: "Import controls" }).click();
	await page.waitForURL("**/r/control/import");
});

test("a number in the matrix links to the risks that it counts", async () => {
	for (const [name, likelihood, impact] of [
		["Matrix fire", 1, 5],
		["Matrix flood", 1, 5],
		["Matrix theft", 3, 4],
	] as const) {
		await registers.addRisk(name, {
			inherent_likelihood: likelihood,
			inherent_impact: impact,
			residual_likelihood: 1,
			residual_impact: 1,
		});
	}
	const page = await registers.openPageAs(
		registers.member,
		registers.at("risk/matrix"),
	);
	const inherent = page.getByRole("region", { name: "Inherent risk" });
	const table = inherent.getByRole("table", { name: /^Inherent risk/ });
	const cell = table.getByRole("link", {
		name: /^2 risks, score 5 Medium ?, likelihood 1 Rare, impact 5 Severe$/,
	});
	await cell.waitFor();
	await table.getByRole("columnheader", { name: "5 Severe" }).waitFor();
	await table.getByRole("rowheader", { name: "1 Rare" }).waitFor();
	await axe(page);
	await screenshot(page, "matrix");

	// From here on, the test uses only the keyboard.
	await cell.focus();
	await page.keyboard.press("Enter");
	await page.waitForURL("**/r/risk?**inherent_likelihood=1**");
	const rows = page.locator("tbody tr");
	await expect.poll(() => rows.count()).toBe(2);
	expect(await rows.allInnerTexts()).toEqual([
		expect.stringContaining("Matrix"),
		expect.stringContaining("Matrix"),
	]);
	await page.goBack();
	const bands = inherent.getByRole("list", { name: "Bands" });
	await bands
		.getByRole("listitem")
		.filter({ hasText: "High" })
		.getByRole("link", { name: "1" })
		.click();
	await page.getByRole("link", { name: "Matrix theft" }).waitFor();
	await expect.poll(() => rows.count()).toBe(1);
});

test("the address selects one of the matrices, and each is usable at 375 px and in dark mode", async () => {
	await registers.addRisk("Counted", {
		residual_likelihood: 2,
		residual_impact: 2,
	});
	const page = await registers.openPageAs(
		registers.member,
		registers.at("risk/matrix"),
		{
			viewport: { width: 375, height: 740 },
		},
	);
	await page.getByRole("region", { name: "Inherent risk" }).waitFor();
	await page.getByText("Residual", { exact: true }).click();
	await page.waitForURL("**/r/risk/matrix?of=residual");
	const inherent = page.getByRole("region", { name: "Inherent risk" });
	await expect.poll(() => inherent.count()).toBe(0);
	await page.reload();
	await page.getByRole("region", { name: "Residual risk" }).waitFor();
	expect(await inherent.count()).toBe(0);
	const width = await page.evaluate("document.documentElement.scrollWidth");
	expect(width).toBeLessThanOrEqual(375);
	await axe(page);
	await screenshot(page, "matrix-375");
	const dark = await registers.openPageAs(
		registers.viewer,
		registers.at("risk/matrix"),
		{
			colorScheme: "dark",
		},
	);
	await dark.getByRole("region", { name: "Residual risk" }).waitFor();
	await axe(dark);
	await screenshot(dark, "matrix-dark");
});

test("a large framework starts folded, and its page and the links panel are usable at 375 px and in dark mode", async () => {
	const { framework } = await registers.add("addFramework", { name: "SOC 2" });
	const titles = Array.from({ length: 45 }, (_, n) => `CC${(n % 9) + 1}.${n}`);
	for (const title of titles) {
		await registers.addControl(framework.id, title, `Criterion ${title}`);
	}
	const page = await registers.openPageAs(
		registers.member,
		registers.at(`framework/${framework.id}`),
		{ viewport: { width: 375, height: 740 }, colorScheme: "dark" },
	);
	const controls = page.getByRole("region", { name: "Controls" });
	const sections = controls.getByRole("heading", { level: 3 });
	await expect.poll(() => sections.count()).toBe(9);
	expect(await controls.getByRole("link", { name: /Criterion/ }).count()).toBe(
		0,
	);
	await sections.getByRole("button", { name: /^CC2/ }).click();
	await controls
		.getByRole("link", { name: "Criterion CC2.1", exact: true })
		.waitFor();
	await controls.scrollIntoViewIfNeeded();
	const width = () => page.evaluate("document.documentElement.scrollWidth");
	expect(await width()).toBeLessThanOrEqual(375);
	await axe(page);
	await screenshot(page, "coverage-375-dark");

	const risk = await registers.addRisk("Narrow");
	await registers.use("linkRecords", {
		record_id: risk,
		linked_record_id: await registers.addMeasure(
			"A measure with a name that is longer than a narrow screen is wide",
			"IN_PROGRESS",
		),
	});
	await visit(page, registers.at(`risk/${risk}`));
	await links(page).getByText("In progress").waitFor();
	await links(page).scrollIntoViewIfNeeded();
	expect(await width()).toBeLessThanOrEqual(375);
	await axe(page);
	await screenshot(page, "links-375-dark");
});
