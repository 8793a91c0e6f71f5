import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { ageRecords } from "../support/aged-records.ts";
import { callByName } from "../support/call-by-name.ts";
import { avoidMidnight } from "../support/midnight.ts";
import type { TestUser } from "../support/people.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";

const DAY_MS = 86_400_000;
const KNOWN_DAYS = 30;
const dayAgo = (days: number, now = Date.now()) =>
	new Date(now - days * DAY_MS).toISOString().slice(0, 10);
/** The day of the first kept state. It stays the same after midnight. */
let firstDay: string;

let served: TestConsole;
let viewer: TestUser;
let frameworkId: string;
beforeAll(async () => {
	served = await startConsole();
	viewer = await served.makePerson("viewer");
	const admin = await served.makePerson("admin");
	await callByName(served.database, admin, "addStarters", {
		organization_id: served.organizationId,
		framework: "nis-2",
		risks: ["phishing"],
	});
	const { frameworks } = await callByName(
		served.database,
		admin,
		"listFrameworks",
		{ organization_id: served.organizationId },
	);
	frameworkId = frameworks[0].id;
	await ageRecords(
		served.database.owner,
		served.organizationId,
		`${KNOWN_DAYS} days`,
	);
	const { rows } = await served.database.owner.query(
		"select records_known_since as since from organizations where id = $1",
		[served.organizationId],
	);
	firstDay = dayAgo(0, rows[0].since.getTime());
});
afterAll(() => served.close());

const open = (report: string, day: string) =>
	served.openPageAs(
		viewer,
		`/o/${served.organizationId}/reports/${report}?day=${day}`,
	);

test.each([
	["risk-register", "Summary"],
	["statement-of-applicability", "Summary"],
	["fleet-posture", "Active devices"],
	["nonconformities", "Summary"],
])("the report %s of a day before the first kept state says so, and leads to that day", async (report, table) => {
	const page = await open(report, "2001-02-03");
	await page.getByText(/^Nothing is known about .*2001$/).waitFor();
	await page.getByText(/^Assay keeps the past of this organ/).waitFor();
	expect(await page.getByRole("table").count()).toBe(0);
	expect(await page.getByRole("button", { name: "CSV" }).count()).toBe(0);
	await axe(page);
	await screenshot(page, `reports/${report}-too-early`);
	const day = page.getByLabel("As of the end of");
	expect(await day.getAttribute("min")).toBe(firstDay);
	await page.getByRole("link", { name: /^Show \d/ }).click();
	await page.getByRole("region", { name: table, exact: true }).waitFor();
	expect(page.url()).toContain(`day=${firstDay}`);
	await expect.poll(() => day.inputValue()).toBe(firstDay);
});

test("a report of an organization without a past day leads to the present", async () => {
	await avoidMidnight();
	const organization = await createOrganization(
		served.database.pool,
		"Founded today",
	);
	const founder = await served.makePerson("viewer", organization);
	const page = await served.openPageAs(
		founder,
		`/o/${organization}/reports/risk-register?day=${dayAgo(1)}`,
	);
	await page.getByText(/since today, so .* is the first day/).waitFor();
	await page.getByRole("link", { name: "Show the present" }).click();
	await page.getByRole("region", { name: "Summary", exact: true }).waitFor();
	expect(page.url()).not.toContain("day=");
});

test("a report of a day to come is the report of today, and says so", async () => {
	const page = await open("risk-register", dayAgo(-9));
	await page.getByRole("region", { name: "Summary", exact: true }).waitFor();
	const day = page.getByLabel("As of the end of");
	await expect.poll(() => day.inputValue()).toBe(dayAgo(0));
});

test("a report that is opened from a page of a past day shows that day", async () => {
	const at = `/o/${served.organizationId}`;
	const page = await served.openPageAs(
		viewer,
		`${at}/r/framework/${frameworkId}?as_of=${dayAgo(9)}`,
	);
	await page.getByRole("link", { name: "Statement of applicability" }).click();
	const day = page.getByLabel("As of the end of");
	await expect.poll(() => day.inputValue()).toBe(dayAgo(9));
	await page.getByRole("region", { name: "Summary", exact: true }).waitFor();
	await page.getByText("The report says which day it shows").waitFor();
	await axe(page);

	// The day that a reader chooses in the report goes first.
	await day.fill(dayAgo(5));
	await page.waitForURL(new RegExp(`day=${dayAgo(5)}`));
	await page.getByRole("link", { name: "Back to now" }).click();
	await expect.poll(() => day.inputValue()).toBe(dayAgo(0));

	await visit(page, `${at}/devices?as_of=${dayAgo(9)}`);
	await page.getByRole("heading", { name: "Devices", level: 1 }).waitFor();
	await page.keyboard.press("ControlOrMeta+k");
	const dialog = page.getByRole("dialog", { name: "Search everything" });
	const words = dialog.getByRole("combobox");
	await words.fill("fleet posture");
	await dialog.getByRole("option", { name: "Report: Fleet posture" }).click();
	await expect.poll(() => day.inputValue()).toBe(dayAgo(9));
	await page
		.getByRole("link", { name: "Reports", exact: true })
		.first()
		.click();
	await page.getByRole("link", { name: "Board summary" }).click();
	await page
		.getByText(/^This report cannot show .* shows the present/)
		.waitFor();
});
