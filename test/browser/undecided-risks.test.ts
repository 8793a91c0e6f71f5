import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callByName } from "../support/call-by-name.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { openHome } from "./home-page.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

/** Opens the list of two suggested risks that nobody has decided about. */
async function openRisks(): Promise<Page> {
	const { page } = await openHome(served, "member", {
		path: "/r/risk",
		prepare: (use) =>
			use("addStarters", { risks: ["phishing", "stolen-device"] }),
	});
	await undecided(page).first().waitFor();
	return page;
}

const undecided = (page: Page) =>
	page.getByRole("cell", { name: /^Assay suggested.*Not decided/ });

const undo = (page: Page) => page.getByRole("button", { name: "Undo" }).click();

test("the form asks for no treatment of a suggested risk, and the history says when somebody gave one", async () => {
	const page = await openRisks();
	await page.getByRole("link", { name: /^Somebody gives/ }).click();
	const edit = async () => {
		await page.getByRole("link", { name: "Edit" }).click();
		await page.getByRole("button", { name: "Save the changes" }).waitFor();
	};
	const save = () =>
		page.getByRole("button", { name: "Save the changes" }).click();
	const treatment = page.getByRole("combobox", { name: "Treatment" });
	const note = page.getByRole("textbox", { name: "Note" });
	await edit();
	await expect.poll(() => treatment.inputValue()).toBe("Not decided");
	expect(await note.inputValue()).toBe("");
	await note.fill("Ask Ada.");
	await axe(page);
	await screenshot(page, "undecided/form");
	await save();
	await page.getByText("Ask Ada.").waitFor();
	await page.getByText("Not decided", { exact: true }).waitFor();
	expect(await page.getByText("Delete this note").count()).toBe(0);

	await edit();
	await expect.poll(() => note.inputValue()).toBe("Ask Ada.");
	await treatment.click();
	await page.getByRole("option", { name: "Mitigated" }).click();
	await save();
	await page.getByText("Mitigated", { exact: true }).waitFor();
	await page.getByText("Ask Ada.").waitFor();
	await edit();
	await treatment.click();
	await page.getByRole("option", { name: "Accepted" }).waitFor();
	expect(await page.getByRole("option", { name: "Not decided" }).count()).toBe(
		0,
	);
	await page.keyboard.press("Escape");
	await page.getByRole("button", { name: "Cancel" }).click();

	await page.getByRole("tab", { name: "History" }).click();
	const history = page.getByRole("tabpanel");
	await history.getByText("Changed", { exact: true }).first().waitFor();
	const entries = (await history.locator(".mantine-Timeline-item").all()).map(
		(entry) => entry.innerText(),
	);
	const [decided, noted, added] = await Promise.all(entries);
	expect(decided).toMatch(/Treatment\s+Not decided\s+Mitigated/);
	expect(decided).not.toContain("Note");
	expect(noted).toMatch(/Note\s+–\s+Ask Ada\./);
	expect(noted).not.toContain("Treatment");
	expect(added).toMatch(/Treatment\s+Not decided/);
	expect(await history.innerText()).not.toContain("Suggested by Assay");
	await screenshot(page, "undecided/history");
});

test("a treatment in the list decides, also the stored one, and Undo makes the risk undecided again", async () => {
	const page = await openRisks();
	const change = { name: /^Change Treatment of Somebody gives/ };
	await page.getByRole("button", change).click();
	const menu = page.getByRole("menu", change);
	expect(await menu.getByRole("menuitemradio", { checked: true }).count()).toBe(
		0,
	);
	await axe(page);
	await menu.getByRole("menuitemradio", { name: "Mitigated" }).click();
	await page.getByRole("cell", { name: /^Mitigated/ }).waitFor();
	await expect.poll(() => undecided(page).count()).toBe(1);
	await undo(page);
	// The message goes after five seconds.
	await page.getByText("has its former value again").waitFor();
	await expect.poll(() => undecided(page).count()).toBe(2);
});

