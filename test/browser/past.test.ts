import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
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
import { typeInto } from "./settled.ts";

let served: TestConsole;
let admin: TestUser;
beforeAll(async () => {
	served = await startConsole();
	admin = await served.makePerson("admin");
});
afterAll(() => served.close());

const DAY_MS = 86_400_000;
/** The moment to which `dayAgo` refers, so that midnight changes nothing during the tests. */
let now: number;
const dayAgo = (days: number) =>
	new Date(now - days * DAY_MS).toISOString().slice(0, 10);

const use = (name: string, input: object) =>
	callByName(served.database, admin, name, input);
const add = (name: string, input: object) =>
	use(name, { organization_id: served.organizationId, ...input });

/** Moves everything that is stored into the past. */
async function age(days: number) {
	const { owner } = served.database;
	const by = `interval '${days} days'`;
	await owner.query("set session_replication_role = replica");
	for (const table of [
		"risks",
		"measures",
		"people",
		"frameworks",
		"controls",
		"tasks",
	]) {
		await owner.query(
			`update ${table} set created_at = created_at - ${by}, updated_at = updated_at - ${by}`,
		);
	}
	await owner.query(`update record_links set created_at = created_at - ${by}`);
	await owner.query(`update audit_entries set at = at - ${by}`);
	await owner.query(
		`update record_versions set valid_from = valid_from - ${by}, valid_to = valid_to - ${by}`,
	);
	await owner.query(
		`update organizations set records_known_since = records_known_since - ${by}`,
	);
	await owner.query("set session_replication_role = origin");
}

const risk = (fields: object) => ({
	category: "Security",
	treatment: "MITIGATED",
	inherent_likelihood: 5,
	inherent_impact: 4,
	...fields,
});

let first: string;
let framework_id: string;
let control_id: string;
beforeAll(async () => {
	const { people: owner } = await add("addPeople", {
		organization_id: served.organizationId,
		full_name: "Ada Byron",
		primary_email_address: "ada@example.com",
		kind: "EMPLOYEE",
	});
	first = (
		await add("addRisk", risk({ name: "Theft of laptops", owner_id: owner.id }))
	).risk.id;
	const gone = (await add("addRisk", risk({ name: "Fire" }))).risk.id;
	framework_id = (await add("addFramework", { name: "ISO 27001" })).framework
		.id;
	const control = await add("addControl", {
		framework_id,
		section_title: "A.8",
		name: "Encryption",
		status: "INCLUDED",
		tested_by_checks: ["DISK_ENCRYPTION"],
	});
	control_id = control.control.id;
	const measure = await add("addMeasure", {
		name: "Encrypt disks",
		category: "Technology",
		state: "NOT_STARTED",
	});
	await use("linkRecords", {
		record_id: control_id,
		linked_record_id: measure.measure.id,
	});
	await add("addTask", {
		name: "Order locks",
		deadline: new Date(Date.now() - 40 * DAY_MS).toISOString().slice(0, 10),
	});
	await age(200);
	await use("updateMeasure", { id: measure.measure.id, state: "IMPLEMENTED" });
	await use("updateRisk", {
		id: first,
		name: "Burglary",
		residual_likelihood: 1,
	});
	await use("deleteRisk", { id: gone });
	await use("updatePeople", { id: owner.id, full_name: "Ada Lovelace" });
	await add("addRisk", risk({ name: "Flood" }));
	await age(30);
	const { rows } = await served.database.owner.query(
		"select records_known_since as since from organizations where id = $1",
		[served.organizationId],
	);
	now = rows[0].since.getTime() + 230 * DAY_MS;
});

