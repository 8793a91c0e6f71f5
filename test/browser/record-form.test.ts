import { afterAll, beforeAll, expect, test } from "vitest";
import { callByName } from "../support/call-by-name.ts";
import { makeApiToken, type TestUser } from "../support/people.ts";
import { axe, screenshot } from "./browser.ts";
import { fill } from "./form.ts";
import {
	heading,
	type SampleRegisters,
	startWithRisks,
} from "./sample-registers.ts";
import { focused, pressEscape } from "./settled.ts";

let registers: SampleRegisters;
let other: TestUser;
beforeAll(async () => {
	registers = await startWithRisks();
	other = await registers.makePerson("member");
});
afterAll(() => registers.close());

test("saving a change sends only the fields that differ, with null for emptied ones", async () => {
	const page = await registers.open(
		registers.admin,
		`risk/${registers.ids.theft}?edit=true`,
	);
	await heading(page, "Edit Laptop theft").waitFor();
	await fill(page, "Note", { text: "" });
	await fill(page, "Residual impact", { step: "1 Negligible" });
	await page.getByText("2 × 1").waitFor();
	const sent = page.waitForRequest((request) =>
		request.url().endsWith("updateRisk"),
	);
	await page.getByRole("button", { name: "Save the changes" }).click();
	expect((await sent).postDataJSON()).toEqual({
		id: registers.ids.theft,
		note: null,
		residual_impact: 1,
		if_updated_at: expect.stringMatching(/Z$/),
	});
	await heading(page, "Laptop theft").waitFor();
	await page.getByRole("tab", { name: "History" }).click();
	await page.waitForURL(/tab=history/);
	const item = page.locator("dl > div", { hasText: "Residual impact" }).first();
	await expect
		.poll(() => item.innerText())
		.toMatch(/2 – Minor\s*1 – Negligible$/);
	await page.getByText("Changed", { exact: true }).waitFor();
	await axe(page);
	await screenshot(page, "history");
});

test("by keyboard, Edit leads to the first field, and Save and Cancel lead to the heading of the record", async () => {
	const page = await registers.open(
		registers.admin,
		`risk/${registers.ids.theft}`,
	);
	for (const name of ["Save the changes", "Cancel"]) {
		await page.getByRole("link", { name: "Edit", exact: true }).press("Enter");
		await page.locator("input:focus[data-path=name]").waitFor();
		await page.getByRole("button", { name }).press("Enter");
		await page.locator("h1:focus", { hasText: /^Laptop theft/ }).waitFor();
	}
});

test("an edit that could not be saved stays in the form, without a network and without a session", async () => {
	const person = await registers.makePerson("member");
	const page = await registers.open(
		person,
		`risk/${registers.ids.theft}?edit=true`,
	);
	await heading(page, "Edit Laptop theft").waitFor();
	await fill(page, "Note", { text: "Not to be lost" });
	const save = page.getByRole("button", { name: "Save the changes" });
	await page.context().setOffline(true);
	await save.click();
	await page.getByText("The service cannot be reached").first().waitFor();
	await page.context().setOffline(false);
	await page.context().clearCookies();
	// A request of the page may be refused before the click. Then the dialog lies over the button, so
	// the event is sent to it.
	await save.dispatchEvent("click");
	await page.getByRole("dialog", { name: "You are signed out" }).waitFor();
	await page.getByRole("button", { name: "Stay here" }).click();
	expect(await page.getByText("Not to be lost").count()).toBe(1);
});

test("an empty form asks for the required values without a request", async () => {
	const page = await registers.open(registers.admin, "risk/new");
	const calls: string[] = [];
	page.on("request", (request) => calls.push(request.url()));
	await page.getByRole("button", { name: "Add the risk" }).click();
	await page.getByText("Enter a name.").waitFor();
	for (const wanted of ["a category", "a treatment", "an inherent impact"]) {
		await page.getByText(new RegExp(`^(Enter|Choose) ${wanted}\\.$`)).waitFor();
	}
	await page.locator("input:focus[data-path=name]").waitFor();
	expect(calls.filter((url) => url.includes("addRisk"))).toEqual([]);
	await axe(page);
	// The focus leads to the next one, and its list does not cover what is wrong.
	await fill(page, "Name", { text: "A new risk" });
	await page.getByRole("button", { name: "Add the risk" }).click();
	await page.locator("input:focus[data-path=category]").waitFor();
	await expect
		.poll(() => calls.some((url) => url.includes("countRecords")))
		.toBe(true);
	expect(await page.getByRole("option").count()).toBe(0);
	await page.getByRole("combobox", { name: "Category" }).click();
	await page.getByRole("option", { name: "Security" }).waitFor();
});

