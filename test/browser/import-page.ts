import type { Page } from "playwright-core";

/** Chooses a CSV file with this text on the page that imports a register. */
export async function choose(page: Page, name: string, text: string | Buffer) {
	await page.getByRole("heading", { level: 1 }).waitFor();
	await page.locator("input[type=file]").setInputFiles({
		name,
		mimeType: "text/csv",
		buffer: Buffer.from(text as string),
	});
}

export const preview = (page: Page) =>
	page.getByRole("region", { name: "Preview" });
