import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findOperation } from "../../src/operations.ts";
import { callAs, type TestUser } from "../support/people.ts";
import { axe, startConsole, type TestConsole } from "./browser.ts";
import { fill, type Given, messageBeside } from "./register-form.ts";

let served: TestConsole;
let admin: TestUser;
beforeAll(async () => {
	served = await startConsole();
	admin = await served.makePerson("admin");
	await add("addFramework", { name: "ISO 27001" });
});
afterAll(() => served.close());

// biome-ignore lint/suspicious/noExplicitAny: what comes back depends on the name of the call.
async function add(name: string, input: object): Promise<any> {
	const operation = findOperation(name);
	if (!operation) throw new Error(`there is no operation ${name}`);
	const organization_id = served.organizationId;
	return callAs(served.database, admin, operation, {
		organization_id,
		...input,
	});
}

/**
 * Where axe-core looks, which takes a second or two a time: at the form with a refusal and at the record's
 * page of every kind. Lists are made by the same code; of these one for each sort of column: scores, people,
 * choices and dates, countries, numbers, addresses, lists of references, and titles that are a reference.
 * The history, which is the same for all, is looked at in register-pages.test.ts, a framework's coverage in
 * links.test.ts.
 */
const LISTS_LOOKED_AT = new Set([
	"risk",
	"vendor",
	"asset",
	"task",
	"people",
	"datum",
	"nonconformity",
]);

/** A whole life of a record, in a browser. */
const LONG_MS = 120_000;

const at = (path: string) => `/o/${served.organizationId}/r/${path}`;
const open = (person: TestUser, path: string) =>
	served.openPageAs(person, at(path));

interface Register {
	kind: string;
	noun: string;
	/** What is given of a new record: what is required, and its name. */
	given: Record<string, Given>;
	/** By what the record is found in the list. */
	title: string;
	/** A value that is refused, with what the server says about it. */
	wrong: { label: string; value?: Given; message: string };
	/** A change, and how the record's page shows it. */
	change: { label: string; value: Given; shown: string };
}

const required = (label: string) => ({ label, message: "Is required." });
const blank = (label: string) => ({
	label,
	value: { text: "  " },
	message: "Must not be empty.",
});

const registers: Register[] = [
	{
		kind: "risk",
		noun: "risk",
		given: {
			Name: { text: "A laptop is stolen" },
			Category: { text: "Security" },
			Treatment: { choose: "Mitigated" },
			"Inherent likelihood": { step: "4 Likely" },
			"Inherent impact": { step: "3 Moderate" },
		},
		title: "A laptop is stolen",
		wrong: required("Inherent impact"),
		change: {
			label: "Residual likelihood",
			value: { step: "1 Rare" },
			shown: "1 – Rare",
		},
	},
	{
		kind: "measure",
		noun: "measure",
		given: {
			Name: { text: "Disks are encrypted" },
			Category: { text: "Devices" },
		},
		title: "Disks are encrypted",
		wrong: required("Category"),
		change: {
			label: "State",
			value: { choose: "Implemented" },
			shown: "Implemented",
		},
	},
	{
		kind: "framework",
		noun: "framework",
		given: { Name: { text: "SOC 2" } },
		title: "SOC 2",
		wrong: required("Name"),
		change: { label: "Version", value: { text: "2017" }, shown: "2017" },
	},
	{
		kind: "control",
		noun: "control",
		given: {
			Name: { text: "Access is reviewed" },
			"Section title": { text: "A.5.18" },
			Framework: { pick: "ISO 27001" },
		},
		title: "Access is reviewed",
		wrong: required("Framework"),
		change: {
			label: "Description",
			value: { text: "Twice a year" },
			shown: "Twice a year",
		},
	},
	{
		kind: "vendor",
		noun: "vendor",
		given: { Name: { text: "Example Cloud" } },
		title: "Example Cloud",
		wrong: {
			label: "Website",
			value: { text: "ftp://example.com" },
			message: "Must be a web address",
		},
		change: {
			label: "Countries",
			value: { pick: "Germany" },
			shown: "Germany",
		},
	},
	{
		kind: "people",
		noun: "person",
		given: {
			"Full name": { text: "Grace Hopper" },
			Kind: { choose: "Employee" },
			"Primary e-mail address": { text: "grace@example.com" },
		},
		title: "Grace Hopper",
		wrong: {
			label: "Primary e-mail address",
			value: { text: "grace" },
			message: "Must be an e-mail address such as ada@example.com.",
		},
		change: {
			label: "Contract start date",
			value: { text: "2026-01-31" },
			shown: "31 Jan 2026",
		},
	},
	{
		kind: "nonconformity",
		noun: "nonconformity",
		given: { Description: { text: "Backups were never restored" } },
		title: "NC-001",
		wrong: blank("Reference"),
		change: { label: "Severity", value: { choose: "Major" }, shown: "Major" },
	},
	{
		kind: "obligation",
		noun: "obligation",
		given: { Requirement: { text: "Answer requests within a month" } },
		title: "Answer requests within a month",
		wrong: required("Requirement"),
		change: {
			label: "Status",
			value: { choose: "Partially compliant" },
			shown: "Partially compliant",
		},
	},
	{
		kind: "audit",
		noun: "audit",
		given: {
			Name: { text: "Certification 2026" },
			Framework: { pick: "ISO 27001" },
		},
		title: "Certification 2026",
		wrong: required("Framework"),
		change: {
			label: "State",
			value: { choose: "Completed" },
			shown: "Completed",
		},
	},
	{
		kind: "asset",
		noun: "asset",
		given: {
			Name: { text: "Projector" },
			"Asset type": { choose: "Physical" },
		},
		title: "Projector",
		wrong: {
			label: "Amount",
			value: { text: "-1" },
			message: "Must be at least 0.",
		},
		change: { label: "Amount", value: { text: "12" }, shown: "12" },
	},
	{
		kind: "datum",
		noun: "kind of data",
		given: {
			Name: { text: "Payroll" },
			"Data classification": { choose: "Confidential" },
		},
		title: "Payroll",
		wrong: required("Data classification"),
		change: {
			label: "Data classification",
			value: { choose: "Secret" },
			shown: "Secret",
		},
	},
	{
		kind: "task",
		noun: "task",
		given: { Name: { text: "Restore a backup" } },
		title: "Restore a backup",
		wrong: required("Name"),
		change: { label: "State", value: { choose: "Done" }, shown: "Done" },
	},
	{
		kind: "continual_improvement",
		noun: "continual improvement",
		given: { Description: { text: "Ask for feedback after audits" } },
		title: "CI-001",
		wrong: blank("Reference"),
		change: { label: "Source", value: { text: "Staff" }, shown: "Staff" },
	},
];

