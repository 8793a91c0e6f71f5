import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findOperation } from "../../src/operations.ts";
import { callAs, type TestUser } from "../support/people.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";

let served: TestConsole;
let member: TestUser;
let viewer: TestUser;
beforeAll(async () => {
	served = await startConsole();
	member = await served.makePerson("member");
	viewer = await served.makePerson("viewer");
});
afterAll(() => served.close());

// biome-ignore lint/suspicious/noExplicitAny: what comes back depends on the name of the call.
async function use(name: string, input: object): Promise<any> {
	const operation = findOperation(name);
	if (!operation) throw new Error(`there is no operation ${name}`);
	return callAs(served.database, member, operation, input);
}

const add = (name: string, input: object) =>
	use(name, { organization_id: served.organizationId, ...input });

async function addRisk(name: string, scores: Partial<Scores> = {}) {
	const { risk } = await add("addRisk", {
		name,
		category: "Security",
		treatment: "MITIGATED",
		inherent_likelihood: 4,
		inherent_impact: 5,
		...scores,
	});
	return risk.id as string;
}

interface Scores {
	inherent_likelihood: number;
	inherent_impact: number;
	residual_likelihood: number;
	residual_impact: number;
}

async function addMeasure(
	name: string,
	state = "NOT_STARTED",
	others: object = {},
) {
	const { measure } = await add("addMeasure", {
		name,
		category: "Access",
		state,
		...others,
	});
	return measure.id as string;
}

const at = (path: string) => `/o/${served.organizationId}/r/${path}`;
const links = (page: Page) =>
	page.getByRole("region", { name: "Linked records" });

test("a record is found, linked, seen from both ends, and unlinked", async () => {
	const risk = await addRisk("A laptop with customer data is stolen");
	const { people } = await add("addPeople", {
		full_name: "Ruth Okafor",
		primary_email_address: "ruth@example.com",
		kind: "EMPLOYEE",
	});
	const measure = await addMeasure("Full disk encryption", "IMPLEMENTED", {
		owner_id: people.id,
	});
	await addMeasure("Screen lock after five minutes");
	const page = await served.openPageAs(member, at(`risk/${risk}`));
	await links(page).getByText("Nothing is linked yet.").waitFor();
	await links(page).getByRole("button", { name: "Link a record" }).click();
	const dialog = page.getByRole("dialog", { name: "Link a record" });
	await page.keyboard.type("encryption");
	await dialog.getByText("Full disk encryption").waitFor();
	await axe(page);
	await screenshot(page, "link-dialog");
	await dialog
		.getByRole("button", { name: "Link Full disk encryption" })
		.click();
	await dialog
		.getByRole("button", { name: "Full disk encryption is linked" })
		.waitFor();
	await dialog.getByLabel("Find").fill("five minutes");
	await dialog
		.getByRole("button", { name: "Link Screen lock after five minutes" })
		.click();
	await dialog.getByRole("button", { name: /is linked/ }).waitFor();
	await dialog.getByRole("button", { name: "Done" }).click();

	const measures = links(page).getByRole("list", { name: "Measures" });
	await measures.getByText("Implemented").waitFor();
	await measures.getByText("Ruth Okafor").waitFor();
	await expect.poll(() => measures.getByRole("listitem").count()).toBe(2);
	await links(page).scrollIntoViewIfNeeded();
	await axe(page);
	await screenshot(page, "links");

	await measures.getByRole("link", { name: "Full disk encryption" }).click();
	await page.waitForURL(`**/r/measure/${measure}`);
	await links(page)
		.getByRole("list", { name: "Risks" })
		.getByText("A laptop with customer data is stolen")
		.waitFor();
	await links(page)
		.getByRole("button", {
			name: "Remove the link to A laptop with customer data is stolen",
		})
		.click();
	await page
		.getByRole("dialog", { name: "Remove the link?" })
		.getByRole("button", { name: "Remove the link" })
		.click();
	await links(page).getByText("Nothing is linked yet.").waitFor();
	await page.reload();
	await links(page).getByText("Nothing is linked yet.").waitFor();
});

