import { afterAll, beforeAll, expect, test } from "vitest";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { aRisk, openHome } from "./home-page.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

test("an empty organization shows the first steps, which are ticked automatically and can be hidden", async () => {
	const { page, use } = await openHome(served, "admin");
	await page.getByRole("heading", { name: "First steps" }).waitFor();
	const done = page.getByRole("img", { name: "Done" });
	const todo = page.getByRole("img", { name: "To do" });
	await todo.nth(3).waitFor();
	await screenshot(page, "first-steps");
	await axe(page);

	await use("addRisk", aRisk(3, 5));
	await use("inviteMember", { email: "c@example.com", role: "viewer" });
	await page.reload();
	await done.nth(1).waitFor();
	await expect.poll(() => todo.count()).toBe(2);
	await page.getByRole("link", { name: /^Install:/ }).click();
	await page.waitForURL("**/first-steps?step=DEVICE");
	await page.goBack();
	await page.getByRole("button", { name: "Hide" }).click();
	await page.getByText("First steps").waitFor({ state: "hidden" });
	await page.reload();
	await page.getByRole("heading", { name: "Fleet posture" }).waitFor();
	expect(await page.getByText("First steps").count()).toBe(0);
	// There is a risk, so the sections of the page say what to do.
	expect(await page.getByText("What comes next").count()).toBe(0);
});

test("an empty organization whose first steps are over says what comes next, until the reader hides it", async () => {
	const { page } = await openHome(served, "admin");
	const first = page.getByRole("region", { name: "First steps" });
	await first.getByRole("button", { name: "Hide" }).click();
	const next = page.getByRole("region", { name: "What comes next" });
	await next.getByText("Bring what you have").waitFor();
	await page.reload();
	await next.getByRole("link", { name: "Enroll a device" }).waitFor();
	await axe(page);
	await screenshot(page, "next-steps");
	for (const [name, path] of [
		["Choose a framework", "**/first-steps?step=RECORDS"],
		["Add a risk", "**/r/risk/new"],
		["Import assets", "**/r/asset/import"],
		["Enroll a device", "**/first-steps?step=DEVICE"],
	] as const) {
		await next.getByRole("link", { name }).click();
		await page.waitForURL(path);
		await page.goBack();
		await next.waitFor();
	}
	await next.getByRole("button", { name: "Hide" }).click();
	await next.waitFor({ state: "hidden" });
	await page.reload();
	await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
	expect(await page.getByText("What comes next").count()).toBe(0);
});

test("an empty section of the page takes one line", async () => {
	const { page } = await openHome(served, "admin", {
		prepare: (use) => use("addRisk", aRisk(3, 5)),
	});
	for (const [name, words] of [
		["Mine", "Nobody in the register People has your e-mail address"],
		["Began to fail since yesterday", "No check of an online device."],
		["Open work", "No nonconformities, tasks, obligations"],
		["Failing longest", "Failing checks of online devices are listed here."],
		["Coverage", "Add a framework and its controls"],
		["Fleet posture", "No device is enrolled. Enroll a device"],
	] as const) {
		const section = page.getByRole("region", { name });
		await section.getByText(words).waitFor();
		expect((await section.boundingBox())?.height, name).toBeLessThan(70);
	}
	await axe(page);
	await screenshot(page, "home-empty");
});

test("a viewer of an empty organization is told that nothing is there yet", async () => {
	const { page } = await openHome(served, "viewer");
	await page.getByRole("heading", { name: "Nothing is here yet" }).waitFor();
	await axe(page);
});
