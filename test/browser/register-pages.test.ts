import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { findOperation } from "../../src/operations.ts";
import { callAs, type TestUser } from "../support/people.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { fill } from "./register-form.ts";

// Each test visits several pages, and the machine may be busy.
vi.setConfig({ testTimeout: 120_000 });

let served: TestConsole;
let admin: TestUser;
const ids = { ada: "", theft: "", grown: "" };

beforeAll(async () => {
	served = await startConsole();
	admin = await served.makePerson("admin");
	ids.ada = (
		await add("addPeople", {
			full_name: "Ada Lovelace",
			primary_email_address: "ada@example.com",
			kind: "EMPLOYEE",
		})
	).people.id;
	const risk = (name: string, fields: object = {}) =>
		add("addRisk", {
			...{ name, category: "Security", treatment: "MITIGATED" },
			...{ inherent_likelihood: 4, inherent_impact: 4 },
			...{ residual_likelihood: 2, residual_impact: 2 },
			...fields,
		});
	ids.theft = (
		await risk("Laptop theft", { owner_id: ids.ada, note: "Seen twice" })
	).risk.id;
	ids.grown = (
		await risk("A risk that grew", {
			residual_impact: 5,
			residual_likelihood: 5,
		})
	).risk.id;
	for (let number = 1; number <= 22; number++) {
		await risk(`Accepted risk ${String(number).padStart(2, "0")}`, {
			treatment: "ACCEPTED",
			owner_id: ids.ada,
		});
	}
});
afterAll(() => served.close());

// biome-ignore lint/suspicious/noExplicitAny: what comes back depends on the name of the call.
async function use(name: string, input: object): Promise<any> {
	const operation = findOperation(name);
	if (!operation) throw new Error(`there is no operation ${name}`);
	return callAs(served.database, admin, operation, input);
}

const add = (name: string, input: object) =>
	use(name, { organization_id: served.organizationId, ...input });

const at = (path: string) => `/o/${served.organizationId}/r/${path}`;
const open = (person: TestUser, path: string, options = {}) =>
	served.openPageAs(person, at(path), options);
const names = (page: Page) => () =>
	page.locator("tbody a.data-table-link").allInnerTexts();
const heading = (page: Page, name: string) =>
	page.getByRole("heading", { name, level: 1 });

test("search, filters and order are in the address, and reload and back keep them", async () => {
	const page = await open(admin, "risk");
	await expect.poll(async () => (await names(page)()).length).toBe(20);
	await page.getByRole("combobox", { name: "Treatment" }).click();
	await page.getByRole("option", { name: "Mitigated" }).click();
	await expect.poll(names(page)).toEqual(["A risk that grew", "Laptop theft"]);
	await page.getByRole("button", { name: "Name" }).click();
	await page.waitForURL(/sort=name/);
	await page.getByRole("button", { name: "Name" }).click();
	await page.waitForURL(/dir=desc/);
	await expect.poll(names(page)).toEqual(["Laptop theft", "A risk that grew"]);
	await page.getByRole("searchbox").fill("grew");
	await expect.poll(names(page)).toEqual(["A risk that grew"]);
	expect(page.url()).toContain("treatment=MITIGATED");
	await page.reload();
	await expect.poll(names(page)).toEqual(["A risk that grew"]);
	expect(await page.getByRole("searchbox").inputValue()).toBe("grew");
	await axe(page);

	await page.getByRole("link", { name: "A risk that grew" }).click();
	await heading(page, "A risk that grew").waitFor();
	await page.goBack();
	await expect.poll(names(page)).toEqual(["A risk that grew"]);

	await page.getByRole("searchbox").fill("nothing like it");
	await page.getByRole("heading", { name: "No risks match" }).waitFor();
	await page.getByRole("button", { name: "Show all risks" }).click();
	await expect.poll(async () => (await names(page)()).length).toBe(20);
});