test("the header opens a register as of a day, read-only, and the address and links keep the day", async () => {
	const page = await served.openPageAs(
		admin,
		`/o/${served.organizationId}/r/risk`,
	);
	await page.getByRole("link", { name: "Burglary" }).waitFor();
	await page.getByRole("link", { name: "Flood" }).waitFor();
	await page.getByRole("button", { name: "As of a date" }).click();
	const day = page.getByLabel("Show the end of this day");
	await day.fill(dayAgo(-3));
	await page.getByText("Choose a day before today.").waitFor();
	await day.fill(dayAgo(60));
	await page.getByRole("button", { name: "Show the past" }).click();

	await page.getByRole("link", { name: "Theft of laptops" }).waitFor();
	await page.getByRole("link", { name: "Fire" }).waitFor();
	expect(page.url()).toContain(`as_of=${dayAgo(60)}`);
	expect(await page.getByText("Burglary").count()).toBe(0);
	expect(await page.getByText("Flood").count()).toBe(0);
	const banner = page.getByRole("region", { name: "Date shown" });
	await banner.getByText("Nothing can be changed in the past").waitFor();
	for (const name of ["New risk", "Import"]) {
		expect(await page.getByRole("link", { name, exact: true }).count()).toBe(0);
	}
	await axe(page);
	await screenshot(page, "past-list");

	await page.getByRole("link", { name: "Theft of laptops" }).click();
	await page.getByRole("heading", { name: "Theft of laptops" }).waitFor();
	expect(page.url()).toContain(`as_of=${dayAgo(60)}`);
	for (const name of ["Edit", "Actions"]) {
		expect(await page.getByRole("link", { name, exact: true }).count()).toBe(0);
		expect(await page.getByRole("button", { name, exact: true }).count()).toBe(
			0,
		);
	}
	await axe(page);
	await page.reload();
	await page.getByRole("heading", { name: "Theft of laptops" }).waitFor();
	await page.getByRole("tab", { name: "History" }).click();
	const history = page.getByRole("tabpanel", { name: "History" });
	await history.getByText("Added", { exact: true }).waitFor();
	expect(await history.getByText("Changed", { exact: true }).count()).toBe(0);

	await page.getByRole("link", { name: "Assay, home" }).click();
	await page.waitForURL(`**/o/${served.organizationId}?as_of=${dayAgo(60)}`);
	await page.goBack();
	await page.getByRole("heading", { name: "Theft of laptops" }).waitFor();

	await page.getByRole("link", { name: "Back to now" }).click();
	await page.getByRole("heading", { name: "Burglary" }).waitFor();
	expect(page.url()).not.toContain("as_of");
	await history.getByText("Changed", { exact: true }).waitFor();
	await page.getByRole("link", { name: "Edit", exact: true }).waitFor();
	expect(await banner.count()).toBe(0);
});

test("a page says that the address has no past day, and shows the present", async () => {
	const page = await served.openPageAs(
		admin,
		`/o/${served.organizationId}/r/risk?as_of=2026-02-30`,
	);
	await page.getByRole("link", { name: "Burglary" }).waitFor();
	const banner = page.getByRole("region", { name: "Date shown" });
	await banner.getByText("“2026-02-30”, which is not a past day").waitFor();
	await axe(page);
	await banner.getByRole("link", { name: "Back to now" }).click();
	await expect.poll(() => banner.count()).toBe(0);
	expect(page.url()).not.toContain("as_of");
});

test("work is overdue in the past if it was overdue on that day", async () => {
	const list = `/o/${served.organizationId}/r/task?as_of=`;
	const page = await served.openPageAs(admin, `${list}${dayAgo(60)}`);
	const row = page.getByRole("row", { name: /Order locks/ });
	await row.waitFor();
	expect(await row.getByText("Overdue").count()).toBe(0);
	await visit(page, `${list}${dayAgo(20)}`);
	await row.getByText("Overdue").waitFor();
	await row.getByRole("link", { name: "Order locks" }).click();
	await page.getByText("Please check").waitFor();
	await page.getByText("It is overdue.").first().waitFor();
	expect(await page.getByText("set a new date").count()).toBe(0);
	await visit(page, `${list}${dayAgo(20)}&due=overdue`);
	await row.waitFor();
	await visit(page, `${list}${dayAgo(60)}&due=overdue`);
	await page.getByRole("heading", { name: "No tasks match" }).waitFor();
});

