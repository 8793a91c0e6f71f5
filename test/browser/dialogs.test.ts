import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestUser } from "../support/people.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { focused, pressEscape, typeInto } from "./settled.ts";

let served: TestConsole;
let admin: TestUser;
beforeAll(async () => {
	served = await startConsole({ ASSAY_SECRET: "x".repeat(40) });
	admin = await served.makePerson("admin");
});
afterAll(() => served.close());

const question = (page: Page) =>
	page.getByRole("dialog", { name: "Discard what you have entered?" });
const isGone = (element: Locator) => element.waitFor({ state: "detached" });

/** The ways to close a dialog that a person may use by accident. */
const WAYS: ((page: Page, dialog: Locator) => Promise<void>)[] = [
	(_page, dialog) => pressEscape(dialog),
	(page) => page.mouse.click(5, 400),
	(_page, dialog) => dialog.getByRole("button", { name: "Close" }).click(),
];

test("the dialog of a webhook asks before input is lost, and gives the focus back", async () => {
	const page = await served.openPageAs(
		admin,
		`/o/${served.organizationId}/settings/webhooks`,
	);
	const add = page.getByRole("button", { name: "Add a webhook" }).first();
	const dialog = page.getByRole("dialog", { name: "Add a webhook" });
	const url = dialog.getByRole("textbox", { name: "Address" });
	const event = dialog.getByRole("checkbox", { name: /has begun to fail/ });
	await add.click();
	for (const leave of WAYS) {
		await url.fill("https://example.com/hook");
		await leave(page, dialog);
		await question(page).waitFor();
		await focused(question(page).getByRole("button", { name: "Keep editing" }));
		await page.keyboard.press("Escape");
		await isGone(question(page));
		expect(await url.inputValue()).toBe("https://example.com/hook");
	}
	await url.focus();
	await page.keyboard.press("Escape");
	await focused(question(page).getByRole("button", { name: "Keep editing" }));
	await axe(page);
	await screenshot(page, "dialog-asks");
	await page.keyboard.press("Enter");
	await isGone(question(page));
	await focused(url);

	// Input that is taken back is no change.
	await url.fill("");
	await event.uncheck();
	await page.keyboard.press("Escape");
	await question(page).getByRole("button", { name: "Keep editing" }).click();
	await focused(event);
	await event.check();
	await page.keyboard.press("Escape");
	await isGone(dialog);

	for (const leave of WAYS) {
		await add.click();
		await focused(url);
		await leave(page, dialog);
		await isGone(dialog);
	}
	await add.click();
	await url.fill("https://example.com/hook");
	await dialog.getByRole("button", { name: "Cancel" }).click();
	await isGone(dialog);
	await add.click();
	await url.fill("https://example.com/hook");
	await page.keyboard.press("Escape");
	await question(page).getByRole("button", { name: "Discard it" }).click();
	await isGone(dialog);
	await focused(add);
});

test("a choice in the dialog of a channel counts as input, and a search for it does not", async () => {
	const page = await served.openPageAs(
		admin,
		`/o/${served.organizationId}/settings/notifications`,
	);
	const add = page.getByRole("button", { name: "Add a channel" });
	const dialog = page.getByRole("dialog", { name: "Add a channel" });
	const kind = dialog.getByRole("combobox", { name: "Kind" });
	await add.click();
	await kind.click();
	await typeInto(kind, "tea");
	await page.getByRole("option", { name: /Teams/ }).waitFor();
	await page.keyboard.press("Escape");
	await page.getByRole("option").first().waitFor({ state: "hidden" });
	await page.keyboard.press("Escape");
	await isGone(dialog);

	await add.click();
	await kind.click();
	await page.getByRole("option", { name: /Teams/ }).click();
	await page.keyboard.press("Escape");
	await question(page).waitFor();
	await axe(page);
	await question(page).getByRole("button", { name: "Discard it" }).click();
	await isGone(dialog);
});
