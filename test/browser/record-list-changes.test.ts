import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axe, screenshot, visit } from "./browser.ts";
import {
	heading,
	names,
	type SampleRegisters,
	startWithRisks,
} from "./sample-registers.ts";
import { pressEscape } from "./settled.ts";

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
	const dialog = page.getByRole("dialog");
	const change = dialog.getByRole("button", { name: "Change", exact: true });
	const field = dialog.getByRole("combobox", { name: "Field" });
	const open = () => bar.getByRole("button", { name: "Change fields" }).click();
	const choose = async (control: Locator, option: string) => {
		await control.click();
		await page.getByRole("option", { name: option, exact: true }).click();
	};
	const dismiss = () => page.getByRole("button", { name: "Dismiss" }).click();
	await open();
	expect(await field.inputValue()).toBe("");
	expect(await change.isDisabled()).toBe(true);
	await choose(field, "Status");
	expect(await change.isDisabled()).toBe(true);
	await choose(dialog.getByRole("combobox", { name: "Status" }), "Implemented");
	// The same dialog takes further fields.
	await dialog.getByRole("button", { name: "Change another field" }).click();
	expect(await change.isDisabled()).toBe(true);
	await field.last().click();
	await page.getByRole("option", { name: "Owner", exact: true }).waitFor();
	expect(await page.getByRole("option", { name: "Status" }).count()).toBe(0);
	// The name tells one measure from the others, so it is not offered.
	expect(await page.getByRole("option", { name: "Name" }).count()).toBe(0);
	await page.getByRole("option", { name: "Owner", exact: true }).click();
	// To remove values is a choice of its own, not what an empty field means.
	expect(await change.isDisabled()).toBe(true);
	const owner = dialog.getByRole("combobox", { name: "Owner" });
	await dialog.getByLabel("Remove the value from the selected").check();
	await expect.poll(() => owner.count()).toBe(0);
	await expect.poll(() => change.isEnabled()).toBe(true);
	await dialog.getByLabel("Remove the value from the selected").uncheck();
	await owner.click();
	await page.getByRole("option", { name: /^Ada Lovelace/ }).click();
	await axe(page);
	await screenshot(page, "registers/change-fields");
	await change.click();
	await page.getByText("3 measures changed").waitFor();
	const cells = (name: string) => page.getByRole("cell", { name }).count();
	await expect.poll(() => cells("Implemented")).toBe(3);
	await expect.poll(() => cells("Ada Lovelace")).toBe(3);
	// The rows stay selected, and the change can be undone. What somebody else has changed since
	// then stays as it is and is named.
	await bar.getByText("3 selected").waitFor();
	await screenshot(page, "registers/undo");
	await axe(page);
	// The message covers no button of the bar, also where the bar is at the bottom of the screen. On a
	// phone, the bar has several lines.
	const screen = page.viewportSize();
	const undo = page.getByRole("button", { name: "Undo" });
	for (const size of [
		{ width: 1280, height: 420 },
		{ width: 390, height: 600 },
	]) {
		await page.setViewportSize(size);
		await expect
			.poll(async () => {
				const [message, below] = [
					await undo.boundingBox(),
					await bar.boundingBox(),
				];
				return message && below && below.y - (message.y + message.height);
			})
			.toBeGreaterThan(0);
	}
	await screenshot(page, "registers/undo-phone");
	if (screen) await page.setViewportSize(screen);
	await registers.use("updateMeasure", { id: guarded.id, description: "New" });
	await page.getByRole("button", { name: "Undo" }).click();
	await page.getByText("1 could not be undone").waitFor();
	await page.getByText("Guarded: It has changed in the meantime.").waitFor();
	await page.getByText("2 measures have their former values again").waitFor();
	await expect.poll(() => cells("Implemented")).toBe(1);
	await expect.poll(() => cells("Ada Lovelace")).toBe(1);
	await axe(page);
	await dismiss();
	await bar.getByRole("button", { name: "Clear selection" }).click();
	await expect.poll(() => bar.count()).toBe(0);

	// The category is free text, and the dialog suggests the values in use.
	await page.getByRole("checkbox", { name: "Select First" }).check();
	await page.getByRole("checkbox", { name: "Select Second" }).check();
	await open();
	await choose(field, "Category");
	await dialog.getByRole("combobox", { name: "Category" }).fill("Renamed");
	await change.click();
	await page.getByText("2 measures changed").waitFor();
	await dismiss();
	await expect.poll(names(page)).toEqual(["Guarded"]);
	await bar.getByText("2 selected, 2 not on this page").waitFor();
	await dialog.waitFor({ state: "detached" });
	await page.getByRole("combobox", { name: "Category" }).click();
	await page.getByRole("option", { name: "Renamed (2)" }).click();
	await expect.poll(async () => (await names(page)()).length).toBe(2);
	await page.getByRole("checkbox", { name: "Select all on this page" }).check();
	await open();
	await choose(field, "Category");
	await dialog.getByRole("combobox", { name: "Category" }).fill("Ol");
	await page.getByRole("option", { name: "Old", exact: true }).click();
	await change.click();
	await dialog.waitFor({ state: "detached" });
	await dismiss();
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
	await page.getByText("Status of “First” changed.").waitFor();
	await page.getByRole("button", { name: "Undo" }).click();
	await page
		.getByText("Status of “First” has its former value again.")
		.waitFor();
	await expect.poll(() => cells("In progress")).toBe(0);
	await page.getByRole("button", { name: "Change Status of First" }).click();
	await menu.getByRole("menuitemradio", { name: "In progress" }).click();
	// The menu closes a moment after the list shows the value. It would close the next one too.
	await page.getByRole("cell", { name: "In progress" }).waitFor();
	await expect.poll(() => menu.count()).toBe(0);
	// A click on the value does the same as one on the button.
	await page
		.getByRole("cell", { name: "In progress" })
		.getByText("In pr")
		.click();
	await menu.and(page.locator(":focus-within")).waitFor();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("ArrowDown");
	await pressEscape(menu);
	await expect.poll(() => menu.count()).toBe(0);
	await page.getByRole("button", { name: "Change Owner of First" }).click();
	await page.getByRole("option", { name: /^Ada Lovelace/ }).click();
	// Another row has the same owner.
	await page
		.getByRole("cell", { name: "Ada Lovelace Change Owner of First" })
		.waitFor();
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
	await expect.poll(names(page)).toEqual(["Guarded", "Second"]);
	// A single record is named, so that nobody deletes another one.
	await bar.getByRole("button", { name: "Delete" }).click();
	const one = page.getByRole("dialog", { name: "Delete “Guarded”?" });
	await one.getByRole("button", { name: "Delete the measure" }).waitFor();
	await pressEscape(one);
	await one.waitFor({ state: "detached" });
	await bar.getByRole("button", { name: "Archive" }).click();
	const old = page.getByRole("dialog", { name: "Archive “Guarded”?" });
	await old.getByRole("button", { name: "Archive the measure" }).waitFor();
	await pressEscape(old);
	await old.waitFor({ state: "detached" });
	// Another filter shows other records, so that nothing stays selected.
	await page.getByRole("button", { name: "Clear filters" }).click();
	await expect.poll(async () => (await names(page)()).length).toBe(3);
	expect(await bar.count()).toBe(0);

	// The form suggests the values that the register uses.
	await visit(page, page.url().replace(/measure.*/, "measure/new"));
	await page.getByRole("combobox", { name: "Category" }).click();
	await page.getByRole("option", { name: "New", exact: true }).click();
	await expect
		.poll(() => page.getByRole("combobox", { name: "Category" }).inputValue())
		.toBe("New");
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
