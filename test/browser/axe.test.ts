import { afterAll, beforeAll, expect, test } from "vitest";
import { axe, startConsole, type TestConsole } from "./browser.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

test.each([
	["a fixed distance of letters", "letter-spacing: 0 !important"],
	["a low contrast", "color: #999; background: #aaa"],
])("axe names an element with %s by its HTML", async (_, style) => {
	const page = await served.openPage();
	await page.goto("/");
	await page.getByRole("heading", { level: 1 }).waitFor();
	await axe(page);
	await page.evaluate(
		`{ const faulty = document.createElement("p");
		faulty.style.cssText = ${JSON.stringify(style)};
		faulty.textContent = "A faulty text";
		document.querySelector("main").append(faulty); }`,
	);
	const failure = await axe(page).catch((error) => error);
	expect(JSON.stringify(failure.actual)).toMatch(/<p style=.*A faulty text/);
});