test("a list can be read page by page and back, with the page size that the reader chooses", async () => {
	const page = await open(admin, "risk?sort=name");
	await expect
		.poll(async () => (await names(page)()).at(-1))
		.toBe("Accepted risk 19");
	await page.getByRole("button", { name: "Next page" }).click();
	await expect
		.poll(async () => (await names(page)())[0])
		.toBe("Accepted risk 20");
	await page.reload();
	await expect
		.poll(async () => (await names(page)())[0])
		.toBe("Accepted risk 20");
	await page.goBack();
	await expect
		.poll(async () => (await names(page)())[0])
		.toBe("A risk that grew");
	await page
		.getByRole("combobox", { name: "Rows per page" })
		.selectOption("50");
	await expect.poll(async () => (await names(page)()).length).toBe(24);
});

test("scores are filtered by band, owners by search, and records without an owner by their own option", async () => {
	const page = await open(admin, "risk");
	await page.getByRole("combobox", { name: "Residual risk" }).click();
	await page.getByRole("option", { name: "Critical (15 to 25)" }).click();
	await expect.poll(names(page)).toEqual(["A risk that grew"]);
	expect(page.url()).toContain("min_residual_risk_score=15");
	await page.getByRole("button", { name: "Clear filters" }).click();
	await page.getByRole("combobox", { name: "Owner" }).click();
	await page.getByRole("option", { name: "No owner" }).click();
	await expect.poll(names(page)).toEqual(["A risk that grew"]);
	await page.getByRole("combobox", { name: "Owner" }).fill("lovelace");
	await page.getByRole("option", { name: "Ada Lovelace" }).click();
	await page.waitForURL(new RegExp(ids.ada));
	await expect.poll(async () => (await names(page)()).length).toBe(20);
	await axe(page);
});

test("overdue tasks that are not done are found and marked", async () => {
	await add("addTask", { name: "Long overdue", deadline: "2024-02-29" });
	await add("addTask", {
		...{ name: "Done in time", deadline: "2024-02-29", state: "DONE" },
	});
	await add("addTask", { name: "Far away", deadline: "2100-01-01" });
	const page = await open(admin, "task");
	await page.getByRole("combobox", { name: "Deadline" }).click();
	await page.getByRole("option", { name: "Overdue" }).click();
	await expect.poll(names(page)).toEqual(["Done in time", "Long overdue"]);
	await page.getByRole("checkbox", { name: "Open only" }).check();
	await expect.poll(names(page)).toEqual(["Long overdue"]);
	await page.getByRole("img", { name: /It is overdue/ }).waitFor();
	await axe(page);
	// A range that is not one of the usual ones is shown with its dates.
	await page.goto(at("task?due_from=2099-01-01"));
	await expect.poll(names(page)).toEqual(["Far away"]);
	const due = page.getByRole("combobox", { name: "Deadline" });
	expect(await due.inputValue()).toBe("from 1 Jan 2099");
});

test("the names of all owners on a page are loaded in one request", async () => {
	const page = await open(admin, "risk");
	const asked: string[] = [];
	page.on("request", (request) => {
		if (/getRecordNames|getPeople|listPeople/.test(request.url())) {
			asked.push(new URL(request.url()).pathname);
		}
	});
	await page.reload();
	await page.getByRole("cell", { name: "Ada Lovelace" }).first().waitFor();
	const named = asked.filter((path) => path.endsWith("getRecordNames"));
	expect(named).toHaveLength(1);
	expect(asked).not.toContain("/api/console/getPeople");
});

test("saving a change sends only the fields that differ, with null for emptied ones", async () => {
	const page = await open(admin, `risk/${ids.theft}?edit=true`);
	await heading(page, "Edit Laptop theft").waitFor();
	await fill(page, "Note", { text: "" });
	await fill(page, "Residual impact", { step: "1 Negligible" });
	await page.getByText("2 × 1").waitFor();
	const sent = page.waitForRequest((request) =>
		request.url().endsWith("updateRisk"),
	);
	await page.getByRole("button", { name: "Save the changes" }).click();
	expect((await sent).postDataJSON()).toEqual({
		id: ids.theft,
		note: null,
		residual_impact: 1,
	});
	await heading(page, "Laptop theft").waitFor();
	await page.getByRole("tab", { name: "History" }).click();
	await page.waitForURL(/tab=history/);
	const item = page.locator("dl > div", { hasText: "Residual impact" }).first();
	await expect.poll(() => item.innerText()).toMatch(/2\s*1$/);
	await page.getByText("Changed", { exact: true }).waitFor();
	await axe(page);
	await screenshot(page, "history");
});