test("a reader who knows no word chooses a kind, sees its records, and creates a missing one in place", async () => {
	const risk = await addRisk("A key is lost");
	await addMeasure("Alarm in the server room");
	const page = await served.openPageAs(member, at(`risk/${risk}`));
	await links(page).getByRole("button", { name: "Link a record" }).click();
	const dialog = page.getByRole("dialog", { name: "Link a record" });
	await dialog.getByText("choose a kind to see its records").waitFor();
	await dialog.getByRole("combobox", { name: "Among" }).click();
	await page.getByRole("option", { name: "Measures" }).click();
	await dialog
		.getByRole("button", { name: "Link Alarm in the server room" })
		.waitFor();
	await axe(page);
	await dialog.getByRole("button", { name: "Create a measure" }).click();
	const form = page.getByRole("dialog", { name: "Create a measure" });
	await form.getByLabel("Name").fill("Spare keys in a safe");
	await form.getByLabel("Category").fill("Access");
	await form.getByRole("button", { name: "Create the measure" }).click();
	await dialog
		.getByRole("button", { name: "Link Spare keys in a safe" })
		.click();
	await dialog
		.getByRole("button", { name: "Spare keys in a safe is linked" })
		.waitFor();
	await dialog.getByRole("button", { name: "Done" }).click();
	await links(page)
		.getByRole("list", { name: "Measures" })
		.getByRole("link", { name: "Spare keys in a safe" })
		.waitFor();
});

test("records of the same name are told apart by their status, person and due date", async () => {
	const risk = await addRisk("A dump cannot be restored");
	const { people } = await add("addPeople", {
		full_name: "Mei Tanaka",
		primary_email_address: "mei@example.com",
		kind: "EMPLOYEE",
	});
	const name = "Restore a dump";
	await add("addTask", { name, state: "DONE", deadline: "2026-08-28" });
	await add("addTask", { name, assigned_to_id: people.id });
	const page = await served.openPageAs(member, at(`risk/${risk}`));
	await links(page).getByRole("button", { name: "Link a record" }).click();
	const dialog = page.getByRole("dialog", { name: "Link a record" });
	const found = dialog.getByRole("list", { name: "Found" });
	const expectBoth = async () => {
		await found.getByText("Tasks · Done · 28 Aug 2026").waitFor();
		await found.getByText("Tasks · To do · Mei Tanaka").waitFor();
	};
	await dialog.getByLabel("Find").fill("restore dump");
	await expectBoth();
	await dialog.getByLabel("Find").fill("");
	await dialog.getByRole("combobox", { name: "Among" }).click();
	await page.getByRole("option", { name: "Tasks" }).click();
	await expectBoth();
	await screenshot(page, "link-same-names");
	await dialog.getByRole("button", { name: "Done" }).click();
	await dialog.waitFor({ state: "hidden" });
});

test("the history and the audit log show a link as a kind and a name that lead to the record", async () => {
	const admin = await served.makePerson("admin");
	const risk = await addRisk("Flood");
	const measure = await addMeasure("A dry place");
	await use("linkRecords", { record_id: risk, linked_record_id: measure });
	const page = await served.openPageAs(admin, at(`risk/${risk}?tab=history`));
	await page.getByText(/^Measure: A dry place$/).waitFor();
	await page.getByRole("link", { name: "A dry place" }).click();
	await page.waitForURL(`**/measure/${measure}`);
	await visit(
		page,
		`/o/${served.organizationId}/settings/audit-log?operation=linkRecords&record_id=${risk}`,
	);
	await page.getByRole("button", { name: "Link records" }).click();
	const drawer = page.getByRole("dialog");
	await drawer.getByRole("link", { name: "A dry place" }).waitFor();
	expect(await drawer.innerText()).not.toMatch(/[{}]|object Object/);
});

