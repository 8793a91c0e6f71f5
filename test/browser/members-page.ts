import type { Page } from "playwright-core";
import type { TestConsole } from "./browser.ts";

/** Returns the path of the list of members, or of what `rest` names within it. */
export const membersPath = ({ organizationId }: TestConsole, rest = "") =>
	`/o/${organizationId}/settings/members${rest}`;

/** Chooses an item in the menu of this member. */
export async function choose(
	page: Page,
	name: string,
	item: string,
): Promise<void> {
	await page.getByRole("button", { name: `Actions for ${name}` }).click();
	await page.getByRole("menuitem", { name: item }).click();
}
