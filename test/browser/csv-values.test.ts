import { afterAll, beforeAll, expect, test } from "vitest";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { choose, preview } from "./import-page.ts";

let served: TestConsole;
let admin: TestUser;
beforeAll(async () => {
	served = await startConsole();
	admin = await served.makePerson("admin");
});
afterAll(() => served.close());

const at = (path: string) => `/o/${served.organizationId}/${path}`;

async function taskStates() {
	const { tasks } = await callByName(served.database, admin, "listTasks", {
		organization_id: served.organizationId,
		order_by: { field: "name" },
	});
	return tasks.map(
		({ name, state }: { name: string; state: string }) => `${name}: ${state}`,
	);
}

test("the import asks once what each unknown value means, and imports the file by the answers", async () => {
	const page = await served.openPageAs(admin, at("r/task/import"));
	await choose(
		page,
		"tasks.csv",
		"Title,Status,Priority\r\nBackups,In progress,high\r\nLocks,Doing,High\r\nKeys, doing ,High\r\nOld,Dropped,n/a\r\nNew,n/a,Low\r\n",
	);
	const values = page.getByRole("region", { name: "Values without a meaning" });
	await values.getByText("4 values are not choices of their fields").waitFor();
	await values
		.getByText(/“Leave empty” gives .* does not change an existing one\.$/)
		.waitFor();
	await preview(page)
		.getByText(
			"5 lines: 1 to add, 0 to change, 0 unchanged, 0 wrong, 4 waiting for your choice above.",
		)
		.waitFor();
	// The lines that wait for an answer are not listed one by one.
	const lines = preview(page).locator("tbody tr");
	expect(await lines.count()).toBe(1);
	await page.getByRole("button", { name: "All checked lines (1)" }).waitFor();
	expect(await preview(page).getByText("must be one of").count()).toBe(0);
	await page.getByText("First choose above what each value means.").waitFor();
	await axe(page);
	await screenshot(page, "import-values");

	const answer = async (label: string, option: string) => {
		await values.getByRole("combobox", { name: label }).click();
		await page.getByRole("option", { name: option, exact: true }).click();
	};
	await answer("“Doing” in Status (2 lines)", "In progress");
	await answer("“n/a” in Status (1 line)", "Leave empty");
	await answer("“n/a” in Priority (1 line)", "Leave empty");
	await answer("“Dropped” in Status (1 line)", "Skip this line");
	await preview(page)
		.getByText(
			"5 lines: 4 to add, 0 to change, 0 unchanged, 1 to skip, 0 wrong.",
		)
		.waitFor();
	await axe(page);
	await page.getByRole("button", { name: "Import 4 tasks" }).click();
	await page
		.getByText("4 tasks added, 1 line skipped because of a value.")
		.waitFor();
	expect(await taskStates()).toEqual([
		"Backups: IN_PROGRESS",
		"Keys: IN_PROGRESS",
		"Locks: IN_PROGRESS",
		"New: TODO",
	]);
});

test("the import of risks reads the labels of scores and asks what other words mean", async () => {
	const page = await served.openPageAs(admin, at("r/risk/import"));
	await choose(
		page,
		"risks.csv",
		"Name,Category,Treatment,Inherent likelihood,Inherent impact,Residual impact\r\nFire,Site,Accepted,2 Unlikely,Severe,\r\nFlood,Site,Accepted,Seldom,4 Major,n/a\r\n",
	);
	const asked = page.getByRole("combobox", {
		name: "“Seldom” in Inherent likelihood (1 line)",
	});
	await asked.click();
	await page.getByRole("option", { name: "2 Unlikely", exact: true }).click();
	await page.getByText("A required field cannot be left empty.").waitFor();
	await page
		.getByRole("combobox", { name: "“n/a” in Residual impact (1 line)" })
		.click();
	await page.getByRole("option", { name: "Leave empty" }).click();
	await page.getByRole("button", { name: "Import 2 risks" }).click();
	await page.getByText("2 risks added.").waitFor();
	const { risks } = await callByName(served.database, admin, "listRisks", {
		organization_id: served.organizationId,
		order_by: { field: "name" },
	});
	expect(risks).toMatchObject([
		{ name: "Fire", inherent_likelihood: 2, inherent_impact: 5 },
		{ name: "Flood", inherent_likelihood: 2, inherent_impact: 4 },
	]);
});

