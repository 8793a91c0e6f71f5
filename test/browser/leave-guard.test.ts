import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axe, screenshot } from "./browser.ts";
import { fill } from "./form.ts";
import {
	heading,
	type SampleRegisters,
	startWithRisks,
} from "./sample-registers.ts";
import { focused, settled } from "./settled.ts";

let registers: SampleRegisters;
beforeAll(async () => {
	registers = await startWithRisks({ ASSAY_SECRET: "x".repeat(40) });
});
afterAll(() => registers.close());

const question = (page: Page) =>
	page.getByRole("dialog", { name: "Leave without saving?" });
const unfinished = (page: Page) =>
	page.getByRole("dialog", { name: "Leave before this is done?" });
const stay = (page: Page) => page.getByRole("button", { name: "Stay here" });
const leave = (page: Page) =>
	page.getByRole("button", { name: "Leave", exact: true });
const isGone = (element: Locator) => element.waitFor({ state: "detached" });
/**
 * Presses the Back button, and waits until the page has heard of it. Playwright's goBack waits for a
 * page that does not come.
 */
const goBack = (page: Page) =>
	page.evaluate(
		`new Promise((done) => {
			addEventListener("popstate", () => done(), { once: true });
			history.back();
		})`,
	);

/** Chooses a page in the search over everything. */
async function searchFor(page: Page, name: string): Promise<void> {
	await page.keyboard.press("Control+k");
	const search = page.getByRole("combobox", { name: "Search everything" });
	await search.fill(name);
	await page.getByRole("option", { name, exact: true }).first().waitFor();
	await search.press("Enter");
}

/** Tries to close the tab. Returns the kind of question that the browser asks. */
async function tryToClose(page: Page): Promise<string> {
	const asked = page.waitForEvent("dialog");
	await page.close({ runBeforeUnload: true });
	const dialog = await asked;
	await dialog.dismiss();
	return dialog.type();
}

/** Submits a form twice before the page can show that the first request runs. */
const submitTwice = (form: Locator) =>
	form.evaluate((one: unknown) => {
		const { requestSubmit } = one as { requestSubmit: () => void };
		requestSubmit.call(one);
		requestSubmit.call(one);
	});

/** Opens the dialog of a webhook, with another page of the settings before it in the history. */
async function openWebhook() {
	const settings = `/o/${registers.organizationId}/settings`;
	const page = await registers.openPageAs(
		registers.admin,
		`${settings}/notifications`,
	);
	await page.getByRole("link", { name: "Webhooks", exact: true }).click();
	await page.waitForURL(`**${settings}/webhooks`);
	await page.getByRole("button", { name: "Add a webhook" }).first().click();
	const dialog = page.getByRole("dialog", { name: "Add a webhook" });
	const address = dialog.getByRole("textbox", { name: "Address" });
	return { page, settings, dialog, address };
}

test("a dialog asks before its input is lost by Back, the search or closing the tab, and gives the focus back", async () => {
	const { page, settings, dialog, address } = await openWebhook();
	await address.fill("https://example.com/hook");
	await goBack(page);
	await question(page).waitFor();
	await focused(stay(page));
	await axe(page);
	await screenshot(page, "leave-dialog");
	// Back again during the question leaves neither this page nor the one before it.
	for (let times = 0; times < 2; times++) {
		await goBack(page);
		await page.waitForURL(`**${settings}/webhooks`);
	}
	await settled(page);
	await question(page).waitFor();
	await stay(page).click();
	await isGone(question(page));
	await focused(address);
	expect(await address.inputValue()).toBe("https://example.com/hook");

	await searchFor(page, "Risks");
	await question(page).waitFor();
	await focused(stay(page));
	await page.keyboard.press("Enter");
	await isGone(question(page));
	await focused(address);
	// Escape closes the search and nothing below it.
	await page.keyboard.press("Control+k");
	const search = page.getByRole("dialog", { name: "Search everything" });
	await focused(search.getByRole("combobox"));
	await page.keyboard.press("Escape");
	await isGone(search);
	await focused(address);
	await searchFor(page, "Risks");
	await question(page).waitFor();
	await page.keyboard.press("Escape");
	await isGone(question(page));
	await focused(address);
	expect(await page.getByRole("dialog").count()).toBe(1);

	expect(await tryToClose(page)).toBe("beforeunload");
	expect(await address.inputValue()).toBe("https://example.com/hook");

	await goBack(page);
	await leave(page).click();
	await page.waitForURL(`**${settings}/notifications`);
	await isGone(dialog);
	await page.goForward();
	await page.waitForURL(`**${settings}/webhooks`);

	// Without input there is nothing to ask.
	await page.getByRole("button", { name: "Add a webhook" }).first().click();
	await dialog.waitFor();
	await goBack(page);
	await page.waitForURL(`**${settings}/notifications`);
});

