import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axe, screenshot, visit } from "./browser.ts";
import {
	names,
	type SampleRegisters,
	startWithRisks,
} from "./sample-registers.ts";
import { focused, settled } from "./settled.ts";

let registers: SampleRegisters;
beforeAll(async () => {
	registers = await startWithRisks();
});
afterAll(() => registers.close());

const views = (page: Page) =>
	page.getByRole("button", { name: /^(Views|View: .*)$/ });

const item = (page: Page, name: string | RegExp) =>
	page.getByRole("menuitem", { name });

/** The columns of the risks after the name, as usual and with the owner as the third of all. */
const USUAL = [
	"Inherent risk",
	"Residual risk",
	"Category",
	"Treatment",
	"Owner",
	"Updated",
];
const MOVED = ["Inherent risk", "Owner", ...USUAL.slice(1, 4), "Updated"];

/** Reads the headings of the list from left to right. */
const columns = (page: Page) => () =>
	page.getByRole("columnheader").filter({ hasText: /\w/ }).allInnerTexts();

/** Reads the labels in the first card of a list on a phone from top to bottom. */
const labelsOfCard = async (page: Page) => {
	const cells = page.locator("tbody tr").first().locator("td[data-label]");
	const placed = await cells.evaluateAll((all) =>
		all.map((cell) => ({
			label: cell.getAttribute("data-label"),
			top: cell.getBoundingClientRect().top,
		})),
	);
	return placed.toSorted((a, b) => a.top - b.top).map(({ label }) => label);
};

test("a view is saved, chosen, changed, shared, renamed and deleted", async () => {
	const member = await registers.makePerson("member");
	const page = await registers.open(member, "risk?treatment=MITIGATED");
	await expect.poll(async () => (await names(page)()).length).toBe(2);
	await views(page).click();
	await page.getByText("No views are saved yet").waitFor();
	await item(page, "Save as a view …").click();
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("button", { name: "Save" }).click();
	await dialog.getByText("Enter a name.").waitFor();
	await dialog.getByLabel("Name").fill("To mitigate");
	await axe(page);
	await dialog.getByRole("button", { name: "Save" }).click();
	await page.waitForURL(/view=/);
	await page.getByRole("button", { name: "View: To mitigate" }).waitFor();

	// The view stays chosen while the list differs from it.
	await page.getByRole("button", { name: "Name", exact: true }).click();
	await page.waitForURL(/sort=name/);
	await page.getByText("To mitigate *").waitFor();

	// The order of the columns is part of the view. The first column stays where it is.
	await expect.poll(columns(page)).toEqual(["Name", ...USUAL]);
	await page.getByRole("button", { name: "Columns" }).click();
	const menu = page.getByRole("dialog", { name: "Columns" });
	const move = (where: string) =>
		menu.getByRole("button", { name: `Move ${where}` });
	expect(await move("Name").count()).toBe(0);
	await move("Owner up").click();
	await menu.getByRole("status").getByText("Owner: column 5 of 7").waitFor();
	await axe(page);
	await screenshot(page, "columns");
	// By keyboard, the focus stays on the button, also at the end of the way.
	const pressTo = async (way: "up" | "down", column: number) => {
		await focused(move(`Owner ${way}`));
		await page.keyboard.press("Enter");
		await menu
			.getByRole("status")
			.getByText(`Owner: column ${column} of 7`)
			.waitFor();
	};
	for (const column of [4, 3, 2, 2]) await pressTo("up", column);
	await focused(move("Owner up"));
	await page.keyboard.press("Tab");
	await pressTo("down", 3);
	await pressTo("down", 4);
	await page.keyboard.press("Shift+Tab");
	await pressTo("up", 3);
	const note = menu.getByRole("checkbox", { name: "Note" });
	await note.focus();
	for (const isShown of [true, false]) {
		await page.keyboard.press("Space");
		await expect.poll(() => note.isChecked()).toBe(isShown);
		await expect
			.poll(() => note.evaluate((box) => box.matches(":focus")))
			.toBe(true);
	}
	await page.keyboard.press("Escape");
	await expect.poll(columns(page)).toEqual(["Name", ...MOVED]);
	// The list still has these columns when the reader comes back by the menu.
	const view = page.url();
	const menuLink = (name: string) =>
		page.getByRole("navigation").getByRole("link", { name, exact: true });
	await menuLink("Assets").click();
	await menuLink("Risks").click();
	await expect.poll(columns(page)).toEqual(["Name", ...MOVED]);
	expect(new URL(page.url()).search).toBe("");
	await visit(page, view);

	await views(page).click();
	await axe(page);
	await screenshot(page, "views");
	await item(page, "Save the changes to “To mitigate”").click();
	await expect.poll(() => page.getByText("To mitigate *").count()).toBe(0);
	await views(page).click();
	await item(page, "Share with the organization").click();
	await settled(page);
	await views(page).click();
	await item(page, "Rename …").click();
	await dialog.getByLabel("Name").fill("Mitigate these");
	await dialog.getByRole("button", { name: "Save" }).click();
	await page.getByRole("button", { name: "View: Mitigate these" }).waitFor();

	const viewer = await registers.makePerson("viewer");
	const other = await registers.open(viewer, "risk");
	await views(other).click();
	await other.getByText("Shared views").waitFor();
	await other.getByRole("menuitem", { name: "Mitigate these" }).click();
	await other.waitForURL(
		/treatment=MITIGATED.*view=|view=.*treatment=MITIGATED/,
	);
	await expect.poll(names(other)).toEqual(["A risk that grew", "Laptop theft"]);
	await expect.poll(columns(other)).toEqual(["Name", ...MOVED]);
	await other.setViewportSize({ width: 390, height: 844 });
	await expect.poll(() => labelsOfCard(other)).toEqual(MOVED);
	await other.setViewportSize({ width: 1280, height: 720 });
	await views(other).click();
	expect(await item(other, "Delete …").count()).toBe(0);
	await item(other, "Leave this view").click();
	await expect.poll(async () => (await names(other)()).length).toBe(20);

	await views(page).click();
	await item(page, "Delete …").click();
	await dialog.getByText("Everybody in the organization loses").waitFor();
	await dialog.getByRole("button", { name: "Delete the view" }).click();
	await page.getByRole("button", { name: "Views" }).waitFor();
	await expect.poll(async () => (await names(page)()).length).toBe(2);
});

