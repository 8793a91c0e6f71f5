import { afterAll, beforeAll, expect, test } from "vitest";
import { axe } from "./browser.ts";
import {
	heading,
	names,
	type SampleRegisters,
	startWithRisks,
} from "./sample-registers.ts";

let registers: SampleRegisters;
beforeAll(async () => {
	registers = await startWithRisks();
});
afterAll(() => registers.close());

test("search, filters and order are in the address, and reload and back keep them", async () => {
	const page = await registers.open(registers.admin, "risk");
	await expect.poll(async () => (await names(page)()).length).toBe(20);
	await page.getByRole("combobox", { name: "Treatment" }).click();
	await page.getByRole("option", { name: "Mitigated" }).click();
	await expect.poll(names(page)).toEqual(["A risk that grew", "Laptop theft"]);
	await page.getByRole("button", { name: "Name" }).click();
	await page.waitForURL(/sort=name/);
	await page.getByRole("button", { name: "Name" }).click();
	await page.waitForURL(/dir=desc/);
	await expect.poll(names(page)).toEqual(["Laptop theft", "A risk that grew"]);
	await page.getByRole("searchbox").fill("grew");
	await expect.poll(names(page)).toEqual(["A risk that grew"]);
	expect(page.url()).toContain("treatment=MITIGATED");
	await page.reload();
	await expect.poll(names(page)).toEqual(["A risk that grew"]);
	expect(await page.getByRole("searchbox").inputValue()).toBe("grew");
	await axe(page);

	await page.getByRole("link", { name: "A risk that grew" }).click();
	await heading(page, "A risk that grew").waitFor();
	await page.goBack();
	await expect.poll(names(page)).toEqual(["A risk that grew"]);

	await page.getByRole("searchbox").fill("nothing like it");
	await page.getByRole("heading", { name: "No risks match" }).waitFor();
	await page.getByRole("button", { name: "Show all risks" }).click();
	await expect.poll(async () => (await names(page)()).length).toBe(20);
});

test("a list can be read page by page and back, with the page size that the reader chooses", async () => {
	const page = await registers.open(registers.admin, "risk?sort=name");
	await expect
		.poll(async () => (await names(page)()).at(-1))
		.toBe("Accepted risk 19");
	await page.getByRole("button", { name: "Next page" }).click();
	await expect
		.poll(async () => (await names(page)())[0])
		.toBe("Accepted risk 20");
	await page.reload();
	await expect
		.poll(async () => (await names(page)())[0])
		.toBe("Accepted risk 20");
	await page.goBack();
	await expect
		.poll(async () => (await names(page)())[0])
		.toBe("A risk that grew");
	await page
		.getByRole("combobox", { name: "Rows per page" })
		.selectOption("50");
	await expect.poll(async () => (await names(page)()).length).toBe(24);
});

test("scores are filtered by band, owners by search, and records without an owner by their own option", async () => {
	const page = await registers.open(registers.admin, "risk");
	await page.getByRole("combobox", { name: "Residual risk" }).click();
	await page.getByRole("option", { name: "Critical (15 to 25)" }).click();
	await expect.poll(names(page)).toEqual(["A risk that grew"]);
	expect(page.url()).toContain("min_residual_risk_score=15");
	await page.getByRole("button", { name: "Clear filters" }).click();
	await page.getByRole("combobox", { name: "Owner" }).click();
	await page.getByRole("option", { name: "Unassigned" }).click();
	await expect.poll(names(page)).toEqual(["A risk that grew"]);
	await page.getByRole("combobox", { name: "Owner" }).fill("lovelace");
	await page.getByRole("option", { name: "Ada Lovelace" }).click();
	await page.waitForURL(new RegExp(registers.ids.ada));
	await expect.poll(async () => (await names(page)()).length).toBe(20);
	await axe(page);
});

