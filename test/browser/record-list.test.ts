import { afterAll, beforeAll, expect, test } from "vitest";
import { axe, screenshot, visit } from "./browser.ts";
import {
	heading,
	names,
	type SampleRegisters,
	startWithRisks,
} from "./sample-registers.ts";
import { settled } from "./settled.ts";

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
	await expect
		.poll(() => page.getByRole("searchbox").inputValue())
		.toBe("grew");
	await axe(page);

	await page.getByRole("link", { name: "A risk that grew" }).click();
	await heading(page, "A risk that grew").waitFor();
	await page.goBack();
	await expect.poll(names(page)).toEqual(["A risk that grew"]);

	// Tabs and edits of the record are steps in the history, and its breadcrumb goes past them.
	await page.getByRole("link", { name: "A risk that grew" }).click();
	await page.getByRole("tab", { name: "History" }).click();
	const left = page.getByRole("navigation", { name: "Where you are" });
	await left.getByRole("link", { name: "Risks" }).click();
	await expect.poll(names(page)).toEqual(["A risk that grew"]);
	expect(new URL(page.url()).search).toBe(
		"?treatment=MITIGATED&is_undecided=false&sort=name&dir=desc&q=grew",
	);
	const menu = page.getByRole("navigation", { name: "Main" });
	await menu.getByRole("link", { name: "Risks" }).click();
	await expect.poll(async () => (await names(page)()).length).toBe(20);
	await page.goBack();
	// The field follows the address.
	const search = page.getByRole("searchbox");
	await expect.poll(() => search.inputValue()).toBe("grew");

	await search.fill("nothing like it");
	await page.getByRole("heading", { name: "No risks match" }).waitFor();
	await page.getByRole("button", { name: "Show all risks" }).click();
	await expect.poll(async () => (await names(page)()).length).toBe(20);
});

test("a list opens in its register's usual order, its header shows it, and back returns to it", async () => {
	const { framework } = await registers.add("addFramework", { name: "ISO" });
	for (const number of ["A.8.34", "A.5.10", "A.5.9"]) {
		await registers.add("addControl", {
			framework_id: framework.id,
			section_title: "Controls",
			name: `${number} A control`,
		});
	}
	const inOrder = ["A.5.9 A control", "A.5.10 A control", "A.8.34 A control"];
	const page = await registers.open(registers.admin, "control");
	await expect.poll(names(page)).toEqual(inOrder);
	const sorting = (name: string) =>
		page.getByRole("columnheader", { name }).getAttribute("aria-sort");
	expect(await sorting("Name")).toBe("ascending");
	expect(page.url()).not.toContain("sort=");
	await page.getByRole("button", { name: "Name", exact: true }).click();
	await expect.poll(names(page)).toEqual(inOrder.toReversed());
	await page.goBack();
	await expect.poll(names(page)).toEqual(inOrder);

	// Every other list says by what it is ordered, too.
	for (const name of ["Ant", "Zebra"]) {
		await registers.add("addMeasure", { name, category: "Animals" });
		await registers.add("addEvidence", { name });
	}
	await visit(page, registers.at("measure"));
	await expect.poll(names(page)).toEqual(["Ant", "Zebra"]);
	expect(await sorting("Name")).toBe("ascending");
	await visit(page, registers.at("evidence"));
	await expect.poll(names(page)).toEqual(["Zebra", "Ant"]);
	await page
		.getByRole("navigation", { name: "Pages of the list" })
		.getByText("Latest added first")
		.waitFor();

	await visit(page, registers.at("risk"));
	await expect
		.poll(async () => (await names(page)())[0])
		.toBe("A risk that grew");
	expect(await sorting("Residual risk")).toBe("descending");
	await page.getByRole("button", { name: "Next page" }).click();
	await page.getByText("21–24 of 24").waitFor();
});