test("Enter in an open list chooses the first match and never submits the form", async () => {
	const page = await open(admin, "asset/new");
	await fill(page, "Name", { text: "A laptop" });
	const owner = page.getByRole("combobox", { name: "Owner" });
	await owner.fill("nobody like this");
	await page.getByText("No person matches “nobody like this”").waitFor();
	await page.keyboard.press("Enter");
	await owner.fill("love");
	await page.getByRole("option", { name: /Ada Lovelace/ }).waitFor();
	await page.keyboard.press("Enter");
	expect(await owner.inputValue()).toBe("Ada Lovelace");
	// The typed text replaces the chosen option, which does not match it.
	await owner.fill("zzz");
	await page.getByText("No person matches “zzz”").waitFor();
	expect(await page.getByRole("option").count()).toBe(0);
	await page.keyboard.press("Escape");
	const type = page.getByRole("combobox", { name: "Asset type" });
	await type.focus();
	await page.keyboard.type("virt");
	await page.keyboard.press("Enter");
	expect(await type.inputValue()).toBe("Virtual");
	// The form was not submitted, so no error says that a field is missing.
	expect(page.url()).toMatch(/asset\/new$/);
	expect(await page.locator("[aria-invalid=true]").count()).toBe(0);
	expect(await owner.inputValue()).toBe("Ada Lovelace");
});

test("if another user has changed the same field, the form asks before it saves", async () => {
	const { task } = await add("addTask", { name: "Twice", priority: "LOW" });
	const page = await open(admin, `task/${task.id}?edit=true`);
	await fill(page, "Name", { text: "Mine" });
	await fill(page, "Description", { text: "Only I have changed this" });
	await use("updateTask", { id: task.id, name: "Theirs", priority: "HIGH" });
	await page.getByRole("button", { name: "Save the changes" }).click();
	const dialog = page.getByRole("dialog", { name: /Somebody else/ });
	await dialog.getByRole("radio", { name: "Theirs Theirs" }).waitFor();
	expect(await dialog.getByRole("radiogroup").count()).toBe(1);
	await axe(page);
	await screenshot(page, "edit-conflict");
	await dialog.getByRole("button", { name: "Back to the form" }).click();
	const before = await use("getTask", { id: task.id });
	expect(before.task).toMatchObject({ name: "Theirs", description: null });
	await page.getByRole("button", { name: "Save the changes" }).click();
	await dialog.getByRole("radio", { name: "Yours Mine" }).check();
	await dialog.getByRole("button", { name: "Save" }).click();
	await heading(page, "Mine").waitFor();
	expect((await use("getTask", { id: task.id })).task).toMatchObject({
		name: "Mine",
		description: "Only I have changed this",
		priority: "HIGH",
	});
});

test("an error uses the words of the form and scrolls into view", async () => {
	const page = await open(admin, "people/new", {
		viewport: { width: 1280, height: 400 },
	});
	await fill(page, "Full name", { text: "Grace Hopper" });
	await fill(page, "Primary e-mail address", { text: "grace@example.com" });
	await fill(page, "Kind", { choose: "Employee" });
	await page.getByLabel("Contract start date").fill("2026-02-01");
	await page.getByLabel("Contract end date").fill("2026-01-01");
	await page.getByRole("button", { name: "Add the person" }).click();
	await page
		.getByText("Must not be before “Contract start date” (1 Feb 2026).")
		.waitFor();
	await page.getByLabel("Contract end date").fill("");
	await page.route("**/addPeople", (route) =>
		route.fulfill({
			status: 403,
			json: { error: "forbidden", message: "kind is not SERVICE_ACCOUNT" },
		}),
	);
	await page.getByRole("button", { name: "Add the person" }).focus();
	await page.evaluate("scrollTo(0, 0)");
	await page.keyboard.press("Enter");
	const alert = page.getByRole("alert");
	await alert.getByText("Not saved").waitFor();
	await alert.getByText("Kind is not “Service account”.").waitFor();
	await expect
		.poll(async () => (await alert.boundingBox())?.y)
		.toBeLessThan(400);
	await page.unroute("**/addPeople");
	await page.getByRole("button", { name: "Add the person" }).click();
	await heading(page, "Grace Hopper").waitFor();
});