describe.each(registers)("$kind", ({
	kind,
	noun,
	given,
	title,
	wrong,
	change,
}) => {
	test(
		"a record is refused beside the field, added, listed, changed, read again and deleted",
		async () => {
			const page = await open(admin, kind);
			await page
				.getByRole("link", { name: `New ${noun}` })
				.first()
				.click();
			await page
				.getByRole("heading", { name: `New ${noun}`, level: 1 })
				.waitFor();

			const save = page.getByRole("button", { name: `Add the ${noun}` });
			for (const [label, value] of Object.entries(given)) {
				if (label !== wrong.label) await fill(page, label, value);
			}
			if (wrong.value) await fill(page, wrong.label, wrong.value);
			await save.click();
			await expect
				.poll(() => messageBeside(page, wrong.label))
				.toContain(wrong.message);
			await axe(page);

			const right = given[wrong.label];
			await fill(page, wrong.label, right ?? { text: "" });
			if (kind === "asset") await fill(page, "Amount", { text: "3" });
			await save.click();
			await page.getByRole("heading", { name: title, level: 1 }).waitFor();
			await axe(page);

			await page
				.getByRole("navigation", { name: "Where you are" })
				.getByRole("link")
				.click();
			await page.getByRole("table").waitFor();
			if (LISTS_LOOKED_AT.has(kind)) await axe(page);
			await page.getByRole("link", { name: title, exact: true }).click();

			await page.getByRole("link", { name: "Edit", exact: true }).click();
			await fill(page, change.label, change.value);
			await page.getByRole("button", { name: "Save the changes" }).click();
			await page.getByRole("heading", { name: title, level: 1 }).waitFor();
			const shown = shownAs(page, change.label);
			await expect.poll(shown).toBe(change.shown);
			await page.reload();
			await expect.poll(shown).toBe(change.shown);

			await page.getByRole("button", { name: "Delete", exact: true }).click();
			const dialog = page.getByRole("dialog", { name: `Delete the ${noun}?` });
			await dialog.getByRole("button", { name: `Delete the ${noun}` }).click();
			await page.waitForURL((url) => url.pathname === at(kind));
			await expect
				.poll(() =>
					page.getByRole("link", { name: title, exact: true }).count(),
				)
				.toBe(0);
		},
		LONG_MS,
	);
});

/** What the record's page says beside the field's name. */
const shownAs = (page: Page, label: string) => () =>
	page
		.locator("dl > div", {
			has: page.locator("dt").getByText(label, { exact: true }),
		})
		.locator("dd")
		.innerText();