test("work opens with open records first, by due date, and the third click on a header returns to it", async () => {
	for (const [name, deadline, state] of [
		["Done early", "2027-01-01", "DONE"],
		["Later", "2027-03-01", "TODO"],
		["Whenever", null, "TODO"],
		["Sooner", "2027-02-01", "IN_PROGRESS"],
	]) {
		await registers.add("addTask", { name, deadline, state });
	}
	const usual = ["Sooner", "Later", "Whenever", "Done early"];
	const page = await registers.open(registers.admin, "task");
	await expect.poll(names(page)).toEqual(usual);
	await page
		.getByRole("navigation", { name: "Pages of the list" })
		.getByText("Open first, by due date")
		.waitFor();
	await axe(page);
	const header = page.getByRole("columnheader", { name: "Due date" });
	const click = () => header.getByRole("button").click();
	await click();
	await page.waitForURL(/sort=deadline&dir=asc/);
	await expect.poll(async () => (await names(page)())[0]).toBe("Done early");
	expect(await header.getAttribute("aria-sort")).toBe("ascending");
	await click();
	await page.waitForURL(/dir=desc/);
	await click();
	await expect.poll(names(page)).toEqual(usual);
	expect(page.url()).not.toContain("sort=");

	await page.setViewportSize({ width: 390, height: 844 });
	const sort = page.getByRole("combobox", { name: "Sort by" });
	await sort.selectOption("Name, descending");
	await expect.poll(async () => (await names(page)())[0]).toBe("Whenever");
	await sort.selectOption("Open first, by due date");
	await expect.poll(names(page)).toEqual(usual);
});

test("a list can be read page by page and back, with the page size that the reader chooses", async () => {
	const page = await registers.open(registers.admin, "risk?sort=name");
	await expect
		.poll(async () => (await names(page)()).at(-1))
		.toBe("Accepted risk 19");
	const pages = page.getByRole("navigation", { name: "Pages of the list" });
	await pages.getByText("1–20 of 24").waitFor();
	await pages.getByRole("button", { name: "Next page" }).click();
	await expect
		.poll(async () => (await names(page)())[0])
		.toBe("Accepted risk 20");
	await pages.getByText("21–24 of 24").waitFor();
	await expect.poll(() => page.evaluate("scrollY")).toBe(0);
	await page.reload();
	await pages.getByText("21–24 of 24").waitFor();
	await page.getByRole("link", { name: "Accepted risk 20" }).click();
	await heading(page, "Accepted risk 20").waitFor();
	const left = page.getByRole("navigation", { name: "Where you are" });
	await left.getByRole("link", { name: "Risks" }).click();
	await pages.getByText("21–24 of 24").waitFor();
	await pages.getByRole("button", { name: "Previous page" }).click();
	await pages.getByText("1–20 of 24").waitFor();
	expect(page.url()).not.toContain("cursor");
	await page.goBack();
	await pages.getByText("21–24 of 24").waitFor();
	// Somebody who opens the address alone does not know the pages before it.
	const alone = await page.context().newPage();
	await alone.goto(page.url());
	await alone.getByText("4 of 24").waitFor();
	await alone.getByRole("button", { name: "First page" }).click();
	await alone.getByText("1–20 of 24").waitFor();
	await alone.close();
	await page
		.getByRole("combobox", { name: "Rows per page" })
		.selectOption("50");
	await expect.poll(async () => (await names(page)()).length).toBe(24);
});

test("a page of a list of overdue work stays what it is after midnight", async () => {
	await registers.add("addRecords", {
		kind: "obligation",
		records: Array.from({ length: 21 }, (_, number) => ({
			requirement: `Keep record ${number}`,
			due_date: "2020-01-01",
		})),
	});
	const page = await registers.open(registers.admin, "obligation?due=overdue");
	const pages = page.getByRole("navigation", { name: "Pages of the list" });
	await pages.getByText("1–20 of 21").waitFor();
	await pages.getByRole("button", { name: "Next page" }).click();
	await pages.getByText("21–21 of 21").waitFor();
	await page.clock.install({ time: Date.now() + 86_400_000 });
	await page.reload();
	await pages.getByText("21–21 of 21").waitFor();
	await pages.getByRole("button", { name: "Previous page" }).click();
	await pages.getByText("1–20 of 21").waitFor();
	expect(page.url()).not.toContain("day=");
	// The clock would stay with the page.
	await page.context().close();
});

test("a list of finished tasks has the one that was finished last on top", async () => {
	const add = (name: string, more: object) =>
		registers.add("addTask", { name: `Sweep ${name}`, ...more });
	const { task } = await add("the attic", { deadline: "2020-01-01" });
	await add("the cellar", { deadline: "2026-01-01", state: "DONE" });
	await add("the hall", { state: "DONE" });
	await registers.use("updateTask", { id: task.id, state: "DONE" });
	const finished = ["Sweep the attic", "Sweep the hall", "Sweep the cellar"];
	for (const filter of ["state=DONE", "is_open=false"]) {
		const page = await registers.open(
			registers.admin,
			`task?q=sweep&${filter}`,
		);
		await expect.poll(names(page)).toEqual(finished);
		await page
			.getByRole("navigation", { name: "Pages of the list" })
			.getByText("Last changed first")
			.waitFor();
	}
});

