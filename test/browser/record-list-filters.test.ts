import { afterAll, beforeAll, expect, test } from "vitest";
import { toJsonSchema } from "../../src/mcp/json-schema.ts";
import { recordKinds } from "../../src/registers/all.ts";
import { axe, row, screenshot, visit } from "./browser.ts";
import { expectWholeFilters } from "./filters.ts";
import {
	names,
	type SampleRegisters,
	startWithRisks,
} from "./sample-registers.ts";

let registers: SampleRegisters;
beforeAll(async () => {
	registers = await startWithRisks();
});
afterAll(() => registers.close());

test("every filter shows its whole label and its longest value, on a phone and on larger screens", async () => {
	const page = await registers.open(registers.admin, "risk?q=theft");
	for (const kind of recordKinds.filter(({ filters }) => filters.length > 0)) {
		await visit(page, registers.at(`${kind.kind}?q=theft`));
		await expectWholeFilters(page);
		const chosen = new URLSearchParams(longestIn(kind));
		if (chosen.size === 0) continue;
		await visit(page, registers.at(`${kind.kind}?${chosen}`));
		await expectWholeFilters(page);
	}
}, 240_000);

test("at 1280 px, filters show their whole label, and the table stays in its place when they are set", async () => {
	const page = await registers.open(registers.admin, "risk", {
		viewport: { width: 1280, height: 900 },
	});
	const topOf = async (address: string) => {
		await visit(page, registers.at(address));
		const box = await page.getByRole("search").boundingBox();
		return box && box.y + box.height;
	};
	for (const kind of recordKinds.filter(({ filters }) => filters.length > 0)) {
		const bottom = await topOf(`${kind.kind}?q=theft`);
		await expectWholeFilters(page, [1280]);
		const chosen = longestIn(kind);
		expect(await topOf(`${kind.kind}?${chosen}`), kind.kind).toBe(bottom);
	}
}, 120_000);

test("at 1280 px, a filter without a control leaves all controls in their places", async () => {
	const page = await registers.open(registers.admin, "document", {
		viewport: { width: 1280, height: 900 },
	});
	const placesOf = async (address: string) => {
		await visit(page, registers.at(address));
		const boxes = [
			page.getByRole("searchbox", { name: "Search documents" }),
			page.getByRole("button", { name: "Columns", exact: true }),
			page.getByRole("button", { name: "Clear filters" }),
		].map(async (control) => (await control.boundingBox())?.y);
		return Promise.all(boxes);
	};
	const [line] = await placesOf("document?q=theft");
	for (const filter of [
		"lacks_signatures=true",
		"next_review_on_until=2030-01-31",
	]) {
		const places = await placesOf(`document?${filter}`);
		expect(places, filter).toEqual([line, line, line]);
	}
	await axe(page);
	await screenshot(page, "documents-1280-chip");
});

/** Returns the parameters of the address that set the filters of a register to their longest values. */
function longestIn({ kind, fields, filters }: (typeof recordKinds)[number]) {
	const chosen: string[][] = [];
	for (const [name, { input, given }] of Object.entries(fields)) {
		const { enum: values = [] } = toJsonSchema(input, "input") as {
			enum?: (string | null)[];
		};
		const [longest] = values
			.filter((value) => value !== null)
			.toSorted((a, b) => b.length - a.length);
		if (!filters.includes(name)) continue;
		if (longest) chosen.push([name, longest]);
		if (name === "owner_id" && given === "optional") {
			chosen.push([name, "null"]);
		}
	}
	if (kind === "risk") chosen.push(["min_residual_risk_score", "20"]);
	if (kind === "task") chosen.push(["due", "90d"]);
	return chosen;
}

test("scores are filtered by band, owners by search, and records without an owner by their own option", async () => {
	const page = await registers.open(registers.admin, "risk");
	await page.getByRole("combobox", { name: "Residual risk" }).click();
	await page.getByRole("option", { name: "Critical (15 to 25)" }).click();
	await expect.poll(names(page)).toEqual(["A risk that grew"]);
	expect(page.url()).toContain("min_residual_risk_score=15");
	await page.getByRole("button", { name: "Clear filters" }).click();
	await page.getByRole("combobox", { name: "Owner" }).click();
	const unassigned = page.getByRole("option", { name: "Unassigned" });
	await unassigned.waitFor();
	await screenshot(page, "record-list-owners");
	// The list is wider than the field, so that it shows whole names.
	await expect
		.poll(async () => (await unassigned.boundingBox())?.width)
		.toBeGreaterThan(250);
	await unassigned.click();
	await expect.poll(names(page)).toEqual(["A risk that grew"]);
	await page.getByRole("combobox", { name: "Owner" }).fill("lovelace");
	await page.getByRole("option", { name: "Ada Lovelace" }).click();
	await page.waitForURL(new RegExp(registers.ids.ada));
	await expect.poll(async () => (await names(page)()).length).toBe(20);
	await axe(page);
});