test("a category is offered by its beginning, and Enter in it never submits the form", async () => {
	const page = await registers.open(registers.admin, "risk/new");
	const calls: string[] = [];
	page.on("request", (request) => calls.push(request.url()));
	await fill(page, "Name", { text: "A risk by keyboard" });
	const category = page.getByRole("combobox", { name: "Category" });
	await category.fill("Priv");
	await page.getByRole("option", { name: "Privacy" }).waitFor();
	await page.keyboard.press("ArrowDown");
	await page.keyboard.press("Enter");
	await expect.poll(() => category.inputValue()).toBe("Privacy");
	await category.fill("A word of my own");
	await page.keyboard.press("Enter");
	await page.locator("input:focus[data-path=category]").waitFor();
	expect(await page.getByText("Choose a treatment.").count()).toBe(0);
	await page.keyboard.press("Control+Enter");
	await page.getByText("Choose a treatment.").waitFor();
	expect(calls.filter((url) => url.includes("addRisk"))).toEqual([]);
});

test("Enter in an open list chooses the first match, a missing person is created in place, and neither submits the form", async () => {
	const page = await registers.open(registers.admin, "asset/new");
	await fill(page, "Name", { text: "A laptop" });
	const owner = page.getByRole("combobox", { name: "Owner" });
	await owner.fill("nobody like this");
	await page.getByText("No person matches “nobody like this”").waitFor();
	await page.keyboard.press("Enter");
	await owner.fill("love");
	await page.getByRole("option", { name: /Ada Lovelace/ }).waitFor();
	await page.keyboard.press("Enter");
	await expect.poll(() => owner.inputValue()).toBe("Ada Lovelace");
	await page.getByRole("button", { name: "Create a person" }).click();
	const dialog = page.getByRole("dialog", { name: "Create a person" });
	await dialog.getByRole("textbox", { name: "Full name" }).fill("Joan Clarke");
	await dialog
		.getByRole("textbox", { name: "E-mail address" })
		.fill("joan@example.com");
	await axe(page);
	await page.keyboard.press("Enter");
	await dialog.waitFor({ state: "hidden" });
	await expect.poll(() => owner.inputValue()).toBe("Joan Clarke");
	await page.getByRole("button", { name: "Create a vendor" }).click();
	const vendor = page.getByRole("dialog", { name: "Create a vendor" });
	await vendor.getByRole("button", { name: "Create the vendor" }).click();
	await vendor.getByText("Enter a name.").waitFor();
	await vendor.getByRole("textbox", { name: "Name" }).fill("Hosting Ltd");
	await page.keyboard.press("Enter");
	await vendor.waitFor({ state: "hidden" });
	await page
		.locator(".mantine-Pill-root")
		.filter({ hasText: "Hosting Ltd" })
		.waitFor();
	await owner.fill("love");
	await page.getByRole("option", { name: /Ada Lovelace/ }).click();
	// The typed text replaces the chosen option, which does not match it.
	await owner.fill("zzz");
	await page.getByText("No person matches “zzz”").waitFor();
	expect(await page.getByRole("option").count()).toBe(0);
	await page.keyboard.press("Escape");
	const type = page.getByRole("combobox", { name: "Asset type" });
	await type.focus();
	await page.keyboard.type("virt");
	await page
		.locator("[data-combobox-selected]", { hasText: "Virtual" })
		.waitFor();
	await page.keyboard.press("Enter");
	await expect.poll(() => type.inputValue()).toBe("Virtual");
	// The form was not submitted, so no error says that a field is missing.
	expect(page.url()).toMatch(/asset\/new$/);
	expect(await page.locator("[aria-invalid=true]").count()).toBe(0);
	await expect.poll(() => owner.inputValue()).toBe("Ada Lovelace");
});