test("the list of devices has views, and one menu with the seldom used pages", async () => {
	await registers.add("addDevice", { name: "laptop-1" });
	const page = await registers.openPageAs(
		registers.admin,
		`/o/${registers.organizationId}/devices?status=PENDING`,
	);
	await views(page).click();
	await item(page, "Save as a view …").click();
	await page.getByLabel("Name").fill("Pending ones");
	await page
		.getByRole("checkbox", { name: "Share with everybody in the organization" })
		.check();
	await page.getByRole("button", { name: "Save", exact: true }).click();
	await page.getByRole("button", { name: "View: Pending ones" }).waitFor();
	await page.getByRole("button", { name: "More actions" }).click();
	for (const name of ["Enrollment keys", "Groups", "Exceptions"]) {
		await item(page, name).waitFor();
	}
	await axe(page);
	await screenshot(page, "devices-more");
});

test("“Mine” is each reader's own, and “Unassigned” has no owner", async () => {
	const { people } = await registers.add("addPeople", {
		full_name: "The Administrator",
		primary_email_address: registers.admin.email,
		kind: "EMPLOYEE",
	});
	await registers.add("addTask", {
		name: "Own task",
		assigned_to_id: people.id,
		deadline: "2020-01-01",
	});
	await registers.add("addTask", {
		name: "Task of Ada",
		assigned_to_id: registers.ids.ada,
	});
	await registers.add("addTask", { name: "Nobody's task" });
	const page = await registers.open(registers.admin, "task");
	const assigned = page.getByRole("combobox", { name: "Assigned to" });
	await assigned.click();
	await page.getByRole("option", { name: "Mine" }).click();
	await page.waitForURL(/assigned_to=me/);
	await expect.poll(names(page)).toEqual(["Own task"]);
	await expect.poll(() => assigned.inputValue()).toBe("Mine");
	await axe(page);
	await assigned.click();
	await page.getByRole("option", { name: "Unassigned" }).click();
	await expect.poll(names(page)).toEqual(["Nobody's task"]);
	expect(page.url()).not.toContain("assigned_to=me");
	await assigned.click();
	await page.getByRole("option", { name: /Ada Lovelace/ }).click();
	await expect.poll(names(page)).toEqual(["Task of Ada"]);
	// The home page counts the reader's own work, and its numbers lead to it.
	await visit(page, page.url().replace(/\/r\/.*/, ""));
	const mine = page.getByRole("region", { name: "Mine" });
	await mine.getByRole("link", { name: "1 overdue" }).click();
	await page.waitForURL(/assigned_to=me.*due=overdue/);
	await expect.poll(names(page)).toEqual(["Own task"]);
});