test("overdue tasks that are not done are found and marked", async () => {
	await registers.add("addTask", {
		name: "Long overdue",
		deadline: "2024-02-29",
	});
	await registers.add("addTask", {
		...{ name: "Done in time", deadline: "2024-02-29", state: "DONE" },
	});
	await registers.add("addTask", { name: "Far away", deadline: "2100-01-01" });
	const page = await registers.open(registers.admin, "task");
	await page.getByRole("combobox", { name: "Deadline" }).click();
	await page.getByRole("option", { name: "Overdue" }).click();
	await expect.poll(names(page)).toEqual(["Done in time", "Long overdue"]);
	await page.getByRole("checkbox", { name: "Open only" }).check();
	await expect.poll(names(page)).toEqual(["Long overdue"]);
	await page.getByRole("img", { name: /It is overdue/ }).waitFor();
	await axe(page);
	// A range that is not one of the usual ones is shown with its dates.
	await page.goto(registers.at("task?due_from=2099-01-01"));
	await expect.poll(names(page)).toEqual(["Far away"]);
	const due = page.getByRole("combobox", { name: "Deadline" });
	expect(await due.inputValue()).toBe("from 1 Jan 2099");
});

test("the names of all owners on a page are loaded in one request", async () => {
	const page = await registers.open(registers.admin, "risk");
	const asked: string[] = [];
	page.on("request", (request) => {
		if (/getRecordNames|getPeople|listPeople/.test(request.url())) {
			asked.push(new URL(request.url()).pathname);
		}
	});
	await page.reload();
	await page.getByRole("cell", { name: "Ada Lovelace" }).first().waitFor();
	const named = asked.filter((path) => path.endsWith("getRecordNames"));
	expect(named).toHaveLength(1);
	expect(asked).not.toContain("/api/console/getPeople");
});

test("a residual risk higher than the inherent risk is questioned in the list and on its page", async () => {
	const page = await registers.open(registers.admin, "risk?q=grew");
	await page.getByRole("img", { name: /residual risk is higher/ }).waitFor();
	await page.getByRole("link", { name: "A risk that grew" }).click();
	await page.getByText("Please check").waitFor();
	await page
		.getByText(/residual risk is higher than the inherent risk/)
		.waitFor();
});

test("a viewer sees no button that would be rejected", async () => {
	const viewer = await registers.makePerson("viewer");
	const page = await registers.open(viewer, "risk");
	await page.getByRole("table").waitFor();
	for (const name of ["New risk", "Import"]) {
		expect(await page.getByRole("link", { name }).count()).toBe(0);
	}
	await axe(page);
	// A viewer who opens the address of a form sees the record instead.
	await page.goto(registers.at(`risk/${registers.ids.theft}?edit=true`));
	await heading(page, "Laptop theft").waitFor();
	await page.getByRole("link", { name: "Ada Lovelace" }).waitFor();
	for (const name of ["Edit", "Delete", "Link a record"]) {
		expect(await page.getByRole("link", { name }).count()).toBe(0);
		expect(await page.getByRole("button", { name }).count()).toBe(0);
	}
	await page.goto(registers.at("risk/new"));
	await page.getByRole("heading", { name: /You cannot add records/ }).waitFor();
	await page.goto(registers.at("audit"));
	await page
		.getByRole("heading", { name: "There are no audits yet" })
		.waitFor();
	expect(await page.getByRole("link", { name: "New audit" }).count()).toBe(0);
});

test("at 375 px and in dark mode, the pages are usable, and nothing is wider than the screen", async () => {
	const page = await registers.open(registers.admin, "risk", {
		viewport: { width: 375, height: 740 },
		colorScheme: "dark",
	});
	const width = () => page.evaluate("document.documentElement.scrollWidth");
	await page.getByRole("table").waitFor();
	await page.getByRole("button", { name: "Filters" }).click();
	await page.getByRole("combobox", { name: "Treatment" }).waitFor();
	await axe(page);
	expect(await width()).toBeLessThanOrEqual(375);
	for (const path of [
		`risk/${registers.ids.grown}`,
		`risk/${registers.ids.grown}?edit=true`,
	]) {
		await page.goto(registers.at(path));
		await page
			.getByRole("heading", { level: 1, name: /A risk that grew/ })
			.waitFor();
		await axe(page);
		expect(await width()).toBeLessThanOrEqual(375);
	}
});