test("the risk matrix and the risk register report show a past day, with the names of then", async () => {
	const page = await served.openPageAs(
		admin,
		`/o/${served.organizationId}/r/risk/matrix?as_of=${dayAgo(60)}`,
	);
	await page.getByRole("region", { name: "Date shown" }).waitFor();
	const residual = page.getByRole("region", { name: "Residual risk" });
	const cell = residual.getByRole("link", { name: /^2 risks, score 20/ });
	await cell.waitFor();
	await axe(page);
	await cell.click();
	await page.getByRole("link", { name: "Theft of laptops" }).waitFor();
	expect(page.url()).toContain(`as_of=${dayAgo(60)}`);

	const report = `/o/${served.organizationId}/reports/risk-register`;
	await visit(page, `${report}?day=${dayAgo(60)}`);
	await page.getByRole("cell", { name: "Ada Byron" }).waitFor();
	await visit(page, report);
	await page.getByRole("cell", { name: "Ada Lovelace" }).waitFor();
});

test("a framework of a past day does not show the device checks of today", async () => {
	const path = `/o/${served.organizationId}/r/framework/${framework_id}`;
	const page = await served.openPageAs(admin, path);
	const checks = page.getByRole("region", { name: "Device checks" });
	await checks.getByText("Full-disk encryption").waitFor();
	await visit(page, `${path}?as_of=${dayAgo(1)}`);
	await checks.getByText("knows only the present").waitFor();
	expect(await checks.getByText("Full-disk encryption").count()).toBe(0);
	await axe(page);
	await checks.getByRole("link", { name: "Devices" }).click();
	await page.getByRole("region", { name: "Date shown" }).waitFor();
	expect(page.url()).toContain(`as_of=${dayAgo(1)}`);
});

test("a control of a past day shows how far the measures of that day covered it", async () => {
	const path = `/o/${served.organizationId}/r/control/${control_id}`;
	const page = await served.openPageAs(admin, path);
	const coverage = page.getByRole("region", { name: "Coverage" });
	await coverage.getByText("Its measure is implemented.").waitFor();
	await page.goto(`${path}?as_of=${dayAgo(60)}`);
	await coverage.getByText("Planned only").waitFor();
	await coverage.getByText("Not started").waitFor();
});

test("the search over everything finds the records of the past day, and says so", async () => {
	const page = await served.openPageAs(
		admin,
		`/o/${served.organizationId}/r/risk?as_of=${dayAgo(60)}`,
	);
	await page.getByRole("link", { name: "Theft of laptops" }).waitFor();
	await page.keyboard.press("ControlOrMeta+k");
	const dialog = page.getByRole("dialog", { name: "Search everything" });
	await dialog.getByText("Records are those of the end of").waitFor();
	const search = dialog.getByRole("combobox");
	await typeInto(search, "laptops");
	const option = dialog.getByRole("option", { name: "Theft of laptops" });
	await option.waitFor();
	expect(await dialog.getByText("Burglary").count()).toBe(0);
	await axe(page);
	await option.click();
	await page.getByRole("heading", { name: "Theft of laptops" }).waitFor();
	expect(page.url()).toContain(`as_of=${dayAgo(60)}`);

	// A page that shows the present leads to the past too.
	await visit(
		page,
		`/o/${served.organizationId}/settings/members?as_of=${dayAgo(60)}`,
	);
	await page.getByRole("heading", { name: "Members" }).waitFor();
	await page.keyboard.press("ControlOrMeta+k");
	await typeInto(search, "laptops");
	await option.waitFor();
});

test("a page that shows only the present says so and keeps the day for the others", async () => {
	const page = await served.openPageAs(
		admin,
		`/o/${served.organizationId}/settings/members?as_of=${dayAgo(60)}`,
	);
	const note = page.getByText("This page shows the present");
	await note.waitFor();
	await page.emulateMedia({ media: "print" });
	await note.waitFor({ state: "hidden" });
	await page.emulateMedia({ media: "screen" });
	await page.getByRole("link", { name: "Risks" }).click();
	await page.getByRole("link", { name: "Theft of laptops" }).waitFor();
});

