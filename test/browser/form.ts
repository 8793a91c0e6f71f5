import type { Locator, Page } from "playwright-core";

/**
 * How to fill a field: type a text, type a tag, choose an option, pick one by searching, or select
 * a step of a scale.
 */
export type Given =
	| { text: string }
	| { tag: string }
	| { choose: string }
	| { pick: string }
	| { step: string };

/** Fills in the control with this label, as a user does. */
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
	if ("tag" in given) {
		await field.fill(given.tag);
		await field.press("Enter");
		return;
	}
	await field.click();
	const wanted = "pick" in given ? given.pick : given.choose;
	if ("pick" in given) await field.fill(wanted);
	// The option of a person also contains the e-mail address, so its name is not matched exactly.
	const exact = "choose" in given;
	await page.getByRole("option", { name: wanted, exact }).click();
	await field.press("Tab");
}

/** Returns the error that describes the field, as screen readers read it. */
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

/** Finds the control by its label. The star of a required field is not part of the label. */
function control(page: Page, label: string): Locator {
	const main = page.getByRole("main");
	return main
		.getByRole("textbox", { name: label, exact: true })
		.or(main.getByRole("combobox", { name: label, exact: true }))
		.or(main.getByLabel(label, { exact: true }))
		.first();
}