test("Ctrl+Enter in a long text saves; leaving with changes asks first", async () => {
	const page = await open(admin, "task/new");
	await fill(page, "Name", { text: "Write it down" });
	await page.getByRole("link", { name: "Risks", exact: true }).click();
	const question = page.getByRole("dialog", { name: "Leave without saving?" });
	await question.waitFor();
	await axe(page);
	await question.getByRole("button", { name: "Stay here" }).click();
	await page.getByRole("textbox", { name: "Description" }).fill("In full");
	await page.keyboard.press("Control+Enter");
	await heading(page, "Write it down").waitFor();
	await page.getByRole("link", { name: "Edit", exact: true }).click();
	await fill(page, "Name", { text: "Another name" });
	await page.getByRole("button", { name: "Cancel" }).click();
	await question.getByRole("button", { name: "Leave" }).click();
	await heading(page, "Write it down").waitFor();
});

test("a rejected deletion says why and links to the records that use this one", async () => {
	const page = await open(admin, `people/${ids.ada}`);
	await page.getByRole("button", { name: "Delete", exact: true }).click();
	const dialog = page.getByRole("dialog", { name: "Delete the person?" });
	await dialog.getByRole("button", { name: "Delete the person" }).click();
	await dialog.getByText(/^The person is still used \(risks: 23\)/).waitFor();
	await axe(page);
	await dialog.getByRole("link", { name: "Risks" }).click();
	await page.waitForURL(new RegExp(`r/risk\\?owner_id=${ids.ada}`));
	await expect.poll(async () => (await names(page)()).length).toBe(20);
});

test("a person's page shows what the person owns, including devices, in one request", async () => {
	const { people: ben } = await add("addPeople", {
		full_name: "Ben",
		primary_email_address: "ben@example.com",
		kind: "EMPLOYEE",
	});
	await add("addDevice", { owner_id: ben.id });
	await add("addTask", { name: "Count", assigned_to_id: ben.id });
	await add("addMeasure", { name: "X", category: "Y", owner_id: ben.id });
	const page = await open(admin, `people/${ben.id}`);
	const asked: string[] = [];
	page.on("request", (request) => asked.push(request.url()));
	await page.reload();
	const uses = page.getByRole("region", {
		name: "Owned by this person",
	});
	await uses.getByRole("link", { name: "Devices" }).waitFor();
	expect(await uses.innerText()).toMatch(
		/Measures\s+1\s+Tasks\s+1\s+Devices\s+1$/,
	);
	await page.waitForLoadState("networkidle");
	const calls = asked.flatMap(
		(url) => /api\/console\/(\w+)/.exec(url)?.[1] ?? [],
	);
	expect(calls.filter((name) => name === "getRecordUses")).toHaveLength(1);
	// These two lists find out which records name this person, and who else has the same address.
	expect(calls.filter((name) => /^list/.test(name)).sort()).toEqual([
		"listOrganizations",
		"listPeople",
	]);
	await uses.getByRole("link", { name: "Devices" }).click();
	await page.waitForURL(new RegExp(`devices\\?owner_id=${ben.id}`));
	await page.getByText("Unnamed device").waitFor();
});

test("a long name is shown in full on its record's page", async () => {
	const name = "A supplier with a very long name ".repeat(8).trim();
	const { vendor } = await add("addVendor", { name });
	const page = await open(admin, `vendor/${vendor.id}`);
	const shown = page.locator("dd").getByText(name);
	await shown.waitFor();
	const [full, visible] = await shown.evaluate(
		({ scrollHeight, clientHeight }) => [scrollHeight, clientHeight],
	);
	expect(visible).toBe(full);
});

test("a residual risk higher than the inherent risk is questioned in the list and on its page", async () => {
	const page = await open(admin, "risk?q=grew");
	await page.getByRole("img", { name: /residual risk is higher/ }).waitFor();
	await page.getByRole("link", { name: "A risk that grew" }).click();
	await page.getByText("Please check").waitFor();
	await page
		.getByText(/residual risk is higher than the inherent risk/)
		.waitFor();
});