test("selected records are linked to one record and exported", async () => {
	const { measure } = await registers.add("addMeasure", {
		name: "Lock the doors",
		category: "Premises",
	});
	const page = await registers.open(registers.admin, "risk?q=grew");
	await page.getByRole("checkbox", { name: "Select A risk that grew" }).check();
	const bar = page.getByRole("region", { name: "Selected rows" });
	const [file] = await Promise.all([
		page.waitForEvent("download"),
		bar.getByRole("button", { name: "Export CSV" }).click(),
	]);
	const lines = (await readFile(await file.path(), "utf8"))
		.trim()
		.split("\r\n");
	expect(lines).toHaveLength(2);
	expect(lines[1]).toContain("A risk that grew");

	await bar.getByRole("button", { name: "Link …" }).click();
	const dialog = page.getByRole("dialog", {
		name: "Link 1 risk to one record",
	});
	const link = dialog.getByRole("button", { name: "Link", exact: true });
	expect(await link.isDisabled()).toBe(true);
	await dialog.getByRole("combobox", { name: "Record" }).click();
	await page.getByRole("option", { name: "Lock the doors" }).click();
	await axe(page);
	await screenshot(page, "link-selected");
	await link.click();
	await page.getByText("1 risk linked").waitFor();
	const { linked_records } = await registers.use("listLinkedRecords", {
		record_id: measure.id,
	});
	expect(linked_records).toMatchObject([{ name: "A risk that grew" }]);
});

test("all records that match are selected, also those on other pages", async () => {
	const page = await registers.open(registers.admin, "risk");
	await page.getByLabel("Select all on this page").check();
	const bar = page.getByRole("region", { name: "Selected rows" });
	await bar.getByText("20 selected").waitFor();
	await axe(page);
	await bar.getByRole("button", { name: "Select all 24" }).click();
	await bar.getByText("24 selected").waitFor();
	expect(await bar.getByRole("button", { name: /^Select/ }).count()).toBe(0);
	await page.evaluate("scrollTo(0, 0)");
	await bar.getByRole("button", { name: "Change fields …" }).click();
	await page.getByRole("dialog", { name: "Change 24 risks" }).waitFor();
	await page.getByRole("button", { name: "Cancel" }).click();
	// The button gets the focus again, and the page stays where it was.
	await expect
		.poll(() => page.locator(":focus").innerText())
		.toBe("Change fields …");
	expect(await page.evaluate("scrollY")).toBe(0);
	// Only those that match the filters are selected.
	await visit(page, registers.at("risk?treatment=MITIGATED"));
	await settled(page);
	await page.getByRole("checkbox", { name: "Select Laptop theft" }).check();
	await bar.getByRole("button", { name: "Select all 2" }).click();
	await bar.getByText("2 selected").waitFor();
});

test("a member is not offered to delete the selected records", async () => {
	const member = await registers.makePerson("member");
	const page = await registers.open(member, "risk?q=laptop");
	await page.getByRole("checkbox", { name: "Select Laptop theft" }).check();
	const bar = page.getByRole("region", { name: "Selected rows" });
	await bar.getByRole("button", { name: "Link …" }).waitFor();
	expect(await bar.getByRole("button", { name: /Delete/ }).count()).toBe(0);
	await visit(page, registers.at("risk"));
});

test("the filters of a list stay on one line at 1280 pixels", async () => {
	// A register without records shows no filters.
	await registers.add("addTask", { name: "Order locks" });
	await registers.add("addNonconformity", {});
	const page = await registers.open(registers.admin, "task");
	for (const kind of ["task", "nonconformity", "risk"]) {
		await visit(page, registers.at(kind));
		const bar = page.getByRole("search");
		await bar.waitFor();
		await expect
			.poll(async () => (await bar.boundingBox())?.height)
			.toBeLessThan(50);
	}
});