test("the search for records to link can be limited to devices or to one kind", async () => {
	const risk = await addRisk("Ransomware on a workstation");
	await addMeasure("Workstation backups");
	const { id } = await served.makeToken();
	await use("updateDevice", { id, name: "Workstation of Ada" });
	const page = await served.openPageAs(member, at(`risk/${risk}`));
	await links(page).getByRole("button", { name: "Link a record" }).click();
	const dialog = page.getByRole("dialog", { name: "Link a record" });
	await dialog.getByLabel("Find").fill("workstation");
	const found = dialog.getByRole("list", { name: "Found" });
	await found.getByText("Workstation backups").waitFor();
	await dialog.getByRole("combobox", { name: "Among" }).click();
	await page.getByRole("option", { name: "Devices" }).click();
	await expect.poll(() => found.getByRole("listitem").count()).toBe(1);
	await found.getByRole("button", { name: "Link Workstation of Ada" }).click();
	await dialog.getByRole("button", { name: "Done" }).click();
	await links(page)
		.getByRole("list", { name: "Devices" })
		.getByRole("link", { name: "Workstation of Ada" })
		.click();
	await page.waitForURL(`**/devices/${id}`);
});

test("a viewer sees links and coverage, and no button to change them", async () => {
	const risk = await addRisk("Seen by a viewer");
	await use("linkRecords", {
		record_id: risk,
		linked_record_id: await addMeasure("Seen measure"),
	});
	const page = await served.openPageAs(viewer, at(`risk/${risk}`));
	await links(page).getByRole("link", { name: "Seen measure" }).waitFor();
	expect(await links(page).getByRole("button").count()).toBe(0);
	await visit(page, at("risk/import"));
	await page.getByText("You cannot import records").waitFor();
	expect(await page.locator("input[type=file]").count()).toBe(0);
	await axe(page);
	const { framework } = await add("addFramework", { name: "Viewed" });
	await addControl(framework.id, "A.5.1", "Policies");
	await visit(page, at(`framework/${framework.id}`));
	const controls = page.getByRole("region", { name: "Controls" });
	await controls.getByRole("link", { name: "Policies" }).waitFor();
	expect(await controls.getByRole("link", { name: /Add a/ }).count()).toBe(0);
	expect(await controls.getByRole("button", { name: /Link/ }).count()).toBe(0);
});

async function addControl(
	framework_id: string,
	section_title: string,
	name: string,
	more: object = {},
) {
	const { control } = await add("addControl", {
		framework_id,
		section_title,
		name,
		...more,
	});
	return control.id as string;
}