test("a form shows hints before it is saved", async () => {
	const page = await open(admin, "risk/new");
	await fill(page, "Inherent likelihood", { step: "2 Unlikely" });
	await fill(page, "Inherent impact", { step: "1 Negligible" });
	await fill(page, "Residual likelihood", { step: "5 Almost certain" });
	await page
		.getByText(/residual risk is higher than the inherent risk/)
		.waitFor();
	await axe(page);
	await screenshot(page, "form-hint");
	await fill(page, "Residual likelihood", { step: "1 Rare" });
	await expect.poll(() => page.getByText(/Please check/).count()).toBe(0);

	const address = { primary_email_address: "shared@example.com" };
	const person = { ...address, kind: "EMPLOYEE" };
	await add("addPeople", { full_name: "One", ...person });
	await page.goto(at("people/new"));
	await fill(page, "Primary e-mail address", { text: "Shared@example.com" });
	await page.getByText(/One has this address too/).waitFor();

	await page.goto(at("nonconformity/new"));
	await page.getByRole("button", { name: "Add the nonconformity" }).click();
	await page.getByText("Enter a short description.").waitFor();
	expect(page.url()).toMatch(/nonconformity\/new$/);
});

test("a member reads, adds and edits, and sees no action that needs an administrator", async () => {
	const page = await open(
		await served.makePerson("member"),
		`risk/${ids.theft}`,
	);
	await page.getByRole("link", { name: "Edit", exact: true }).waitFor();
	expect(await page.getByRole("button", { name: "Delete" }).count()).toBe(0);
	expect(await page.getByRole("tab", { name: "History" }).count()).toBe(0);
});

test("a viewer sees no button that would be rejected", async () => {
	const viewer = await served.makePerson("viewer");
	const page = await open(viewer, "risk");
	await page.getByRole("table").waitFor();
	for (const name of ["New risk", "Import"]) {
		expect(await page.getByRole("link", { name }).count()).toBe(0);
	}
	await axe(page);
	// A viewer who opens the address of a form sees the record instead.
	await page.goto(at(`risk/${ids.theft}?edit=true`));
	await heading(page, "Laptop theft").waitFor();
	await page.getByRole("link", { name: "Ada Lovelace" }).waitFor();
	for (const name of ["Edit", "Delete", "Link a record"]) {
		expect(await page.getByRole("link", { name }).count()).toBe(0);
		expect(await page.getByRole("button", { name }).count()).toBe(0);
	}
	await page.goto(at("risk/new"));
	await page.getByRole("heading", { name: /You cannot add records/ }).waitFor();
	await page.goto(at("audit"));
	await page
		.getByRole("heading", { name: "There are no audits yet" })
		.waitFor();
	expect(await page.getByRole("link", { name: "New audit" }).count()).toBe(0);
});

test("the address of a missing record says so", async () => {
	const page = await open(admin, `risk/${ids.ada}`);
	await heading(page, "Not found").waitFor();
	await page.goto(at("people/half-an-id"));
	await heading(page, "Not found").waitFor();
	await page.goto(at("dragon"));
	await heading(page, "Not found").waitFor();
});

test("at 375 px and in dark the pages are usable, and nothing is wider than the screen", async () => {
	const page = await open(admin, "risk", {
		viewport: { width: 375, height: 740 },
		colorScheme: "dark",
	});
	const width = () => page.evaluate("document.documentElement.scrollWidth");
	await page.getByRole("table").waitFor();
	await page.getByRole("button", { name: "Filters" }).click();
	await page.getByRole("combobox", { name: "Treatment" }).waitFor();
	await axe(page);
	expect(await width()).toBeLessThanOrEqual(375);
	for (const path of [`risk/${ids.grown}`, `risk/${ids.grown}?edit=true`]) {
		await page.goto(at(path));
		await page
			.getByRole("heading", { level: 1, name: /A risk that grew/ })
			.waitFor();
		await axe(page);
		expect(await width()).toBeLessThanOrEqual(375);
	}
});
