import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { aRisk, openHome } from "./home-page.ts";
import { names } from "./sample-registers.ts";

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
	await page
		.getByRole("region", { name: "First steps" })
		.getByRole("button", { name: "Hide" })
		.click();
	await page.getByText("First steps").waitFor({ state: "hidden" });
	await page.reload();
	await page.getByRole("heading", { name: "Fleet posture" }).waitFor();
	expect(await page.getByText("First steps").count()).toBe(0);
	// There is a risk, so the page says what waits and no longer how to begin.
	await page.getByRole("link", { name: "1 risk without an owner" }).waitFor();
	expect(await page.getByText("Bring what you have").count()).toBe(0);
});

test("a young organization with starter records says which of them wait, and links to exactly these", async () => {
	const { page, use } = await openHome(served, "admin", {
		prepare: async (use) => {
			await use("addStarters", {
				framework: "nis-2",
				measures: ["mfa"],
				risks: ["phishing", "stolen-device", "ransomware"],
			});
			await use("addRisk", aRisk(3, 5));
		},
	});
	const next = page.getByRole("region", { name: "What comes next" });
	await next
		.getByRole("link", { name: /^\d+ controls that no measure/ })
		.waitFor();
	// The list above names them.
	expect(await next.getByText("No device is enrolled").count()).toBe(0);
	await axe(page);
	await screenshot(page, "gaps");
	for (const [name, path] of [
		["3 suggested risks that nobody has decided about", "/r/risk?"],
		["4 risks without an owner", "/r/risk?"],
		["1 measure without an owner", "/r/measure?"],
	] as const) {
		await next.getByRole("link", { name }).click();
		await page.waitForURL(`**${path}**`);
		const [count] = name.split(" ");
		await expect
			.poll(() => page.getByRole("row").count())
			.toBe(Number(count) + 1);
		await page.goBack();
		await next.waitFor();
	}
	await next.getByRole("link", { name: "3 suggested risks" }).click();
	const treatment = page.getByRole("combobox", { name: "Treatment" });
	await expect.poll(() => treatment.inputValue()).toBe("Not decided");
	// Nobody has decided about them, so neither the list nor the page calls them mitigated.
	const cells = page.getByRole("cell", { name: /^Assay suggested/ });
	await expect
		.poll(() => cells.allInnerTexts())
		.toEqual(["Not decided", "Not decided", "Not decided"]);
	await page.getByRole("link", { name: /^Somebody gives their/ }).click();
	await page.getByRole("heading", { name: /^Somebody gives/ }).waitFor();
	await page.getByText("Not decided", { exact: true }).waitFor();
	expect(await page.getByText("Mitigated", { exact: true }).count()).toBe(0);
	expect(await page.getByText("Delete this note").count()).toBe(0);
	await page.getByRole("button", { name: "Mark as decided …" }).click();
	await page
		.getByRole("radiogroup", { name: "Residual likelihood" })
		.getByRole("radio", { name: "1" })
		.check();
	await page
		.getByText(/^“Somebody gives.*” then no longer counts as “Not decided”\.$/)
		.waitFor();
	await decide(page, "Mark 1 risk as decided", "Mitigated");
	await page.getByText("1 risk marked as decided").waitFor();
	// Somebody has decided, and the scores fit the treatment.
	await page.getByText("Please check").waitFor({ state: "hidden" });
	await page.getByText("Mitigated", { exact: true }).waitFor();
	await page.getByRole("button", { name: "Undo" }).click();
	await page.getByText("Not decided", { exact: true }).waitFor();

	// The list has those that are left, and several of them at once.
	const up = page.getByRole("navigation", { name: "Where you are" });
	await up.getByRole("link", { name: "Risks" }).click();
	for (const name of [/Somebody gives/, /stolen/]) {
		await page.getByRole("checkbox", { name }).check();
	}
	await page
		.getByRole("region", { name: "Selected rows" })
		.getByRole("button", { name: "Mark as decided …" })
		.click();
	await page
		.getByText(/^They then no longer count as “Not decided”\./)
		.waitFor();
	await decide(page, "Mark 2 risks as decided", "Accepted");
	await page.getByText("2 risks marked as decided").waitFor();
	await expect.poll(() => cells.allInnerTexts()).toEqual(["Not decided"]);
	await treatment.click();
	await page.getByRole("option", { name: "Mitigated" }).click();
	// The one that is left is stored as mitigated, but nobody has decided that.
	await expect.poll(names(page)).toEqual(["Risk 3 × 5"]);
	await page.getByRole("link", { name: "Home" }).first().click();
	await next.getByRole("link", { name: "1 suggested risk that" }).waitFor();

	await page
		.getByRole("region", { name: "First steps" })
		.getByRole("button", { name: "Hide" })
		.click();
	await next.getByRole("link", { name: "No device is enrolled" }).waitFor();
	await next
		.getByRole("link", { name: "Nobody else is a member or invited" })
		.waitFor();
	await use("inviteMember", { email: "c@example.com", role: "viewer" });
	await page.reload();
	await next.getByRole("link", { name: "No device is enrolled" }).waitFor();
	expect(await next.getByText("Nobody else").count()).toBe(0);
	await next.getByRole("button", { name: "Hide" }).click();
	await next.waitFor({ state: "hidden" });
});

/** Answers the dialog that marks suggested risks as decided. */
async function decide(
	page: Page,
	title: string,
	treatment: string,
): Promise<void> {
	const dialog = page.getByRole("dialog", { name: title });
	const button = dialog.getByRole("button", { name: "Mark as decided" });
	await button.click();
	await dialog.getByText("Choose a treatment.").waitFor();
	const field = dialog.getByRole("combobox", { name: "Treatment" });
	await dialog.locator("input:focus[data-path=treatment]").waitFor();
	await axe(page);
	await screenshot(page, "decide-without-treatment");
	await field.click();
	await page.getByRole("option", { name: treatment }).click();
	await axe(page);
	await button.click();
	await dialog.waitFor({ state: "detached" });
}

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
