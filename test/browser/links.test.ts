import { afterAll, beforeAll, expect, test } from "vitest";
import { axe, screenshot, visit } from "./browser.ts";
import {
	type LinkedRegisters,
	links,
	startRegisters,
} from "./linked-registers.ts";
import { focused, pressEscape, typeInto } from "./settled.ts";

let registers: LinkedRegisters;
beforeAll(async () => {
	registers = await startRegisters();
});
afterAll(() => registers.close());

test("a record is found, linked, seen from both ends, and unlinked", async () => {
	const risk = await registers.addRisk("A laptop with customer data is stolen");
	const { people } = await registers.add("addPeople", {
		full_name: "Ruth Okafor",
		primary_email_address: "ruth@example.com",
		kind: "EMPLOYEE",
	});
	const measure = await registers.addMeasure(
		"Full disk encryption",
		"IMPLEMENTED",
		{
			owner_id: people.id,
		},
	);
	await registers.addMeasure("Screen lock after five minutes");
	const page = await registers.openPageAs(
		registers.member,
		registers.at(`risk/${risk}`),
	);
	const undo = (message: string) =>
		page
			.getByRole("alert")
			.filter({ hasText: message })
			.getByRole("button", { name: "Undo" })
			.click();
	await links(page).getByText("Nothing is linked yet.").waitFor();
	await links(page).getByRole("button", { name: "Link a record" }).click();
	const dialog = page.getByRole("dialog", { name: "Link a record" });
	// The field has the focus when the dialog opens.
	await typeInto(dialog.getByLabel("Find"), "encryption");
	await dialog.getByText("Full disk encryption").waitFor();
	await axe(page);
	await screenshot(page, "link-dialog");
	await dialog
		.getByRole("button", { name: "Link Full disk encryption" })
		.click();
	await dialog
		.getByRole("button", { name: "Full disk encryption is linked" })
		.waitFor();
	await dialog.getByLabel("Find").fill("enrcyption");
	await dialog
		.getByText("Nothing matches. These names are only similar:")
		.waitFor();
	await dialog
		.getByRole("list", { name: "Similar names" })
		.getByText("Full disk encryption")
		.waitFor();
	await axe(page);
	await dialog.getByLabel("Find").fill("five minutes");
	await dialog
		.getByRole("button", { name: "Link Screen lock after five minutes" })
		.click();
	await dialog.getByRole("button", { name: /is linked/ }).waitFor();
	await undo("“Screen lock after five minutes” is linked.");
	const again = dialog.getByRole("button", { name: "Link Screen lock" });
	await again.click();
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
	const remove = async () => {
		await links(page)
			.getByRole("button", {
				name: "Remove the link to A laptop with customer data is stolen",
			})
			.click();
		await page
			.getByRole("dialog", { name: "Remove the link?" })
			.getByRole("button", { name: "Remove the link" })
			.click();
	};
	await remove();
	await links(page).getByText("Nothing is linked yet.").waitFor();
	await undo("The link is removed.");
	await page.getByText("The records are linked again.").waitFor();
	await remove();
	await links(page).getByText("Nothing is linked yet.").waitFor();
	await page.reload();
	await links(page).getByText("Nothing is linked yet.").waitFor();
});

