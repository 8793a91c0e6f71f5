import type { Locator, Page } from "playwright-core";

/** How a field is filled: typed, chosen from a list, picked by searching, or a step of a scale. */
export type Given =
	| { text: string }
	| { choose: string }
	| { pick: string }
	| { step: string };

/** Fills the control with this label, as a person does. */
export async function fill(
	page: Page,
	label: string,
	given: Given,
): Promise<void> {
	if ("step" in given) {
		await page
			.getByRole("radiogroup", { name: label })
			.getByRole("radio", { name: given.step })
			.check();
		return;
	}
	const field = control(page, label);
	if ("text" in given) {
		await field.fill(given.text);
		return;
	}
	await field.click();
	const wanted = "pick" in given ? given.pick : given.choose;
	if ("pick" in given) await field.fill(wanted);
	await page.getByRole("option", { name: wanted, exact: true }).click();
	await field.press("Tab");
}

/** What is said to be wrong with the field, to everybody who reaches it. */
export async function messageBeside(
	page: Page,
	label: string,
): Promise<string | null> {
	const group = page.getByRole("radiogroup", { name: label, exact: true });
	const field = (await group.count()) > 0 ? group : control(page, label);
	const ids = (await field.getAttribute("aria-describedby"))?.split(" ") ?? [];
	const error = ids.find((id) => id.endsWith("-error"));
	return error ? page.locator(`[id="${error}"]`).innerText() : null;
}

/** The stars of what is required are not part of a control's name. */
function control(page: Page, label: string): Locator {
	const main = page.getByRole("main");
	return main
		.getByRole("textbox", { name: label, exact: true })
		.or(main.getByRole("combobox", { name: label, exact: true }))
		.or(main.getByLabel(label, { exact: true }))
		.first();
}
