import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { choose, preview } from "./import-page.ts";

let served: TestConsole;
let admin: TestUser;
beforeAll(async () => {
	served = await startConsole();
	admin = await served.makePerson("admin");
});
afterAll(() => served.close());

function use(name: string, input: object) {
	return callByName(served.database, admin, name, input);
}

const inOrganization = (name: string, input: object = {}) =>
	use(name, { organization_id: served.organizationId, ...input });

const at = (path: string) => `/o/${served.organizationId}/${path}`;

/** Returns the file that the browser downloads when the user presses the button. */
async function download(page: Page, button: string) {
	const [file] = await Promise.all([
		page.waitForEvent("download"),
		page.getByRole("button", { name: button }).click(),
	]);
	return {
		name: file.suggestedFilename(),
		text: await readFile(await file.path(), "utf8"),
	};
}

test("a file with wrong lines is not imported until the user has fixed and confirmed it", async () => {
	const { people: ada } = await inOrganization("addPeople", {
		full_name: "Ada Lovelace",
		primary_email_address: "ada@example.com",
		kind: "EMPLOYEE",
	});
	const { risk } = await inOrganization("addRisk", {
		name: "Theft of a laptop",
		category: "Security",
		treatment: "ACCEPTED",
		inherent_likelihood: 2,
		inherent_impact: 3,
	});
	const { risk: same } = await inOrganization("addRisk", {
		name: "Power cut",
		category: "Premises",
		treatment: "ACCEPTED",
		inherent_likelihood: 2,
		inherent_impact: 3,
	});
	const file = (...changed: string[]) =>
		[
			"ID,Name,Category,Treatment,Inherent likelihood,Inherent impact,Owner",
			`${risk.id},Theft of a laptop,Security,Mitigated,2,4,ada@example.com`,
			`${same.id},Power cut,Premises,Accepted,2,3,`,
			...changed,
		].join("\r\n");

	const page = await served.openPageAs(admin, at("r/risk"));
	await page.getByRole("button", { name: "More actions" }).click();
	await page.getByRole("menuitem", { name: "Import" }).click();
	await page.getByRole("heading", { name: "Import risks" }).waitFor();
	await axe(page);
	await screenshot(page, "import");
	await choose(
		page,
		"risks.csv",
		file(
			",Fire in the server room,Premises,Ignored,1,9,",
			",Flood,Premises,Avoided,1,5,nobody@example.com",
		),
	);
	await preview(page)
		.getByRole("status")
		.getByText("4 lines: 0 to add, 1 to change, 1 unchanged, 2 wrong.")
		.waitFor();
	const lines = preview(page).locator("tbody tr");
	expect(await lines.allInnerTexts()).toEqual([
		expect.stringMatching(
			/^4\s+Wrong\s+Fire in the server room[\s\S]*Treatment[\s\S]*“Mitigated”[\s\S]*Inherent impact/,
		),
		expect.stringMatching(/^5\s+Wrong\s+Flood[\s\S]*Owner.*nobody@example.com/),
	]);
	expect(
		await preview(page)
			.getByRole("button", { name: /^Import/ })
			.isDisabled(),
	).toBe(true);
	await axe(page);
	await screenshot(page, "import-wrong");

	await choose(
		page,
		"risks.csv",
		file(",Fire in the server room,Premises,Avoided,1,5,Ada Lovelace"),
	);
	await preview(page)
		.getByText("3 lines: 1 to add, 1 to change, 1 unchanged, 0 wrong.")
		.waitFor();
	const change = lines.filter({ hasText: "Theft of a laptop" });
	await change.getByText("Ada Lovelace").waitFor();
	expect(await change.innerText()).toMatch(
		/Change[\s\S]*Treatment\s+Accepted\s+Mitigated[\s\S]*Inherent impact\s+3\s+4[\s\S]*Owner\s+–\s+Ada Lovelace/,
	);
	await axe(page);
	await screenshot(page, "import-preview");
	const stored = async () => (await inOrganization("listRisks", {})).risks;
	expect(await stored()).toHaveLength(2);
	await preview(page).getByRole("button", { name: "Import 2 risks" }).click();
	await page
		.getByText("1 risk added, 1 risk changed, 1 risk left as it was.")
		.waitFor();
	await axe(page);
	await screenshot(page, "import-done");
	await page.getByRole("link", { name: "See the risks" }).click();
	await page.getByRole("link", { name: "Fire in the server room" }).waitFor();
	expect(
		(await stored()).find(({ id }: { id: string }) => id === risk.id),
	).toMatchObject({
		treatment: "MITIGATED",
		inherent_risk_score: 8,
		owner_id: ada.id,
	});
});