test("a framework shows by section which controls are covered, and a measure can be linked from there", async () => {
	const { framework } = await add("addFramework", {
		name: "ISO 27001",
		version: "2022",
	});
	const policies = await addControl(
		framework.id,
		"A.5.1",
		"Policies for information security",
	);
	const acceptable = await addControl(
		framework.id,
		"A.5.10",
		"Acceptable use of assets",
	);
	const roles = await addControl(framework.id, "A.5.2", "Roles");
	await addControl(framework.id, "A.8.1", "User endpoint devices");
	await addControl(framework.id, "A.7.4", "Physical security monitoring", {
		status: "EXCLUDED",
		exclusion_justification: "There is no office",
	});
	await use("linkRecords", {
		record_id: policies,
		linked_record_id: await addMeasure("Policy handbook", "IMPLEMENTED"),
	});
	await use("linkRecords", {
		record_id: roles,
		linked_record_id: await addMeasure("Role descriptions", "IN_PROGRESS"),
	});
	await addMeasure("Endpoint management", "IMPLEMENTED");
	await use("linkRecords", {
		record_id: acceptable,
		linked_record_id: await addMeasure("Rules of use", "NOT_STARTED"),
	});

	const page = await served.openPageAs(member, at(`framework/${framework.id}`));
	const controls = page.getByRole("region", { name: "Controls" });
	await controls.getByText("1 of 4 controls that apply").waitFor();
	await controls.getByText("25%").waitFor();
	const sections = controls.getByRole("heading", { level: 3 });
	await expect
		.poll(() => sections.allInnerTexts())
		.toEqual([
			expect.stringMatching(/^A\.5\s+1 of 3 covered/),
			expect.stringMatching(/^A\.7\s+excluded/),
			expect.stringMatching(/^A\.8\s+0 of 1 covered/),
		]);
	// A measure that has not been started counts as planned, not as under way.
	for (const state of ["Covered", "Under way", "Planned only", "Nothing yet"]) {
		await controls
			.getByRole("listitem")
			.filter({ hasText: `${state} 1` })
			.waitFor();
	}
	const names = () => controls.getByRole("link", { name: /\w/ });
	await expect
		.poll(() => names().allInnerTexts())
		.toEqual(expect.arrayContaining(["Roles", "Acceptable use of assets"]));
	await controls.scrollIntoViewIfNeeded();
	await axe(page);
	await screenshot(page, "coverage");

	await controls.getByText("Not covered").click();
	await page.waitForURL("**show=uncovered");
	await page.reload();
	await controls.getByText("User endpoint devices").waitFor();
	for (const covered of ["Policies for information", "Physical security"])
		await controls.getByText(covered).waitFor({ state: "detached" });
	// The figures of a section still count the controls that are not shown.
	await expect
		.poll(() => sections.allInnerTexts())
		.toEqual([
			expect.stringMatching(/^A\.5\s+1 of 3 covered/),
			expect.stringMatching(/^A\.8\s+0 of 1 covered/),
		]);
	await controls
		.getByRole("button", { name: "Link a measure to User endpoint devices" })
		.click();
	const dialog = page.getByRole("dialog");
	await dialog.getByLabel("Find measures").fill("endpoint");
	await dialog
		.getByRole("button", { name: "Link Endpoint management" })
		.click();
	await dialog.getByRole("button", { name: /is linked/ }).waitFor();
	await dialog.getByRole("button", { name: "Done" }).click();
	await controls.getByText("2 of 4 controls that apply").waitFor();
	await controls
		.getByText("User endpoint devices")
		.waitFor({ state: "detached" });

	await controls.getByRole("link", { name: "Add a control" }).click();
	await page.waitForURL(`**/r/control/new?framework_id=${framework.id}`);
	await expect
		.poll(() => page.getByRole("combobox", { name: "Framework" }).inputValue())
		.toContain("ISO 27001");
});

test("a framework without controls says how to add them", async () => {
	const { framework } = await add("addFramework", { name: "Empty" });
	const page = await served.openPageAs(member, at(`framework/${framework.id}`));
	await page.getByText("This framework has no controls yet").waitFor();
	await axe(page);
	await page.getByRole("link", { name: "Import controls" }).click();
	await page.waitForURL("**/r/control/import");
});

test("a number in the matrix links to the risks that it counts", async () => {
	for (const [name, likelihood, impact] of [
		["Matrix fire", 1, 5],
		["Matrix flood", 1, 5],
		["Matrix theft", 3, 4],
	] as const) {
		await addRisk(name, {
			inherent_likelihood: likelihood,
			inherent_impact: impact,
			residual_likelihood: 1,
			residual_impact: 1,
		});
	}
	const page = await served.openPageAs(member, at("risk/matrix"));
	const inherent = page.getByRole("region", { name: "Inherent risk" });
	const table = inherent.getByRole("table", { name: /^Inherent risk/ });
	const cell = table.getByRole("link", {
		name: /^2 risks, score 5 Medium ?, likelihood 1 Rare, impact 5 Severe$/,
	});
	await cell.waitFor();
	await table.getByRole("columnheader", { name: "5 Severe" }).waitFor();
	await table.getByRole("rowheader", { name: "1 Rare" }).waitFor();
	await axe(page);
	await screenshot(page, "matrix");

	// From here on, the test uses only the keyboard.
	await cell.focus();
	await page.keyboard.press("Enter");
	await page.waitForURL("**/r/risk?**inherent_likelihood=1**");
	const rows = page.locator("tbody tr");
	await expect.poll(() => rows.count()).toBe(2);
	expect(await rows.allInnerTexts()).toEqual([
		expect.stringContaining("Matrix"),
		expect.stringContaining("Matrix"),
	]);
	await page.goBack();
	const bands = inherent.getByRole("list", { name: "Bands" });
	await bands
		.getByRole("listitem")
		.filter({ hasText: "High" })
		.getByRole("link", { name: "1" })
		.click();
	await page.getByRole("link", { name: "Matrix theft" }).waitFor();
	await expect.poll(() => rows.count()).toBe(1);
});

