import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startConsole, type TestConsole } from "./browser.ts";
import { settled } from "./settled.ts";

let served: TestConsole;
/** The page of the first test. */
let used: Page;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

test("a test may store, change and begin anything in its page", async () => {
	used = await served.openPageAs(await served.makePerson("admin"), "/", {
		viewport: { width: 375, height: 667 },
		colorScheme: "dark",
	});
	await used.getByRole("heading", { name: "Home" }).waitFor();
	// A page whose requests are on their way is not emptied in place.
	await settled(used);
	await used.evaluate(`
		localStorage.setItem("left", "behind");
		sessionStorage.setItem("left", "behind");
		addEventListener("message", () => { document.title = "heard"; });
		setInterval(() => {
			document.title = "ticked";
			localStorage.setItem("left", "later");
		}, 1);
	`);
});

test("the page of an earlier test is like a new one", async () => {
	const page = await served.openPage();
	expect(page).toBe(used);
	await page.goto("/");
	await page.getByRole("heading", { name: "Sign in" }).waitFor();
	expect(page.viewportSize()).toEqual({ width: 1280, height: 800 });
	const left = await page.evaluate(`(async () => {
		postMessage("");
		await new Promise((done) => setTimeout(done, 20));
		return {
			local: localStorage.getItem("left"),
			session: sessionStorage.getItem("left"),
			title: document.title,
			isDark: matchMedia("(prefers-color-scheme: dark)").matches,
			movesLess: matchMedia("(prefers-reduced-motion: reduce)").matches,
		};
	})()`);
	expect(left).toEqual({
		local: null,
		session: null,
		title: "Sign in · Assay",
		isDark: false,
		movesLess: true,
	});
});