test("an import does not overwrite a change that was made after the preview", async () => {
	const { vendor } = await inOrganization("addVendor", { name: "Northwind" });
	const page = await served.openPageAs(admin, at("r/vendor/import"));
	await choose(page, "v.csv", `id,name\r\n${vendor.id},Northwind GmbH\r\n`);
	const confirm = page.getByRole("button", { name: "Import 1 vendor" });
	await confirm.waitFor();
	await use("updateVendor", {
		id: vendor.id,
		name: "Northwind AG",
	});
	await confirm.click();
	await page.getByText("has changed since").waitFor();
	await page.getByRole("button", { name: "Try again" }).click();
	await preview(page).getByText("Northwind AG").waitFor();
	await confirm.click();
	await page.getByText("1 vendor changed.").waitFor();
});

test("a file that is not CSV is rejected with a hint what to do instead", async () => {
	const page = await served.openPageAs(admin, at("r/vendor/import"));
	const refused = page.getByRole("alert");
	await choose(page, "vendors.xlsx", "PK\u0003\u0004");
	await refused.getByText("vendors.xlsx is damaged or incomplete").waitFor();
	await choose(page, "vendors.csv", "name,Name\r\nX,red\r\n");
	await refused.getByText("has two columns for name").waitFor();
	await axe(page);
	await choose(page, "vendors.csv", "name\r\n");
	await page.getByText("no lines below its heading").waitFor();
	await choose(page, "old.csv", Buffer.from("name\r\nM\xfcller", "latin1"));
	await page.getByText("read as Windows-1252").waitFor();
	await preview(page).getByText("Müller").waitFor();
});

test("a file can be dropped on the page", async () => {
	const page = await served.openPageAs(admin, at("r/vendor/import"));
	const field = page.getByText("Drop an Excel or CSV file here");
	await field.waitFor();
	const dataTransfer = await page.evaluateHandle(`(() => {
		const transfer = new DataTransfer();
		transfer.items.add(new File(["name\\nDropped"], "dropped.csv"));
		return transfer;
	})()`);
	await field.dispatchEvent("drop", { dataTransfer });
	await page.getByText("1 line: 1 to add").waitFor();
	await preview(page).getByText("Dropped").waitFor();
});

test("the template has the fields of the register, and can be imported", async () => {
	const page = await served.openPageAs(admin, at("r/asset/import"));
	const { name, text } = await download(page, "Download a template");
	expect(name).toBe("assay-assets-template.csv");
	expect(text).toBe(
		"\ufeffname,amount,owner,asset_type,data_types_stored,vendors\r\n",
	);
	await choose(page, name, `${text}Laptops,3,,Physical,,\r\n`);
	await page.getByText("1 line: 1 to add").waitFor();
});

test("a list is exported with its filters and order, for every role", async () => {
	for (const name of ["Tape", "Disk", "Zip drive"]) {
		await inOrganization("addTask", {
			name: `Replace ${name}, all`,
			priority: name === "Tape" ? "LOW" : "HIGH",
		});
	}
	const viewer = await served.makePerson("viewer");
	const page = await served.openPageAs(
		viewer,
		at("r/task?priority=HIGH&q=replace&sort=name&dir=desc"),
	);
	await page.getByText("Replace Disk").waitFor();
	const { name, text } = await download(page, "Export CSV");
	expect(name).toMatch(/^assay-tasks-\d{4}-\d\d-\d\d\.csv$/);
	const [heading, ...lines] = text.trim().split("\r\n");
	expect(heading).toMatch(/^\ufeff?id,/);
	expect(lines).toEqual([
		expect.stringContaining('"Replace Zip drive, all"'),
		expect.stringContaining('"Replace Disk, all"'),
	]);
	await visit(page, at("r/task"));
	await page.getByRole("button", { name: "Export CSV" }).waitFor();
	expect(await page.getByRole("button", { name: "More actions" }).count()).toBe(
		0,
	);
});