test("the import asks whether the day or the month comes first, and shows what other dates say", async () => {
	const page = await served.openPageAs(admin, at("r/people/import"));
	await choose(
		page,
		"people.csv",
		"Full name,Email,Kind,Contract start date,Contract end date\r\nAda,ada.dated@example.com,Employee,31/01/2026,03/04/2027\r\nBob,bob.dated@example.com,Employee,01/02/2026,01/02/2028\r\n",
	);
	const asked = page.getByRole("region", { name: "Order of dates" });
	await asked.getByText("Does the day or the month come first?").waitFor();
	const start = asked.getByRole("combobox", {
		name: "“01/02/2026” in Contract start date (1 line)",
	});
	const readAs = "Day first: 1 Feb 2026";
	await expect.poll(() => start.inputValue()).toBe(readAs);
	await preview(page)
		.getByText(
			"2 lines: 0 to add, 0 to change, 0 unchanged, 0 wrong, 2 waiting for your choice above.",
		)
		.waitFor();
	await page
		.getByText("First choose above whether the day or the month comes first.")
		.waitFor();
	await axe(page);
	await screenshot(page, "import-date-orders");
	await asked
		.getByRole("combobox", {
			name: "“03/04/2027” in Contract end date (2 lines)",
		})
		.click();
	await page
		.getByRole("option", { name: "Month first: 4 Mar 2027", exact: true })
		.click();
	await asked.getByText("How dates are read").waitFor();
	await page.getByRole("button", { name: "Import 2 people" }).click();
	await page.getByText("2 people added.").waitFor();
	const { people } = await callByName(served.database, admin, "listPeople", {
		organization_id: served.organizationId,
		filter: { query: "dated@example.com" },
		order_by: { field: "full_name" },
		detail: "full",
	});
	expect(people).toMatchObject([
		{ contract_start_date: "2026-01-31", contract_end_date: "2027-03-04" },
		{ contract_start_date: "2026-02-01", contract_end_date: "2028-01-02" },
	]);
});

test("a required choice cannot be left empty", async () => {
	const page = await served.openPageAs(admin, at("r/datum/import"));
	await choose(page, "d.csv", "name,classification\r\nPayroll,Hidden\r\n");
	await page
		.getByRole("combobox", { name: "“Hidden” in classification (1 line)" })
		.click();
	await page.getByRole("option", { name: "Skip this line" }).waitFor();
	expect(await page.getByRole("option", { name: "Leave empty" }).count()).toBe(
		0,
	);
	const words = page.getByText("Choose what each value means, or skip its");
	expect(await words.innerText()).toBe(
		"Choose what each value means, or skip its lines.",
	);
});

test("a column that is read by another word can get another field", async () => {
	const page = await served.openPageAs(admin, at("r/measure/import"), {
		viewport: { width: 390, height: 800 },
		colorScheme: "dark",
	});
	await choose(page, "m.csv", "Title,Category,Details\r\nLocks,Doors,Odd\r\n");
	await preview(page)
		.getByText(
			"These columns were matched by meaning: “Title” is Name, “Details” is Description.",
		)
		.waitFor();
	await page.getByRole("button", { name: "Choose other fields" }).click();
	await page.getByRole("combobox", { name: "Details" }).click();
	await page.getByRole("option", { name: "Skip this column" }).click();
	const confirm = page.getByRole("button", { name: "Import 1 measure" });
	await expect.poll(() => confirm.isEnabled()).toBe(true);
	const width = await page.evaluate("document.documentElement.scrollWidth");
	expect(width).toBeLessThanOrEqual(390);
	await axe(page);
	await screenshot(page, "import-guessed-390-dark");
	await confirm.click();
	await page.getByText("1 measure added.").waitFor();
	const { measures } = await callByName(
		served.database,
		admin,
		"listMeasures",
		{ organization_id: served.organizationId },
	);
	expect(measures).toMatchObject([{ name: "Locks", description: null }]);
});