test("the address selects one of the matrices, and each is usable at 375 px and in dark mode", async () => {
	await addRisk("Counted", { residual_likelihood: 2, residual_impact: 2 });
	const page = await served.openPageAs(member, at("risk/matrix"), {
		viewport: { width: 375, height: 740 },
	});
	await page.getByRole("region", { name: "Inherent risk" }).waitFor();
	await page.getByText("Residual", { exact: true }).click();
	await page.waitForURL("**/r/risk/matrix?of=residual");
	const inherent = page.getByRole("region", { name: "Inherent risk" });
	await expect.poll(() => inherent.count()).toBe(0);
	await page.reload();
	await page.getByRole("region", { name: "Residual risk" }).waitFor();
	expect(await inherent.count()).toBe(0);
	const width = await page.evaluate("document.documentElement.scrollWidth");
	expect(width).toBeLessThanOrEqual(375);
	await axe(page);
	await screenshot(page, "matrix-375");
	const dark = await served.openPageAs(viewer, at("risk/matrix"), {
		colorScheme: "dark",
	});
	await dark.getByRole("region", { name: "Residual risk" }).waitFor();
	await axe(dark);
	await screenshot(dark, "matrix-dark");
});

test("a large framework starts folded, and its page and the links panel are usable at 375 px and in dark mode", async () => {
	const { framework } = await add("addFramework", { name: "SOC 2" });
	const titles = Array.from({ length: 45 }, (_, n) => `CC${(n % 9) + 1}.${n}`);
	for (const title of titles) {
		await addControl(framework.id, title, `Criterion ${title}`);
	}
	const page = await served.openPageAs(
		member,
		at(`framework/${framework.id}`),
		{ viewport: { width: 375, height: 740 }, colorScheme: "dark" },
	);
	const controls = page.getByRole("region", { name: "Controls" });
	const sections = controls.getByRole("heading", { level: 3 });
	await expect.poll(() => sections.count()).toBe(9);
	expect(await controls.getByRole("link", { name: /Criterion/ }).count()).toBe(
		0,
	);
	await sections.getByRole("button", { name: /^CC2/ }).click();
	await controls
		.getByRole("link", { name: "Criterion CC2.1", exact: true })
		.waitFor();
	await controls.scrollIntoViewIfNeeded();
	const width = () => page.evaluate("document.documentElement.scrollWidth");
	expect(await width()).toBeLessThanOrEqual(375);
	await axe(page);
	await screenshot(page, "coverage-375-dark");

	const risk = await addRisk("Narrow");
	await use("linkRecords", {
		record_id: risk,
		linked_record_id: await addMeasure(
			"A measure with a name that is longer than a narrow screen is wide",
			"IN_PROGRESS",
		),
	});
	await visit(page, at(`risk/${risk}`));
	await links(page).getByText("In progress").waitFor();
	await links(page).scrollIntoViewIfNeeded();
	expect(await width()).toBeLessThanOrEqual(375);
	await axe(page);
	await screenshot(page, "links-375-dark");
});