test("the list of risks leads viewers to the report, which is PDF and Excel too", async () => {
	const viewer = await served.makePerson("viewer");
	const page = await served.openPageAs(viewer, at("r/risk"));
	await page.getByRole("button", { name: "More actions" }).click();
	const report = page.getByRole("menuitem", { name: "Report as PDF or Excel" });
	await report.waitFor();
	await axe(page);
	await screenshot(page, "risks-report-link");
	await report.click();
	await page.waitForURL("**/reports/risk-register");
	for (const name of ["PDF", "Excel"]) {
		await page.getByRole("button", { name, exact: true }).waitFor();
	}
});

test("an export that fails says so for half a minute, and saves no file", async () => {
	const page = await served.openPageAs(admin, at("r/task"));
	await page.clock.install();
	await page.reload();
	let message = "permission denied: ask an administrator";
	await page.route("**/api/console/export/**", (route) =>
		route.fulfill({ status: 403, json: { error: "forbidden", message } }),
	);
	const failure = page
		.getByRole("alert")
		.filter({ hasText: "The list was not exported" });
	await page.getByRole("button", { name: "Export CSV" }).click();
	await failure.getByText("Permission denied: ask an administrator.").waitFor();
	await page.clock.runFor(1_000);
	await axe(page);
	await page.clock.runFor(19_000);
	expect(await failure.count()).toBe(1);
	// A second failure takes the place of the first message, and has its own time.
	message = "permission denied: you are a viewer now";
	await page.getByRole("button", { name: "Export CSV" }).click();
	await failure.getByText("Permission denied: you are a viewer now.").waitFor();
	await page.clock.runFor(20_000);
	expect(await failure.count()).toBe(1);
	await page.clock.runFor(15_000);
	await expect.poll(() => failure.count()).toBe(0);
	// The clock would stay with the page.
	await page.context().close();
});

test("the import page is usable at 375 px and in dark mode", async () => {
	const page = await served.openPageAs(admin, at("r/vendor/import"), {
		viewport: { width: 375, height: 740 },
		colorScheme: "dark",
	});
	await choose(page, "v.csv", "name,website_url\r\nX,nonsense\r\nY,\r\n");
	await page.getByText("2 lines: 1 to add").waitFor();
	const width = await page.evaluate("document.documentElement.scrollWidth");
	expect(width).toBeLessThanOrEqual(375);
	await axe(page);
	await screenshot(page, "import-375-dark");
});

test("an import is rolled back where it was made, and the audit log shows one entry for it", async () => {
	const page = await served.openPageAs(admin, at("r/vendor/import"));
	await choose(
		page,
		"vendors.csv",
		"name\r\nHazel Ltd\r\nRowan Ltd\r\nMaple Ltd\r\n",
	);
	await page.getByRole("button", { name: "Import 3 vendors" }).click();
	await page.getByRole("heading", { name: "The file is imported" }).waitFor();
	const { vendors } = await inOrganization("listVendors", {
		filter: { query: "Rowan" },
	});
	await use("updateVendor", { id: vendors[0].id, description: "Kept" });

	await page.getByRole("button", { name: "Import another file" }).click();
	const recent = page.getByRole("region", { name: "Recent imports" });
	await recent.getByText("3 vendors added by").waitFor();
	await axe(page);
	await recent
		.getByRole("button", { name: /^Roll back the import of/ })
		.first()
		.click();
	const dialog = page.getByRole("dialog", { name: "Roll back this import?" });
	await dialog.getByText("2 vendors will be deleted.").waitFor();
	await dialog.getByText("Rowan Ltd was changed since").waitFor();
	const confirm = dialog.getByRole("button", { name: "Roll back" });
	expect(await confirm.isDisabled()).toBe(true);
	await axe(page);
	await dialog
		.getByRole("checkbox", { name: "Leave 1 vendor as it is" })
		.check();
	await screenshot(page, "import-roll-back");
	await confirm.click();
	await recent.getByText(/rolled back .* except 1 vendor/).waitFor();
	const { vendors: left } = await inOrganization("listVendors", {
		filter: { query: "Ltd" },
	});
	expect(left.map(({ name }: { name: string }) => name)).toEqual(["Rowan Ltd"]);

	await visit(
		page,
		at("settings/audit-log?operation=importRecords&record_kind=import"),
	);
	const log = page.getByRole("table");
	await log.getByRole("button", { name: "Import records" }).first().waitFor();
	expect(await log.getByText("Hazel Ltd").count()).toBe(0);
	await log.getByRole("button", { name: "Import records" }).first().click();
	await page
		.getByRole("button", { name: "All records of this import" })
		.click();
	await log.getByText("Hazel Ltd").first().waitFor();
	await axe(page);
});
