import { afterAll, beforeAll, expect, test } from "vitest";
import { axe, screenshot, visit } from "./browser.ts";
import {
	heading,
	names,
	type SampleRegisters,
	startWithRisks,
} from "./sample-registers.ts";
import { settled } from "./settled.ts";

let registers: SampleRegisters;
beforeAll(async () => {
	registers = await startWithRisks();
});
afterAll(() => registers.close());

test("a rejected deletion says why and links to the records that use this one", async () => {
	const page = await registers.open(
		registers.admin,
		`people/${registers.ids.ada}`,
	);
	await page.getByRole("button", { name: "Actions" }).click();
	await page.getByRole("menuitem", { name: "Delete …" }).click();
	const dialog = page.getByRole("dialog", { name: "Delete “Ada Lovelace”?" });
	await dialog.getByRole("button", { name: "Delete the person" }).click();
	await dialog.getByText(/^The person is still used \(risks: 23\)/).waitFor();
	await axe(page);
	await dialog.getByRole("link", { name: "Risks" }).click();
	await page.waitForURL(new RegExp(`r/risk\\?owner_id=${registers.ids.ada}`));
	await expect.poll(async () => (await names(page)()).length).toBe(20);
});

test("everything that a person owns is handed over to another from the person's page", async () => {
	const add = async (full_name: string) =>
		(
			await registers.add("addPeople", {
				full_name,
				primary_email_address: `${crypto.randomUUID()}@example.com`,
				kind: "EMPLOYEE",
			})
		).people.id;
	const leaver = await add("Lea Leaver");
	const heir = await add("Henry Heir");
	const { device } = await registers.add("addDevice", { owner_id: leaver });
	const { task } = await registers.add("addTask", {
		name: "Handed over",
		assigned_to_id: leaver,
	});
	const page = await registers.open(registers.admin, `people/${leaver}`);
	await page.getByRole("button", { name: "Hand over …" }).click();
	const dialog = page.getByRole("dialog", {
		name: "Hand over to another person",
	});
	const button = dialog.getByRole("button", { name: "Hand over" });
	expect(await button.isDisabled()).toBe(true);
	await dialog.getByRole("combobox", { name: "New owner" }).fill("Henry");
	await page.getByRole("option", { name: /Henry Heir/ }).click();
	await axe(page);
	await button.click();
	await page.getByText("2 records handed over").waitFor();
	await dialog.waitFor({ state: "detached" });
	await page
		.getByRole("region", { name: "Owned by this person" })
		.waitFor({ state: "detached" });
	const now = await registers.use("getTask", { id: task.id });
	expect(now.task.assigned_to_id).toBe(heir);
	const laptop = await registers.use("getDevice", { id: device.id });
	expect(laptop.device.owner_id).toBe(heir);
	await visit(page, page.url().replace(leaver, heir));
	await page.getByRole("region", { name: "Owned by this person" }).waitFor();
});

test("after a hand over, the dialog lists what needs a decision, with links", async () => {
	const { people: leaver } = await registers.add("addPeople", {
		full_name: "Liz Leaver",
		primary_email_address: "liz@example.com",
		kind: "EMPLOYEE",
	});
	await registers.add("addPeople", {
		full_name: "Hanna Heir",
		primary_email_address: "hanna@example.com",
		kind: "EMPLOYEE",
	});
	await registers.add("addTask", { name: "Held", assigned_to_id: leaver.id });
	await registers.add("addDocument", {
		title: "Access policy",
		document_type: "POLICY",
		classification: "INTERNAL",
		approver_ids: [leaver.id],
	});
	const page = await registers.open(registers.admin, `people/${leaver.id}`);
	await page.getByRole("button", { name: "Hand over …" }).click();
	const dialog = page.getByRole("dialog", {
		name: "Hand over to another person",
	});
	await dialog.getByRole("combobox", { name: "New owner" }).fill("Hanna");
	await page.getByRole("option", { name: /Hanna Heir/ }).click();
	await dialog.getByRole("button", { name: "Hand over" }).click();
	const left = page.getByRole("dialog", { name: "What is left" });
	await left.getByText(/^Approves documents\./).waitFor();
	await axe(page);
	await screenshot(page, "registers/hand-over-left");
	await left.getByRole("link", { name: "Access policy" }).click();
	await page.getByRole("heading", { name: "Access policy" }).waitFor();
});