test("a reader who knows no word chooses a kind, sees its records, and creates a missing one in place", async () => {
	const risk = await registers.addRisk("A key is lost");
	await registers.addMeasure("Alarm in the server room");
	const page = await registers.openPageAs(
		registers.member,
		registers.at(`risk/${risk}`),
	);
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
	const risk = await registers.addRisk("A dump cannot be restored");
	const { people } = await registers.add("addPeople", {
		full_name: "Mei Tanaka",
		primary_email_address: "mei@example.com",
		kind: "EMPLOYEE",
	});
	const name = "Restore a dump";
	await registers.add("addTask", {
		name,
		state: "DONE",
		deadline: "2026-08-28",
	});
	await registers.add("addTask", { name, assigned_to_id: people.id });
	const page = await registers.openPageAs(
		registers.member,
		registers.at(`risk/${risk}`),
	);
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
	const admin = await registers.makePerson("admin");
	const risk = await registers.addRisk("Flood");
	const measure = await registers.addMeasure("A dry place");
	await registers.use("linkRecords", {
		record_id: risk,
		linked_record_id: measure,
	});
	const page = await registers.openPageAs(
		admin,
		registers.at(`risk/${risk}?tab=history`),
	);
	await page.getByText(/^Measure: A dry place$/).waitFor();
	await page.getByRole("link", { name: "A dry place" }).click();
	await page.waitForURL(`**/measure/${measure}`);
	await visit(
		page,
		`/o/${registers.organizationId}/settings/audit-log?operation=linkRecords&record_id=${risk}`,
	);
	await page.getByRole("button", { name: "Add link" }).click();
	const drawer = page.getByRole("dialog");
	await drawer.getByRole("link", { name: "A dry place" }).waitFor();
	expect(await drawer.innerText()).not.toMatch(/[{}]|object Object/);
});

test("the search for records to link can be limited to devices or to one kind", async () => {
	const risk = await registers.addRisk("Ransomware on a workstation");
	await registers.addMeasure("Workstation backups");
	const { id } = await registers.makeToken();
	await registers.use("updateDevice", { id, name: "Workstation of Ada" });
	const page = await registers.openPageAs(
		registers.member,
		registers.at(`risk/${risk}`),
	);
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
	const risk = await registers.addRisk("Seen by a viewer");
	await registers.use("linkRecords", {
		record_id: risk,
		linked_record_id: await registers.addMeasure("Seen measure"),
	});
	const page = await registers.openPageAs(
		registers.viewer,
		registers.at(`risk/${risk}`),
	);
	await links(page).getByRole("link", { name: "Seen measure" }).waitFor();
	expect(await links(page).getByRole("button").count()).toBe(0);
	await visit(page, registers.at("risk/import"));
	await page.getByText("You cannot import records").waitFor();
	expect(await page.locator("input[type=file]").count()).toBe(0);
	await axe(page);
	const { framework } = await registers.add("addFramework", { name: "Viewed" });
	await registers.addControl(framework.id, "A.5.1", "Policies");
	await visit(page, registers.at(`framework/${framework.id}`));
	const controls = page.getByRole("region", { name: "Controls" });
	await controls.getByRole("link", { name: "Policies" }).waitFor();
	expect(await controls.getByRole("link", { name: /Add a/ }).count()).toBe(0);
	expect(await controls.getByRole("button", { name: /Link/ }).count()).toBe(0);
});

test("Escape closes only the topmost dialog, and a search in one is not lost input", async () => {
	const risk = await registers.addRisk("A fire");
	const page = await registers.openPageAs(
		registers.member,
		registers.at(`risk/${risk}`),
	);
	await links(page).getByRole("button", { name: "Link a record" }).click();
	const dialog = page.getByRole("dialog", { name: "Link a record" });
	await dialog.getByRole("combobox", { name: "Among" }).click();
	await page.getByRole("option", { name: "Measures" }).click();
	await dialog.getByRole("searchbox").fill("lock");
	const create = page.getByRole("dialog", { name: "Create a measure" });
	for (const isFilled of [false, true]) {
		await dialog.getByRole("button", { name: "Create a measure" }).click();
		if (isFilled) await create.getByLabel("Name").first().fill("A lock");
		await pressEscape(create);
		if (isFilled) {
			await page.getByRole("button", { name: "Discard it" }).click();
		}
		await create.waitFor({ state: "detached" });
		await focused(dialog.getByRole("button", { name: "Create a measure" }));
	}
	await page.keyboard.press("Escape");
	await dialog.waitFor({ state: "detached" });
});
