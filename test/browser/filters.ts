import type { Page } from "playwright-core";
import { expect } from "vitest";

/** A phone, half of a screen, and a screen of usual size. */
export const WIDTHS = [390, 900, 1440];

/** Expects that the filters of the list show their whole value or label, at each of the widths. */
export async function expectWholeFilters(
	page: Page,
	widths = WIDTHS,
): Promise<void> {
	for (const width of widths) {
		await page.setViewportSize({ width, height: 900 });
		const folded = page.getByRole("button", { name: /^Filters/ });
		if (width < 600) {
			await folded.waitFor();
			// The filters of the page before may still be open.
			if ((await folded.getAttribute("aria-expanded")) === "false") {
				await folded.click();
			}
		} else await folded.waitFor({ state: "hidden" });
		await expect
			.poll(() => page.evaluate(CUT), {
				message: `${page.url()} at ${width} px`,
			})
			.toEqual([]);
	}
}

/**
 * This code runs in the page. It returns the texts of filters that are wider than the room for
 * them. A copy of the field without width tells how wide its text is. A day has a form that the
 * browser draws.
 */
const CUT = `[...document.querySelectorAll("[role=search] input")]
	.filter(({ offsetParent, type }) => offsetParent && /^(text|search)$/.test(type))
	.flatMap((input) => {
		const copy = input.cloneNode();
		copy.value = input.value || input.placeholder;
		Object.assign(copy.style, {
			position: "absolute", width: 0, minWidth: 0, padding: 0, border: 0, fieldSizing: "fixed",
		});
		input.after(copy);
		const width = copy.scrollWidth;
		copy.remove();
		const { paddingLeft, paddingRight } = getComputedStyle(input);
		const { left, right } = input.getBoundingClientRect();
		const signs = input.parentElement.querySelector("[data-position=right]");
		const end = Math.min(
			right - parseFloat(paddingRight),
			signs?.getBoundingClientRect().left ?? right,
		);
		const room = end - left - parseFloat(paddingLeft);
		return width > room + 1 ? [copy.value + ": " + width + " px in " + room] : [];
	})`;
