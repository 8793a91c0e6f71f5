import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { ageRecords } from "../support/aged-records.ts";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";

const DAY_MS = 86_400_000;
const KNOWN_DAYS = 30;
const dayAgo = (days: number) =>
	new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

let served: TestConsole;
let viewer: TestUser;
beforeAll(async () => {
	served = await startConsole();
	viewer = await served.makePerson("viewer");
	const admin = await served.makePerson("admin");
	await callByName(served.database, admin, "addStarters", {
		organization_id: served.organizationId,
		framework: "nis-2",
		risks: ["phishing"],
	});
	await ageRecords(
		served.database.owner,
		served.organizationId,
		`${KNOWN_DAYS} days`,
	);
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
	expect(await day.getAttribute("min")).toBe(dayAgo(KNOWN_DAYS));
	await page.getByRole("link", { name: /^Show \d/ }).click();
	await page.getByRole("region", { name: table, exact: true }).waitFor();
	expect(page.url()).toContain(`day=${dayAgo(KNOWN_DAYS)}`);
	expect(await day.inputValue()).toBe(dayAgo(KNOWN_DAYS));
});

test("a report of an organization without a past day leads to the present", async () => {
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
	expect(await day.inputValue()).toBe(dayAgo(0));
});