test("a dialog that is saving sends one request, stays open, and asks before the reader leaves", async () => {
	const { page, settings, dialog, address } = await openWebhook();
	const answers: ((isAccepted: boolean) => void)[] = [];
	await page.route("**/api/console/addWebhook", async (route) => {
		const isAccepted = await new Promise<boolean>((resolve) => {
			answers.push(resolve);
		});
		if (isAccepted) return route.continue();
		await route.fulfill({
			status: 403,
			json: { error: "forbidden", message: "not now" },
		});
	});
	await address.fill("https://example.com/hook");
	const save = () => submitTwice(dialog.locator("form"));
	await save();
	await expect.poll(() => answers.length).toBe(1);
	await page.keyboard.press("Escape");
	await goBack(page);
	await unfinished(page).waitFor();
	await axe(page);
	await goBack(page);
	await page.waitForURL(`**${settings}/webhooks`);
	// When the request has failed, the question is about the input.
	answers[0]?.(false);
	await question(page).waitFor();
	await stay(page).click();
	await focused(address);
	expect(await address.inputValue()).toBe("https://example.com/hook");
	await save();
	await expect.poll(() => answers.length).toBe(2);
	await goBack(page);
	await unfinished(page).waitFor();
	answers[1]?.(true);
	// The webhook is saved, and its secret is shown once.
	await isGone(unfinished(page));
	await page.getByRole("dialog", { name: "Copy the signing secret" }).waitFor();
	expect(answers.length).toBe(2);
	await page.waitForURL(`**${settings}/webhooks`);
});

test("a form asks on Back and on a second Back, and gives the focus back to the field", async () => {
	const page = await registers.open(registers.admin, "task");
	await page.getByRole("link", { name: "New task" }).first().click();
	await fill(page, "Name", { text: "Write it down" });
	const name = page.getByRole("textbox", { name: "Name" });
	await searchFor(page, "Risks");
	await question(page).waitFor();
	await focused(stay(page));
	await stay(page).click();
	await focused(name);
	await goBack(page);
	await question(page).waitFor();
	await goBack(page);
	await page.waitForURL("**/r/task/new");
	await page.keyboard.press("Escape");
	await isGone(question(page));
	await focused(name);
	expect(await name.inputValue()).toBe("Write it down");

	// A dialog of the form asks once for both.
	await page.getByRole("button", { name: "Create a person" }).first().click();
	const dialog = page.getByRole("dialog", { name: "Create a person" });
	const person = dialog.getByRole("textbox", { name: "Full name" });
	await person.fill("Joan Clarke");
	await goBack(page);
	await stay(page).click();
	await focused(person);
	await goBack(page);
	await leave(page).click();
	await page.waitForURL("**/r/task");
	expect(await page.getByRole("dialog").count()).toBe(0);
});

test("a form that is saving sends one request and asks before the reader leaves", async () => {
	const page = await registers.open(registers.admin, "task");
	await page.getByRole("link", { name: "New task" }).first().click();
	await fill(page, "Name", { text: "Saved once" });
	let send = () => {};
	let requests = 0;
	await page.route("**/api/console/addTask", async (route) => {
		requests += 1;
		await new Promise<void>((resolve) => {
			send = resolve;
		});
		await route.continue();
	});
	await submitTwice(
		page
			.locator("form")
			.filter({ has: page.getByRole("button", { name: "Add the task" }) }),
	);
	await expect.poll(() => requests).toBe(1);
	await goBack(page);
	await unfinished(page).waitFor();
	await screenshot(page, "leave-saving");
	send();
	await heading(page, "Saved once").waitFor();
	await isGone(unfinished(page));
	expect(requests).toBe(1);
	expect(await page.getByRole("dialog").count()).toBe(0);
});

test("a confirmed action asks on Back while it runs, and then leads on by itself", async () => {
	const { task } = await registers.add("addTask", { name: "Delete me" });
	const page = await registers.open(registers.admin, `task/${task.id}`);
	await page.getByRole("button", { name: "Actions" }).click();
	await page.getByRole("menuitem", { name: /^Delete/ }).click();
	let send = () => {};
	await page.route("**/api/console/deleteTask", async (route) => {
		await new Promise<void>((resolve) => {
			send = resolve;
		});
		await route.continue();
	});
	const sent = page.waitForRequest("**/api/console/deleteTask");
	await page.getByRole("button", { name: "Delete the task" }).click();
	await sent;
	await searchFor(page, "Risks");
	await unfinished(page).waitFor();
	send();
	await page.waitForURL("**/r/task");
	await isGone(unfinished(page));
});