test("the list of the audit log names the same field of a decision as the opened entry", async () => {
	const { page, organization } = await openHome(served, "admin", {
		path: "/r/risk",
		prepare: (use) => use("addStarters", { risks: ["phishing"] }),
	});
	const change = { name: /^Change Treatment of Somebody gives/ };
	await page.getByRole("button", change).click();
	await page.getByRole("menuitemradio", { name: "Mitigated" }).click();
	await page.getByRole("cell", { name: /^Mitigated/ }).waitFor();
	await visit(page, `/o/${organization}/settings/audit-log`);
	await page.getByRole("heading", { name: "Audit log", level: 1 }).waitFor();
	const row = page.getByRole("row").nth(1);
	await row.getByText(/^Somebody gives/).waitFor();
	const fields = row.locator("td[data-label=Fields]");
	await expect.poll(() => fields.innerText()).toBe("Treatment");
	await row.getByRole("button").click();
	const entry = page
		.getByRole("dialog")
		.getByRole("region", { name: "Changes" });
	await entry.getByText("Not decided").waitFor();
	expect(await entry.getByRole("rowheader").allInnerTexts()).toEqual([
		"Treatment",
	]);
});

test("Undo of a change of several fields covers every field that it changed", async () => {
	const page = await openRisks();
	const category = async () =>
		(await page.locator("td[data-label=Category]").allInnerTexts()).sort();
	const before = await category();
	await page.getByRole("checkbox", { name: "Select all on this page" }).check();
	const bar = page.getByRole("region", { name: "Selected rows" });
	await bar.getByRole("button", { name: "Change fields …" }).click();
	const dialog = page.getByRole("dialog", { name: "Change 2 risks" });
	const field = dialog.getByRole("combobox", { name: "Field" });
	const add = async (name: string) => {
		await field.last().click();
		await page.getByRole("option", { name, exact: true }).click();
	};
	await add("Treatment");
	await dialog.getByRole("combobox", { name: "Treatment" }).click();
	await page.getByRole("option", { name: "Mitigated" }).click();
	await dialog.getByRole("button", { name: "Change another field" }).click();
	await add("Category");
	await dialog.getByRole("combobox", { name: "Category" }).fill("Staff");
	await dialog.getByRole("button", { name: "Change", exact: true }).click();
	await page.getByText("2 risks changed").waitFor();
	await expect.poll(category).toEqual(["Staff", "Staff"]);
	await expect.poll(() => undecided(page).count()).toBe(0);
	await undo(page);
	await page.getByText("2 risks have their former values again").waitFor();
	await expect.poll(category).toEqual(before);
	await expect.poll(() => undecided(page).count()).toBe(2);
});

test("the statement of applicability marks undecided risks, and leads to them before an approval", async () => {
	const { page } = await openHome(served, "member", {
		path: "/reports/statement-of-applicability",
		prepare: async (_, organization_id, person) => {
			const use = (operation: string, input: object) =>
				callByName(served.database, person, operation, {
					organization_id,
					...input,
				});
			await use("addStarters", { risks: ["phishing", "stolen-device"] });
			const { risks } = await use("listRisks", {});
			const { framework } = await use("addFramework", { name: "House rules" });
			await use("addControl", {
				...{ framework_id: framework.id, section_title: "A", name: "Locks" },
				linked_record_ids: [risks[0].id],
			});
		},
	});
	await page
		.getByRole("cell", { name: /^Risks: .* \(not decided\)$/ })
		.waitFor();
	const title =
		"1 control is justified only by risks that nobody has decided about.";
	const approval = page.getByRole("region", { name: "Approval" });
	await approval.getByText(title).waitFor();
	await axe(page);
	await screenshot(page, "undecided/statement");
	await page.getByRole("button", { name: "Approve …" }).click();
	const dialog = page.getByRole("dialog", { name: "Approve the statement" });
	await dialog.getByText(title).waitFor();
	await dialog
		.getByRole("link", { name: "Decide about the suggested risks" })
		.click();
	await undecided(page).first().waitFor();
});