test("if another user has changed the same field, the form asks before it saves", async () => {
	const { task } = await registers.add("addTask", {
		name: "Twice",
		priority: "LOW",
	});
	const page = await registers.open(
		registers.admin,
		`task/${task.id}?edit=true`,
	);
	await fill(page, "Name", { text: "Mine" });
	await fill(page, "Description", { text: "Only I have changed this" });
	await callByName(registers.database, other, "updateTask", {
		id: task.id,
		name: "Theirs",
		priority: "HIGH",
	});
	await page.getByRole("button", { name: "Save the changes" }).click();
	const dialog = page.getByRole("dialog", { name: /Somebody else/ });
	await dialog.getByRole("radio", { name: "Theirs Theirs" }).waitFor();
	await expect.poll(() => dialog.getByRole("radiogroup").count()).toBe(1);
	await dialog.getByText(`${other.name} has saved the task`).waitFor();
	await axe(page);
	await screenshot(page, "edit-conflict");
	await dialog.getByRole("button", { name: "Back to the form" }).click();
	const before = await registers.use("getTask", { id: task.id });
	expect(before.task).toMatchObject({ name: "Theirs", description: null });
	await page.getByRole("button", { name: "Save the changes" }).click();
	await dialog.getByRole("radio", { name: "Yours Mine" }).check();
	await dialog.getByRole("button", { name: "Save" }).click();
	await heading(page, "Mine").waitFor();
	expect((await registers.use("getTask", { id: task.id })).task).toMatchObject({
		name: "Mine",
		description: "Only I have changed this",
		priority: "HIGH",
	});
});

test("if another user saves while the form does, the form compares again and asks", async () => {
	const { task } = await registers.add("addTask", { name: "Raced" });
	const page = await registers.open(
		registers.admin,
		`task/${task.id}?edit=true`,
	);
	await fill(page, "Name", { text: "Mine" });
	// The form has read the latest record by now, and its update is on the way.
	await page.route(
		"**/api/console/updateTask",
		async (route) => {
			const theirs = { id: task.id, name: "Theirs" };
			await callByName(registers.database, other, "updateTask", theirs);
			await route.continue();
		},
		{ times: 1 },
	);
	await page.getByRole("button", { name: "Save the changes" }).click();
	const dialog = page.getByRole("dialog", { name: /Somebody else/ });
	await dialog.getByRole("radio", { name: "Theirs Theirs" }).waitFor();
	expect((await registers.use("getTask", { id: task.id })).task.name).toBe(
		"Theirs",
	);
	await dialog.getByRole("radio", { name: "Yours Mine" }).check();
	await dialog.getByRole("button", { name: "Save" }).click();
	await heading(page, "Mine").waitFor();
});

test("a change that the same user made in another window or with a token is not said to be somebody else's", async () => {
	const { task } = await registers.add("addTask", { name: "Open twice" });
	const edit = `task/${task.id}?edit=true`;
	const page = await registers.open(registers.admin, `task/${task.id}`);
	await page.getByRole("link", { name: "Edit", exact: true }).click();
	await fill(page, "Name", { text: "Typed here" });
	const second = await registers.open(registers.admin, edit);
	await fill(second, "Name", { text: "Typed there" });
	const saveIn = (one: typeof page) =>
		one.getByRole("button", { name: "Save the changes" }).click();
	await saveIn(second);
	await heading(second, "Typed there").waitFor();
	await saveIn(page);
	const dialog = page.getByRole("dialog", {
		name: "You changed this in another window",
	});
	await dialog.getByText("You saved other values after you").waitFor();
	expect(await dialog.getByText(registers.admin.name).count()).toBe(0);
	await axe(page);
	await screenshot(page, "edit-conflict-own");
	// The input is still unsaved, so leaving asks. Escape closes only the question.
	await page.evaluate("history.back()");
	const question = page.getByRole("dialog", { name: "Leave without saving?" });
	await pressEscape(question);
	await question.waitFor({ state: "detached" });
	// No request runs, so Escape leads back to the form.
	await page.keyboard.press("Escape");
	await dialog.waitFor({ state: "detached" });
	await saveIn(page);
	await dialog.getByRole("radio", { name: "Here Typed here" }).check();
	await dialog.getByRole("button", { name: "Save" }).click();
	await heading(page, "Typed here").waitFor();

	await second.goto(registers.at(edit));
	await fill(second, "Name", { text: "Typed there" });
	const { token } = await makeApiToken(registers.database, registers.admin);
	await fetch(`${registers.service.url}/api/mcp/tools/updateTask`, {
		method: "POST",
		headers: { authorization: `Bearer ${token}` },
		body: JSON.stringify({ id: task.id, name: "By a program" }),
	});
	await saveIn(second);
	await second
		.getByRole("dialog", { name: "You changed this with an API token" })
		.getByRole("radio", { name: "Saved By a program" })
		.waitFor();
});

