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

const inOrganization = (name: string, input: object = {}) =>
	callByName(served.database, admin, name, {
		organization_id: served.organizationId,
		...input,
	});

const at = (path: string) => `/o/${served.organizationId}/${path}`;

test("the preview names columns by the labels of their fields, also columns that the file lacks", async () => {
	const page = await served.openPageAs(admin, at("r/risk/import"));
	await choose(
		page,
		"risks.csv",
		"name,treatment,owner,created_at\r\nFlood,AVOIDED,nobody@example.com,\r\n",
	);
	const line = preview(page).locator("tbody tr");
	for (const label of ["Owner", "Category", "Inherent likelihood"]) {
		await line.getByText(label, { exact: true }).waitFor();
	}
	await preview(page)
		.getByText(/sets their values: Created at\.$/)
		.waitFor();
	expect(await preview(page).innerText()).not.toMatch(/[a-z]_[a-z]/);
	await screenshot(page, "import-labels");
});

test("the preview names the record that has a line's name, and an import may leave such lines out", async () => {
	const { vendor } = await inOrganization("addVendor", { name: "Zendesk" });
	const page = await served.openPageAs(admin, at("r/vendor/import"));
	await choose(page, "v.csv", "name\r\nMiro\r\nZENDESK\r\nIntercom\r\n");
	await preview(page)
		.getByText("1 line has a name that is already in the register")
		.waitFor();
	const lines = preview(page).locator("tbody tr");
	await page
		.getByRole("button", { name: "Name already in the register (1)" })
		.click();
	await expect
		.poll(() => lines.allInnerTexts())
		.toEqual([
			expect.stringMatching(
				/^3\s+Add\s+ZENDESK\s+The register already has\s+Zendesk/,
			),
		]);
	expect(
		await lines.getByRole("link", { name: "Zendesk" }).getAttribute("href"),
	).toBe(at(`r/vendor/${vendor.id}`));
	await axe(page);
	await screenshot(page, "import-same-name");
	await page.getByRole("checkbox", { name: /^Skip the 1 line/ }).check();
	await preview(page)
		.getByText("3 lines: 2 to add, 0 to change, 0 unchanged, 1 to skip")
		.waitFor();
	await lines
		.filter({ hasText: "ZENDESK" })
		.getByText("Skip", { exact: true })
		.waitFor();
	await page.getByRole("button", { name: "Import 2 vendors" }).click();
	await page
		.getByText(
			"2 vendors added, 1 line skipped because its name is already in the register.",
		)
		.waitFor();
	const { vendors } = await inOrganization("listVendors");
	const names = vendors.map(({ name }: { name: string }) => name);
	expect(names).toContain("Miro");
	expect(names).not.toContain("ZENDESK");
});

test("a wrong line says in one kind of quotes which value is wrong", async () => {
	const page = await served.openPageAs(admin, at("r/vendor/import"));
	await choose(
		page,
		"v.csv",
		"name,category,next_review_date\r\nDocusign,Legal,31.12.26\r\n",
	);
	const line = preview(page).locator("tbody tr");
	await line.getByText(/must be one of .*“IT”.*, not “Legal”$/).waitFor();
	await line
		.getByText(/must be a date with a year of four.*not “31.12.26”$/)
		.waitFor();
	// A name must not break inside a word.
	const name = line.getByText("Docusign", { exact: true });
	const { height = 0 } = (await name.boundingBox()) ?? {};
	expect(height).toBeLessThan(30);
});

test("a person who does not exist is named after the column", async () => {
	const page = await served.openPageAs(admin, at("r/measure/import"));
	await choose(page, "m.csv", "name,owner\r\nLocks,Nobody Known\r\n");
	const line = preview(page).locator("tbody tr");
	await line.getByText(/^Owner: there is no person “Nobody Known”/).waitFor();
});

test("columns of other names get a field or are skipped, and wrong lines can be skipped", async () => {
	const page = await served.openPageAs(admin, at("r/measure/import"));
	await choose(
		page,
		"measures.csv",
		"Heading,Category,Colour,State\r\nLocks,,red,Implemented\r\nFences,Sites,blue,Implemented\r\n",
	);
	const columns = page.getByRole("region", {
		name: "Columns with unknown names",
	});
	await columns.getByText("2 columns have unknown names").waitFor();
	await page
		.getByText(
			"First say above which field each column is. The file has no column yet for “Name”, which every new measure needs.",
		)
		.waitFor();
	expect(await page.getByText("is required").count()).toBe(0);
	for (const [heading, field] of [
		["Heading", "Name"],
		["Colour", "Skip this column"],
	] as const) {
		await columns.getByRole("combobox", { name: heading }).click();
		await page.getByRole("option", { name: field, exact: true }).click();
	}
	await page
		.getByText("Fix the wrong lines and upload the file again, or skip them.")
		.waitFor();
	await axe(page);
	await screenshot(page, "import-columns");
	await page.getByLabel("Skip the wrong line and import the others").check();
	await page.getByRole("button", { name: "Import 1 measure" }).click();
	await page
		.getByText("1 measure added, 1 line skipped because it is wrong.")
		.waitFor();
});

test("lines find their record by another column if the user chooses it", async () => {
	await inOrganization("addMeasure", { name: "Backups", category: "IT" });
	const page = await served.openPageAs(admin, at("r/measure/import"));
	await choose(page, "m.csv", "name,category,state\r\nBackups,IT,in progress");
	await page.getByText("1 line: 1 to add").waitFor();
	await page
		.getByRole("combobox", { name: "Find existing records by" })
		.click();
	await page.getByRole("option", { name: "Name" }).click();
	await page.getByText("1 line: 0 to add, 1 to change").waitFor();
});

test("the preview of a large file has pages, and its lines can be filtered by outcome", async () => {
	const vendors = Array.from({ length: 120 }, (_, n) => `Vendor ${n + 1}`);
	const page = await served.openPageAs(admin, at("r/vendor/import"));
	await choose(page, "many.csv", ["name", ...vendors].join("\n"));
	await page.getByText("120 lines: 120 to add").waitFor();
	const lines = preview(page).locator("tbody tr");
	await expect.poll(() => lines.count()).toBe(50);
	await page.getByRole("button", { name: "Page 3" }).click();
	await expect.poll(() => lines.count()).toBe(20);
	await lines.getByText("Vendor 120").waitFor();
	await axe(page);
});

test("the page says how many lines are checked and imported, and after some seconds for how long", async () => {
	const page = await served.openPageAs(admin, at("r/vendor/import"));
	const held: (() => void)[] = [];
	await page.route("**/api/console/importRecords*", async (route) => {
		await new Promise<void>((release) => held.push(release));
		await route.continue();
	});
	const says = (text: string) =>
		preview(page).getByRole("status").filter({ hasText: text });
	// The page says that it waits before its request arrives here.
	const next = async () => {
		await expect.poll(() => held.length).toBe(1);
		held.shift()?.();
	};
	await choose(
		page,
		"v.csv",
		'name,description\r\nTwo,"First\r\nsecond"\r\n\r\nSlow,\r\n',
	);
	await says("Checking 2 lines …").waitFor();
	await next();
	await says("2 lines: 2 to add").waitFor();
	await page.getByRole("button", { name: "Import 2 vendors" }).click();
	await says("Importing 2 lines …").waitFor();
	const passed = preview(page).getByText(/^\d+ s so far$/);
	await passed.waitFor();
	expect(await says("so far").count()).toBe(0);
	await axe(page);
	await screenshot(page, "import-progress");
	await next();
	await page.getByText("2 vendors added.").waitFor();
});
