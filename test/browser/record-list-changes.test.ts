import { afterAll, beforeAll, expect, test } from "vitest";
import { axe, screenshot, visit } from "./browser.ts";
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

test("selected records are changed and deleted together, and those that fail are named", async () => {
	const measure = (name: string, category: string) =>
		registers.add("addMeasure", { name, category });
	const { measure: guarded } = await measure("Guarded", "Old");
	await measure("First", "Old");
	await measure("Second", "Old");
	await measure("Other", "New");
	await registers.add("addTask", { name: "Uses it", measure_id: guarded.id });
	const page = await registers.open(registers.admin, "measure");
	// The filter offers the values that the register uses, with their number.
	await page.getByRole("combobox", { name: "Category" }).click();
	await page.getByRole("option", { name: "Old (3)" }).click();
	await expect.poll(async () => (await names(page)()).length).toBe(3);
	await page.getByRole("checkbox", { name: "Select all on this page" }).check();
	const bar = page.getByRole("region", { name: "Selected rows" });
	await bar.getByText("3 selected").waitFor();
	await axe(page);
	await screenshot(page, "registers/selected");
	await bar.getByRole("button", { name: "Change a field" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("combobox", { name: "Field" }).click();
	await page.getByRole("option", { name: "Status" }).click();
	const change = dialog.getByRole("button", { name: "Change", exact: true });
	expect(await change.isDisabled()).toBe(true);
	await dialog.getByRole("combobox", { name: "Status" }).click();
	await page.getByRole("option", { name: "Implemented" }).click();
	await axe(page);
	await change.click();
	await page.getByText("3 measures changed").waitFor();
	await expect.poll(() => bar.count()).toBe(0);
	await expect
		.poll(() => page.getByRole("cell", { name: "Implemented" }).count())
		.toBe(3);

	// The category is free text, and the dialog suggests the values in use.
	await page.getByRole("checkbox", { name: "Select First" }).check();
	await page.getByRole("checkbox", { name: "Select Second" }).check();
	await bar.getByRole("button", { name: "Change a field" }).click();
	await dialog.getByRole("combobox", { name: "Field" }).click();
	// The name tells one measure from the others, so it is not offered.
	expect(await page.getByRole("option", { name: "Name" }).count()).toBe(0);
	await page.getByRole("option", { name: "Category" }).click();
	await dialog.getByRole("combobox", { name: "Category" }).fill("Renamed");
	await change.click();
	await page.getByText("2 measures changed").waitFor();
	await expect.poll(names(page)).toEqual(["Guarded"]);
	await dialog.waitFor({ state: "detached" });
	await page.getByRole("combobox", { name: "Category" }).click();
	await page.getByRole("option", { name: "Renamed (2)" }).click();
	await expect.poll(async () => (await names(page)()).length).toBe(2);
	await page.getByRole("checkbox", { name: "Select all on this page" }).check();
	await bar.getByRole("button", { name: "Change a field" }).click();
	await dialog.getByRole("combobox", { name: "Field" }).click();
	await page.getByRole("option", { name: "Category" }).click();
	await dialog.getByRole("combobox", { name: "Category" }).fill("Ol");
	await page.getByRole("option", { name: "Old", exact: true }).click();
	await change.click();
	await dialog.waitFor({ state: "detached" });
	await page.getByRole("combobox", { name: "Category" }).click();
	await page.getByRole("option", { name: "Old (3)" }).click();
	await expect.poll(async () => (await names(page)()).length).toBe(3);

	// A single value is changed in its cell: two clicks for a choice or a record.
	await page.getByRole("button", { name: "Change Status of First" }).click();
	const menu = page.getByRole("menu", { name: "Change Status of First" });
	await axe(page);
	await menu.getByRole("menuitemradio", { name: "In progress" }).click();
	await page.getByRole("cell", { name: "In progress" }).waitFor();
	await expect.poll(() => menu.count()).toBe(0);
	// A click on the value does the same as one on the button.
	await page
		.getByRole("cell", { name: "In progress" })
		.getByText("In pr")
		.click();
	await menu.waitFor();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Escape");
	await expect.poll(() => menu.count()).toBe(0);
	await page.getByRole("button", { name: "Change Owner of First" }).click();
	await page.getByRole("option", { name: /^Ada Lovelace/ }).click();
	await page.getByRole("cell", { name: "Ada Lovelace" }).waitFor();
	await expect.poll(() => dialog.count()).toBe(0);
	await page.getByRole("button", { name: "Change Owner of First" }).click();
	await dialog.waitFor();
	await page.getByRole("heading", { level: 1 }).click();
	await expect.poll(() => dialog.count()).toBe(0);

	await page.getByRole("checkbox", { name: "Select all on this page" }).check();
	await page.getByRole("checkbox", { name: "Select Second" }).uncheck();
	await bar.getByRole("button", { name: "Delete" }).click();
	await dialog.getByRole("button", { name: "Delete 2 measures" }).click();
	await dialog.getByText("1 failed and is still selected").waitFor();
	await dialog.getByText(/^Guarded: .*task/i).waitFor();
	await axe(page);
	await dialog.getByRole("button", { name: "Close" }).last().click();
	await bar.getByText("1 selected").waitFor();
	await expect.poll(names(page)).toEqual(["Second", "Guarded"]);
	// Another filter shows other records, so that nothing stays selected.
	await page.getByRole("button", { name: "Clear filters" }).click();
	await expect.poll(async () => (await names(page)()).length).toBe(3);
	expect(await bar.count()).toBe(0);

	// The form suggests the values that the register uses.
	await page.goto(page.url().replace(/measure.*/, "measure/new"));
	await page.getByRole("combobox", { name: "Category" }).click();
	await page.getByRole("option", { name: "New", exact: true }).click();
	expect(
		await page.getByRole("combobox", { name: "Category" }).inputValue(),
	).toBe("New");
});

test("a viewer sees no button that would be rejected", async () => {
	const viewer = await registers.makePerson("viewer");
	const page = await registers.open(viewer, "risk");
	await page.getByRole("table").waitFor();
	for (const name of ["New risk", "Import"]) {
		expect(await page.getByRole("link", { name }).count()).toBe(0);
	}
	expect(await page.getByRole("checkbox", { name: /^Select/ }).count()).toBe(0);
	await axe(page);
	// A viewer who opens the address of a form sees the record instead.
	await visit(page, registers.at(`risk/${registers.ids.theft}?edit=true`));
	await heading(page, "Laptop theft").waitFor();
	await page.getByRole("link", { name: "Ada Lovelace" }).waitFor();
	for (const name of ["Edit", "Actions", "Link a record"]) {
		expect(await page.getByRole("link", { name }).count()).toBe(0);
		expect(await page.getByRole("button", { name }).count()).toBe(0);
	}
	await visit(page, registers.at("risk/new"));
	await page.getByRole("heading", { name: /You cannot add records/ }).waitFor();
	await visit(page, registers.at("audit"));
	await page
		.getByRole("heading", { name: "There are no audits yet" })
		.waitFor();
	expect(await page.getByRole("link", { name: "New audit" }).count()).toBe(0);
	await visit(page, registers.at("evidence"));
	await page
		.getByRole("heading", { name: "There is no evidence yet" })
		.waitFor();
});

test("an empty register has one button that adds a record", async () => {
	const page = await registers.open(registers.admin, "obligation");
	await page
		.getByRole("heading", { name: "There are no obligations yet" })
		.waitFor();
	const add = page.getByRole("link", { name: "New obligation" });
	await expect.poll(() => add.count()).toBe(1);
	await registers.add("addObligation", { requirement: "Report incidents" });
	await page.reload();
	await page.getByRole("table").waitFor();
	expect(await add.count()).toBe(1);
});