test("an error uses the words of the form and scrolls into view", async () => {
	const page = await registers.open(registers.admin, "people/new", {
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
	const page = await registers.open(registers.admin, "task/new");
	await fill(page, "Name", { text: "Write it down" });
	await page.getByRole("link", { name: "Risks", exact: true }).click();
	const question = page.getByRole("dialog", { name: "Leave without saving?" });
	await question.waitFor();
	await axe(page);
	await question.getByRole("button", { name: "Stay here" }).click();
	await question.waitFor({ state: "detached" });
	// The field that had the focus before the question gets it back.
	await focused(page.getByRole("textbox", { name: "Name" }));
	const description = page.getByRole("textbox", { name: "Description" });
	await description.fill("In full");
	await description.press("Control+Enter");
	await heading(page, "Write it down").waitFor();
	await page.getByRole("link", { name: "Edit", exact: true }).click();
	await fill(page, "Name", { text: "Another name" });
	await page.getByRole("button", { name: "Cancel" }).click();
	await question.getByRole("button", { name: "Leave" }).click();
	await heading(page, "Write it down").waitFor();
});

test("a form shows hints before it is saved", async () => {
	const page = await registers.open(registers.admin, "risk/new");
	await fill(page, "Inherent likelihood", { step: "2 Unlikely" });
	await fill(page, "Inherent impact", { step: "1 Negligible" });
	await fill(page, "Residual likelihood", { step: "5 Almost certain" });
	const higher = page
		.getByRole("region", { name: "Residual risk, after treatment" })
		.getByText(/residual risk is higher than the inherent risk/);
	await higher.waitFor();
	// The sentence stands beside the score, and not a second time at the end of the form.
	expect(await page.getByText(/Please check/).count()).toBe(0);
	await axe(page);
	await screenshot(page, "form-hint");
	await fill(page, "Residual likelihood", { step: "1 Rare" });
	await expect.poll(() => higher.count()).toBe(0);

	const address = { primary_email_address: "shared@example.com" };
	const person = { ...address, kind: "EMPLOYEE" };
	await registers.add("addPeople", { full_name: "One", ...person });
	await page.goto(registers.at("people/new"));
	await fill(page, "Primary e-mail address", { text: "Shared@example.com" });
	await page.getByText(/One has this address too/).waitFor();

	await page.goto(registers.at("nonconformity/new"));
	const description = page.getByRole("textbox", { name: "Description" });
	await description.waitFor();
	expect(await description.getAttribute("required")).not.toBeNull();
	await screenshot(page, "form-description");
	await page.getByRole("button", { name: "Add the nonconformity" }).click();
	await page.getByText("Enter a short description.").waitFor();
	expect(page.url()).toMatch(/nonconformity\/new$/);
});

test("a date that is only partly filled in is rejected and not saved as empty", async () => {
	const page = await registers.open(registers.admin, "task/new");
	await fill(page, "Name", { text: "Half a date" });
	await page.getByLabel("Due date").focus();
	await page.keyboard.type("12");
	await page.getByRole("button", { name: "Add the task" }).click();
	await page.getByText("Complete the date or clear it.").waitFor();
	expect(page.url()).toMatch(/task\/new$/);
	await page.getByLabel("Due date").fill("2026-01-31");
	await page.getByRole("button", { name: "Add the task" }).click();
	await heading(page, "Half a date").waitFor();
	await page.getByText("31 Jan 2026").waitFor();
});