test("a day before the first kept state says from when on the past is known, and leads to that day", async () => {
	const since = /^Assay keeps the past of this organization since .*\d{4}\.$/;
	const at = (path: string) =>
		`/o/${served.organizationId}${path}?as_of=2001-02-03`;
	const page = await served.openEmptyPageAs(admin);
	for (const path of ["/devices", "", "/r/risk"]) {
		await page.goto(at(path));
		await page.getByText(/^Nothing is known about .*2001$/).waitFor();
		await page.getByText(since).waitFor();
		await page.getByRole("link", { name: "Back to now" }).waitFor();
		expect(await page.getByText("must not be before").count()).toBe(0);
	}
	// All three pages show the same part of the frame.
	await axe(page);
	await screenshot(page, "past-too-early");
	await page.getByRole("link", { name: /^Show \d/ }).click();
	await page.getByRole("link", { name: "Theft of laptops" }).waitFor();
	expect(page.url()).toContain(`as_of=${dayAgo(230)}`);

	await page.getByRole("button", { name: "As of a date" }).click();
	const day = page.getByLabel("Show the end of this day");
	expect(await day.getAttribute("min")).toBe(dayAgo(230));
	await day.fill(dayAgo(231));
	await page.getByText(since).waitFor();
	const show = page.getByRole("button", { name: "Show the past" });
	expect(await show.isDisabled()).toBe(true);
	await axe(page);
	await screenshot(page, "past-dialog-too-early");
	await day.fill(dayAgo(229));
	await show.click();
	await page.waitForURL(`**as_of=${dayAgo(229)}*`);
});

test("an organization without a past day says from when on it has one", async () => {
	await avoidMidnight();
	const organization = await createOrganization(
		served.database.pool,
		"Founded today",
	);
	const founder = await served.makePerson("admin", organization);
	const page = await served.openPageAs(
		founder,
		`/o/${organization}/r/risk?as_of=${dayAgo(1)}`,
	);
	await page.getByText(/since today, so .* is the first day/).waitFor();
	await page.getByRole("link", { name: "Show the present" }).click();
	await page.getByText("There are no risks yet").waitFor();
	expect(page.url()).not.toContain("as_of");
});

test("the home page shows the risks, the coverage and the devices of a past day", async () => {
	const page = await served.openPageAs(
		admin,
		`/o/${served.organizationId}?as_of=${dayAgo(60)}`,
	);
	await page.getByRole("region", { name: "Date shown" }).waitFor();
	const risks = page.getByRole("region", { name: "Residual risks" });
	await risks.getByRole("link", { name: /^2 risks, score 20/ }).waitFor();
	const coverage = page.getByRole("region", { name: "Coverage" });
	await coverage.getByText("0 of 1 controls covered").waitFor();
	await page.getByRole("region", { name: "Fleet posture" }).waitFor();
	for (const name of ["Twelve months", "Mine"]) {
		expect(await page.getByRole("region", { name }).count()).toBe(0);
	}
	await axe(page);
	await screenshot(page, "past-home");
	await page.getByRole("link", { name: "Back to now" }).click();
	await coverage.getByText("1 of 1 controls covered").waitFor();
	await page.getByRole("region", { name: "Twelve months" }).waitFor();
});

test("the home page plots twelve months", async () => {
	const page = await served.openPageAs(admin, `/o/${served.organizationId}`);
	const months = page.getByRole("region", { name: "Twelve months" });
	await months
		.getByRole("img", { name: /^Mean residual risk: .* 20, .* 12/ })
		.waitFor();
	await months.getByRole("img", { name: /^Overdue work: / }).waitFor();
	await axe(page);
	await screenshot(page, "home-trends");
});