test("a person who owns nothing but is asked to sign can be handed over", async () => {
	const { people: signer } = await registers.add("addPeople", {
		full_name: "Sina Signer",
		primary_email_address: "sina@example.com",
		kind: "EMPLOYEE",
	});
	const { document } = await registers.add("addDocument", {
		title: "House rules",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const { document_version: version } = await registers.use(
		"createDraftDocumentVersion",
		{ document_id: document.id, content: "Lock the door." },
	);
	await registers.use("publishDocumentVersion", { id: version.id });
	await registers.use("requestDocumentVersionSignature", {
		document_version_id: version.id,
		person_ids: [signer.id],
	});
	const page = await registers.open(registers.admin, `people/${signer.id}`);
	const section = page.getByRole("region", { name: "Owned by this person" });
	await section.getByText("Documents to sign").waitFor();
	await page.getByRole("button", { name: "Hand over …" }).click();
	const left = page.getByRole("dialog", { name: "What is left" });
	await left.getByText(/^This person owns nothing/).waitFor();
	await left.getByText(/^Is asked to sign\./).waitFor();
	await axe(page);
	await screenshot(page, "registers/hand-over-nothing");
	await left.getByRole("link", { name: "House rules" }).click();
	await page.getByRole("heading", { name: "House rules" }).waitFor();
});

test("a person's page shows what the person owns, including devices, in one request", async () => {
	const { people: ben } = await registers.add("addPeople", {
		full_name: "Ben",
		primary_email_address: "ben@example.com",
		kind: "EMPLOYEE",
	});
	await registers.add("addDevice", { owner_id: ben.id });
	await registers.add("addTask", { name: "Count", assigned_to_id: ben.id });
	await registers.add("addMeasure", {
		name: "X",
		category: "Y",
		owner_id: ben.id,
	});
	for (const fields of [
		{ title: "Owned", owner_id: ben.id },
		{ title: "Approved", approver_ids: [ben.id] },
	]) {
		await registers.add("addDocument", {
			...{ document_type: "POLICY", classification: "PUBLIC" },
			...fields,
		});
	}
	const page = await registers.open(registers.admin, `people/${ben.id}`);
	// A request of the first load that is still to come would be counted below.
	await settled(page);
	const asked: string[] = [];
	page.on("request", (request) => asked.push(request.url()));
	await page.reload();
	const uses = page.getByRole("region", {
		name: "Owned by this person",
	});
	await uses.getByRole("link", { name: "Devices" }).waitFor();
	expect(await uses.innerText()).toMatch(
		/Measures\s+1\s+Tasks\s+1\s+Documents\s+1\s+Documents as approver\s+1\s+Devices\s+1$/,
	);
	await settled(page);
	const calls = asked.flatMap(
		(url) => /api\/console\/(\w+)/.exec(url)?.[1] ?? [],
	);
	expect(calls.filter((name) => name === "getRecordUses")).toHaveLength(1);
	// Two lists find out which records name this person, and who else has the same address. The
	// others are for the comments.
	expect(calls.filter((name) => /^list/.test(name)).sort()).toEqual([
		"listComments",
		"listMembers",
		"listOrganizations",
		"listPeople",
	]);
	await uses.getByRole("link", { name: "Devices" }).click();
	await page.waitForURL(new RegExp(`devices\\?owner_id=${ben.id}`));
	await page.getByText("Unnamed device").waitFor();
});

test("a long name is shown in full on its record's page", async () => {
	const name = "A supplier with a very long name ".repeat(8).trim();
	const { vendor } = await registers.add("addVendor", { name });
	const page = await registers.open(registers.admin, `vendor/${vendor.id}`);
	const shown = page.locator("dd").getByText(name);
	await shown.waitFor();
	const [full, visible] = await shown.evaluate(
		({ scrollHeight, clientHeight }) => [scrollHeight, clientHeight],
	);
	expect(visible).toBe(full);
});

test("a task is marked as done on its page, and that can be undone", async () => {
	const { task } = await registers.add("addTask", {
		name: "Renew the certificate",
		state: "IN_PROGRESS",
	});
	const page = await registers.open(registers.admin, `task/${task.id}`);
	const done = page.getByRole("button", { name: "Mark as done" });
	const status = page.getByRole("definition").filter({ hasText: /^(Done|In)/ });
	await status.getByText("In progress").waitFor();
	await axe(page);
	await done.click();
	await status.getByText("Done").waitFor();
	await done.waitFor({ state: "detached" });
	await page.getByRole("button", { name: "Undo" }).click();
	await status.getByText("In progress").waitFor();
	await done.waitFor();
});

test("a member reads, adds and edits, and sees no action that needs an administrator", async () => {
	const page = await registers.open(
		await registers.makePerson("member"),
		`risk/${registers.ids.theft}`,
	);
	await page.getByRole("link", { name: "Edit", exact: true }).waitFor();
	await page.getByRole("button", { name: "Actions" }).click();
	const menu = page.getByRole("menu");
	await menu.getByRole("menuitem", { name: "New task" }).waitFor();
	expect(await menu.getByRole("menuitem", { name: /^Delete/ }).count()).toBe(0);
	await axe(page);
	// A measure that is added from the risk's page is linked to the risk.
	await menu.getByRole("menuitem", { name: "New measure" }).click();
	await page.getByText("It will be linked to Laptop theft.").waitFor();
	await page.getByRole("textbox", { name: /^Name/ }).fill("Cable locks");
	await page.getByRole("combobox", { name: /^Category/ }).fill("Physical");
	await page.getByRole("button", { name: "Add the measure" }).click();
	await page.getByRole("heading", { name: "Cable locks", level: 1 }).waitFor();
	const links = page.getByRole("region", { name: "Linked records" });
	await links.getByRole("link", { name: "Laptop theft" }).waitFor();
});

test("a viewer reads a record's history, without the tokens and calls that only administrators see", async () => {
	const { vendor } = await registers.add("addVendor", { name: "Paper mill" });
	await registers.use("updateVendor", { id: vendor.id, name: "Paper works" });
	const page = await registers.open(
		await registers.makePerson("viewer"),
		`vendor/${vendor.id}`,
	);
	await page.getByRole("tab", { name: "History" }).click();
	const history = page.getByRole("tabpanel");
	await history.getByText("Changed", { exact: true }).waitFor();
	expect(await history.innerText()).toMatch(/Paper mill\s+Paper works/);
	await axe(page);
});

test("the history names a vendor's review and its parts in words", async () => {
	const { vendor } = await registers.add("addVendor", { name: "Slack" });
	await registers.use("addVendorReview", {
		vendor_id: vendor.id,
		outcome: "APPROVED_WITH_CONDITIONS",
		note: "Ask for the report",
	});
	const page = await registers.open(registers.admin, `vendor/${vendor.id}`);
	await page.getByRole("tab", { name: "History" }).click();
	const history = page.getByRole("tabpanel");
	await history.getByText("Reviewed", { exact: true }).first().waitFor();
	const titles = history.locator(".mantine-Timeline-itemTitle");
	expect(await titles.allInnerTexts()).toEqual(["Reviewed", "Added"]);
	expect(await history.innerText()).toMatch(
		/Note: Ask for the report\s+Outcome: Approved with conditions\s+Reviewed on: \d/,
	);
});

test("a record that did not exist on the past day shown says so", async () => {
	const { vendor } = await registers.add("addVendor", { name: "New one" });
	await registers.database.owner.query(
		"update organizations set records_known_since = '2024-01-01'",
	);
	const page = await registers.open(
		registers.admin,
		`vendor/${vendor.id}?as_of=2024-06-01`,
	);
	await page.getByText("There was no such record on 1 Jun 2024").waitFor();
});

test("the address of a missing record says so", async () => {
	const page = await registers.open(
		registers.admin,
		`risk/${registers.ids.ada}`,
	);
	await heading(page, "Not found").waitFor();
	await visit(page, registers.at("people/half-an-id"));
	await heading(page, "Not found").waitFor();
	await visit(page, registers.at("dragon"));
	await heading(page, "Not found").waitFor();
});