test("a range whose end is before its beginning is an error that names the filter, and the reader can correct it", async () => {
	const page = await registers.open(
		registers.admin,
		"task?due_from=2026-07-01&due_until=2026-06-30",
	);
	const alert = page.getByRole("alert");
	await alert.getByText("must not be before due_from").waitFor();
	await page
		.getByRole("button", { name: "Show the list without filters" })
		.click();
	await expect.poll(() => alert.count()).toBe(0);
	expect(page.url()).not.toContain("due_");

	const log = `/o/${registers.organizationId}/settings/audit-log`;
	await visit(page, log);
	await page.getByRole("button", { name: "More filters" }).click();
	await page.getByLabel("From", { exact: true }).fill("2020-03-02");
	await page.getByLabel("Until").fill("2020-02-29");
	await alert
		.getByText("The filter “Until” must not be before from.")
		.waitFor();
	await page.getByLabel("Until").fill("2020-03-02");
	await page.getByRole("heading", { name: "No entry matches" }).waitFor();
});

test("a list of people says how many it leaves out", async () => {
	for (let number = 11; number <= 37; number++) {
		await registers.add("addPeople", {
			full_name: `Person ${number}`,
			primary_email_address: `p${number}@example.com`,
			kind: "EMPLOYEE",
		});
	}
	const page = await registers.open(registers.admin, "risk");
	const owner = page.getByRole("combobox", { name: "Owner" });
	await owner.click();
	const more = page.getByRole("option", { name: "8 more: type to search" });
	await more.waitFor();
	const options = page.getByRole("option");
	expect((await options.allInnerTexts()).at(-1)).toMatch(/^8 more/);
	expect(await more.getAttribute("aria-disabled")).toBe("true");
	const opacity =
		"getComputedStyle(document.querySelector('[data-combobox-disabled]')).opacity";
	expect(await page.evaluate(opacity)).toBe("1");
	await more.scrollIntoViewIfNeeded();
	await axe(page, "contrast");
	await screenshot(page, "record-list-many-owners");
	await owner.fill("person");
	await page
		.getByRole("option", { name: "7 more: type more letters" })
		.waitFor();
	await owner.fill("person 37");
	await page.getByRole("option", { name: /^Person 36/ }).waitFor({
		state: "hidden",
	});
	await page.getByRole("option", { name: /^Person 37/ }).waitFor();
	expect(await page.getByRole("option", { name: /more:/ }).count()).toBe(0);
});

test("overdue tasks that are not done are found and marked", async () => {
	await registers.add("addTask", {
		name: "Long overdue",
		deadline: "2024-02-29",
	});
	await registers.add("addTask", {
		name: "Done in time",
		deadline: "2024-02-29",
		state: "DONE",
	});
	await registers.add("addTask", { name: "Far away", deadline: "2100-01-01" });
	const page = await registers.open(registers.admin, "task");
	await page.getByRole("combobox", { name: "Due date" }).click();
	await page.getByRole("option", { name: "Overdue" }).click();
	await expect.poll(names(page)).toEqual(["Long overdue"]);
	// A bookmark must be right tomorrow too, so the address contains no date.
	expect(new URL(page.url()).searchParams.get("due")).toBe("overdue");
	await page.getByRole("button", { name: /It is overdue/ }).waitFor();
	await row(page, "Long overdue").getByText("Overdue, ").waitFor();
	await axe(page);
	// A range that is not one of the usual ones is shown with its dates.
	await visit(page, registers.at("task?due_from=2099-01-01"));
	await expect.poll(names(page)).toEqual(["Far away"]);
	const due = page.getByRole("combobox", { name: "Due date" });
	await expect.poll(() => due.inputValue()).toBe("from 1 Jan 2099");
});

test("a filter that is set shows the name of its field beside the value", async () => {
	const page = await registers.open(registers.admin, "task?due=overdue");
	const nameOn = (label: string) =>
		page.evaluate(
			`getComputedStyle(document.querySelector("[aria-label='${label}']").parentElement, "::before").content`,
		);
	await page.getByRole("combobox", { name: "Due date" }).waitFor();
	expect(await nameOn("Due date")).toBe('"Due date"');
	expect(await nameOn("Status")).toBe("none");
	await screenshot(page, "registers/named-filter");
});