test("the names of all owners on a page are loaded in one request", async () => {
	const page = await registers.open(registers.admin, "risk");
	// A request of the first load that is still to come would be counted below.
	await settled(page);
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
	const why = page.getByRole("button", { name: /residual risk is higher/ });
	await why.focus();
	await page
		.getByRole("tooltip", { name: /residual risk is higher/ })
		.waitFor();
	await axe(page);
	await page.getByRole("link", { name: "A risk that grew" }).click();
	await page.getByText("Please check").waitFor();
	await page
		.getByText(/residual risk is higher than the inherent risk/)
		.waitFor();
});

test("on a touch screen, a finger has room, and typing does not enlarge the page", async () => {
	const page = await registers.open(registers.admin, "risk?q=laptop", {
		viewport: { width: 390, height: 844 },
		hasTouch: true,
		isMobile: true,
	});
	await page.getByRole("checkbox", { name: /^Select Laptop/ }).waitFor();
	expect(
		await page.evaluate(
			`[...document.querySelectorAll(
				".mantine-Button-root, .mantine-ActionIcon-root, .mantine-Burger-root, td button[aria-label^=Change]",
			)]
			.filter(({ offsetParent }) => offsetParent)
			.filter((button) => button.getBoundingClientRect().height < 40)
			.map((button) => button.getAttribute("aria-label") ?? button.textContent)`,
		),
	).toEqual([]);
	const reaches = `(() => {
		const box = document.querySelector("td input[type=checkbox]");
		const { left, top } = box.getBoundingClientRect();
		return document.elementFromPoint(left - 6, top - 6) === box;
	})()`;
	expect(await page.evaluate(reaches)).toBe(true);
	const fontSize =
		'getComputedStyle(document.querySelector("input[type=search]")).fontSize';
	expect(await page.evaluate(fontSize)).toBe("16px");
	const clear = page.getByRole("button", { name: "Clear filters" });
	await clear.tap();
	await clear.waitFor({ state: "hidden" });
	await page.getByRole("button", { name: "Filters", exact: true }).waitFor();
	await screenshot(page, "registers/touch");
});

test("at 700 px, a long name has room, and hovering shows all of it", async () => {
	const name = `Password ${"a-very-long-".repeat(20)}word ${"x".repeat(90)}`;
	await registers.add("addTask", { name });
	const page = await registers.open(registers.admin, "task", {
		viewport: { width: 700, height: 800 },
	});
	const cell = page.getByRole("cell").filter({ hasText: "Password" });
	await cell.waitFor();
	expect(await cell.getByRole("link").getAttribute("title")).toBe(name);
	const { width = 0 } = (await cell.boundingBox()) ?? {};
	// 14rem, and no wider than the widest value.
	expect(width).toBeGreaterThanOrEqual(224);
	expect(width).toBeLessThanOrEqual(400);
	await screenshot(page, "registers/long-name-700");
});

test("at 375 px and in dark mode, the pages are usable, and nothing is wider than the screen", async () => {
	const page = await registers.open(registers.admin, "risk", {
		viewport: { width: 375, height: 740 },
		colorScheme: "dark",
	});
	const width = () => page.evaluate("document.documentElement.scrollWidth");
	await page.getByRole("table").waitFor();
	// Each row is a card with all its values, so that nothing has to be scrolled sideways.
	const risks = page.getByRole("region", { name: "Risks", exact: true });
	expect(await risks.evaluate((box) => box.scrollWidth - box.clientWidth)).toBe(
		0,
	);
	await risks.getByRole("cell", { name: "Ada Lovelace" }).first().waitFor();
	await page
		.getByRole("combobox", { name: "Sort by" })
		.selectOption("Residual risk, descending");
	await expect
		.poll(async () => (await names(page)())[0])
		.toBe("A risk that grew");
	await screenshot(page, "registers/cards-375");
	await page.getByRole("button", { name: "Filters" }).click();
	await page.getByRole("combobox", { name: "Treatment" }).waitFor();
	expect(await width()).toBeLessThanOrEqual(375);
	for (const path of [
		`risk/${registers.ids.grown}`,
		`risk/${registers.ids.grown}?edit=true`,
	]) {
		await visit(page, registers.at(path));
		await page
			.getByRole("heading", { level: 1, name: /A risk that grew/ })
			.waitFor();
		await axe(page);
		expect(await width()).toBeLessThanOrEqual(375);
	}
});
