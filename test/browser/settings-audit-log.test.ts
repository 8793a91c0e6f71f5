import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callByName } from "../support/call-by-name.ts";
import { makeApiToken, type TestUser } from "../support/people.ts";
import type { Json } from "../support/tools.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { expectWholeFilters } from "./filters.ts";
import { fleetOf } from "./fleet.ts";

let served: TestConsole;
let admin: TestUser;
let riskId: string;
let trainingId: string;
let tokenId: string;

beforeAll(async () => {
	served = await startConsole();
	admin = await served.makePerson("admin");
	const { id, token } = await makeApiToken(served.database, admin, {
		name: "Claude Code",
	});
	tokenId = id;
	const use = async (tool: string, input: object) => {
		const answer = await fetch(`${served.service.url}/api/mcp/tools/${tool}`, {
			method: "POST",
			body: JSON.stringify(input),
			headers: { authorization: `Bearer ${token}` },
		});
		if (answer.status !== 200) throw new Error(await answer.text());
		return (await answer.json()) as Json;
	};
	const organization_id = served.organizationId;
	const { people } = await use("addPeople", {
		organization_id,
		full_name: "Ada Lovelace",
		primary_email_address: "ada@example.com",
		kind: "EMPLOYEE",
	});
	const { risk } = await use("addRisk", {
		organization_id,
		name: "Phishing",
		category: "Human",
		treatment: "ACCEPTED",
		inherent_likelihood: 4,
		inherent_impact: 4,
	});
	riskId = risk.id;
	await use("updateRisk", {
		id: riskId,
		treatment: "MITIGATED",
		owner_id: people.id,
		residual_likelihood: 2,
		note: "Everybody is trained once a year.\nThe mail server marks what comes from outside.",
	});
	for (const second of ["b@example.com", "c@example.com"]) {
		await use("updatePeople", {
			id: people.id,
			additional_email_addresses: ["a@example.com", second],
		});
	}
	for (let number = 1; number <= 20; number++) {
		await use("addVendor", { organization_id, name: `Vendor ${number}` });
	}
	const { vendors } = await use("listVendors", { organization_id, size: 1 });
	await use("deleteVendor", { id: vendors[0].id });
	const ids: string[] = [];
	for (const name of ["Training", "Drill"]) {
		const { measure } = await use("addMeasure", {
			organization_id,
			name,
			category: "People",
		});
		ids.push(measure.id);
	}
	const [record_id, linked_record_id] = ids;
	await use("linkRecords", { record_id, linked_record_id });
	await use("deleteMeasure", { id: linked_record_id });
	trainingId = String(record_id);
	await served.activateDevice();
});
afterAll(() => served.close());

const path = (query = "") =>
	`/o/${served.organizationId}/settings/audit-log${query}`;
const rows = (page: Page) => page.getByRole("row").filter({ hasText: /\d{4}/ });

async function chooseFilter(page: Page, label: string, option: string) {
	await page.getByRole("combobox", { name: label, exact: true }).click();
	await page.getByRole("option", { name: option, exact: true }).click();
}

test("an entry shows who changed what, before and after, in the words of the register", async () => {
	const page = await served.openPageAs(admin, path("?operation=updateRisk"));
	await page.getByRole("button", { name: "Update risk" }).click();
	const entry = page.getByRole("dialog", { name: /Update risk/ });
	const cells = (field: string) =>
		entry
			.getByRole("row", { name: new RegExp(`^${field}`) })
			.getByRole("cell")
			.allInnerTexts();
	await expect
		.poll(() => cells("Treatment"))
		.toEqual(["Accepted", "Mitigated"]);
	await expect.poll(() => cells("Owner")).toEqual(["–", "Ada Lovelace"]);
	await expect
		.poll(() => cells("Residual likelihood"))
		.toEqual([expect.stringMatching(/^4/), expect.stringMatching(/^2/)]);
	await entry.getByText("API token: Claude Code").waitFor();
	// The address contains the opened entry, so the entry is found even when newer entries have come
	// before it.
	const shared = page.url();
	await visit(page, path("?size=50"));
	await page.goto(
		shared.replace("operation=updateRisk", "operation=addVendor"),
	);
	await entry.getByRole("row", { name: /^Treatment/ }).waitFor();
	await page.goto(shared);
	await entry.getByText("Ada Lovelace").waitFor();
	await expect
		.poll(() => entry.getByRole("time").first().innerText())
		.toMatch(/:\d\d (CES?T|GMT\+\d)$/);
	await expect.poll(() => cells("Owner")).toEqual(["–", "Ada Lovelace"]);
	await screenshot(page, "audit-entry");
	await axe(page);
	await entry
		.getByRole("button", { name: "All entries about this record" })
		.click();
	await page.getByRole("button", { name: "Add risk" }).waitFor();
	await expect.poll(() => rows(page).count()).toBe(2);
	expect(page.url()).toContain(`record_id=${riskId}`);
	await page.getByRole("link", { name: "Phishing" }).first().click();
	await page.waitForURL(`**/r/risk/${riskId}`);
	await page.goBack();
	await page.reload();
	await expect.poll(() => rows(page).count()).toBe(2);
	await page
		.getByRole("button", { name: "Remove the filter: Record: Phishing" })
		.click();
	await page.getByRole("button", { name: "Add vendor" }).first().waitFor();
});

test("of a list that was changed, an entry shows only what was added and removed", async () => {
	const page = await served.openPageAs(admin, path("?operation=updatePeople"));
	await page.getByRole("button", { name: "Update person" }).first().click();
	const row = page.getByRole("dialog").getByRole("row", { name: /unchanged/ });
	await expect
		.poll(() => row.getByRole("cell").allInnerTexts())
		.toEqual(["b@example.com", "c@example.com"]);
	await row.getByText("1 unchanged").waitFor();
	await screenshot(page, "audit-entry-list");
});

test("fields, actions and values have the words of the forms, and the footer links to the help", async () => {
	const { page, at, organization, person } = await fleetOf(served).start(
		"admin",
		async () => undefined,
	);
	const use = (tool: string, input: object) =>
		callByName(served.database, person, tool, {
			organization_id: organization,
			...input,
		});
	await use("updateDevicePolicy", {
		max_lock_delay_seconds: 600,
		checks: [{ check_key: "DISK_ENCRYPTION", grace_days: 5 }],
	});
	await use("addEnrollmentKey", { name: "Intune", max_devices: 40 });
	await visit(page, at("/settings/audit-log"));
	await rows(page)
		.filter({ hasText: "Add enrollment key" })
		.getByText(/Maximum number of devices/)
		.waitFor();
	await page.getByRole("button", { name: "Update device policy" }).click();
	const entry = page.getByRole("dialog", { name: /Update device policy/ });
	for (const [field, before, after] of [
		["Screen locks after at most", "15 minutes", "10 minutes"],
		["Full-disk encryption: days of grace", "3", "5"],
	]) {
		const row = entry.getByRole("row", { name: new RegExp(`^${field}`) });
		await expect
			.poll(() => row.getByRole("cell").allInnerTexts())
			.toEqual([before, after]);
	}
	await screenshot(page, "audit-entry-policy");
	await entry.getByRole("button", { name: "Close" }).click();
	await entry.waitFor({ state: "hidden" });
	await page
		.getByRole("link", { name: "anybody can check without Assay" })
		.click();
	await page.waitForURL("**/help/audit-log#export-the-log");
	await page.getByRole("heading", { name: "Export the log" }).waitFor();
});

test("a link that went with a record is called a removed link between the two, not the record's deletion", async () => {
	const page = await served.openPageAs(
		admin,
		path(`?operation=deleteMeasure&record_id=${trainingId}`),
	);
	const row = rows(page);
	await row.getByText("Drill").waitFor();
	expect(await row.count()).toBe(1);
	expect(await row.innerText()).toMatch(
		/Remove link\s+Measure\s+Training\s+and measure\s+Drill/,
	);
	expect(await row.innerText()).not.toContain("Delete measure");
	await row.getByRole("link", { name: "Training" }).waitFor();
	await row.getByRole("button", { name: "Remove link" }).click();
	const entry = page.getByRole("dialog", { name: /^Remove link/ });
	await entry.getByText("Delete measure").waitFor();
	await axe(page);
	await screenshot(page, "audit-link-removed");
	await visit(page, path(`?operation=linkRecords&record_id=${trainingId}`));
	await row.getByRole("button", { name: "Add link" }).waitFor();
});

test("every filter of the log shows its whole value", async () => {
	const page = await served.openPageAs(admin, path());
	await rows(page).first().waitFor();
	await expectWholeFilters(page);
	const chosen = new URLSearchParams({
		actor_id: admin.id,
		operation: "deleteContinualImprovement",
		record_kind: "continual_improvement",
		actor_kind: "TOKEN",
		outcome: "REFUSED",
		from: "2026-01-01T00:00:00.000Z",
	});
	await visit(page, path(`?${chosen}`));
	await expectWholeFilters(page);
});

test("the address contains the page of the log, and a deleted record has no link", async () => {
	const page = await served.openPageAs(admin, path("?record_kind=vendor"));
	await page.getByRole("button", { name: "Delete vendor" }).waitFor();
	const gone = page.getByRole("row").filter({ hasText: "Delete vendor" });
	expect(await gone.getByRole("link").count()).toBe(0);
	await expect.poll(() => rows(page).count()).toBe(20);
	await page.getByRole("button", { name: "Next page" }).click();
	await page.getByText("Vendor 1", { exact: true }).waitFor();
	await expect.poll(() => rows(page).count()).toBe(1);
	await page.reload();
	await page.getByText("Vendor 1", { exact: true }).waitFor();
	await page.goBack();
	await page.getByRole("button", { name: "Delete vendor" }).waitFor();
});

test("the log is filtered by kind of actor, action, kind of record, outcome and time", async () => {
	const viewer = await served.openEmptyPageAs(
		await served.makePerson("viewer"),
	);
	const refused = await viewer.request.post("/api/console/addRisk", {
		data: { organization_id: served.organizationId },
		headers: { origin: served.service.url },
	});
	expect(refused.status()).toBe(403);
	const page = await served.openPageAs(admin, path());
	await rows(page).first().waitFor();
	await screenshot(page, "audit-log");
	await axe(page);

	await page.setViewportSize({ width: 1280, height: 800 });
	await expect
		.poll(async () => (await page.getByRole("search").boundingBox())?.height)
		.toBeLessThan(48);
	await page.getByRole("button", { name: "More filters" }).click();
	await chooseFilter(page, "Kind of actor", "Agent");
	await page.getByRole("button", { name: "Enroll device" }).waitFor();
	await expect.poll(() => page.getByText("API token:").count()).toBe(0);
	await page
		.getByRole("button", { name: "Clear Kind of actor" })
		.press("Enter");
	await chooseFilter(page, "Outcome", "Denied");
	await page.getByRole("button", { name: "Add risk" }).click();
	await page.getByText("Nothing changed: the role did not allow it.").waitFor();
	await page.getByRole("button", { name: "Close" }).click();
	await page.getByRole("button", { name: "Clear filters" }).click();
	await chooseFilter(page, "Kind of record", "Risk");
	await chooseFilter(page, "Action", "Add risk");
	await expect.poll(() => rows(page).count()).toBe(1);
	await chooseFilter(page, "Actor", admin.name);
	await expect.poll(() => page.url()).toContain(`actor_id=${admin.id}`);
	await page.getByLabel("Until").fill("2020-02-29");
	await page.getByRole("heading", { name: "No entry matches" }).waitFor();
	// The time is the end of the day in the organization's time zone, which is UTC.
	expect(decodeURIComponent(page.url())).toContain(
		"until=2020-03-01T00:00:00.000Z",
	);
	await screenshot(page, "audit-log-none");
	await page.reload();
	await page.getByRole("heading", { name: "No entry matches" }).waitFor();
	// A filter that is set is shown, although the others of its kind are behind the button.
	await expect
		.poll(() => page.getByLabel("Until").inputValue())
		.toBe("2020-02-29");
	expect(await page.getByLabel("From", { exact: true }).count()).toBe(0);
	await page.getByRole("button", { name: "Show all entries" }).click();
	await page.getByRole("button", { name: "Delete vendor" }).waitFor();
	await visit(page, path(`?token_id=${tokenId}`));
	await page
		.getByRole("button", {
			name: "Remove the filter: Token: Claude Code",
		})
		.waitFor();
});

test.each([
	["dark", { colorScheme: "dark" }],
	["375", { viewport: { width: 375, height: 740 } }],
] as const)("%s: the log and an entry are readable, and nothing is wider than the screen", async (name, options) => {
	const page = await served.openPageAs(admin, path(), options);
	await rows(page).first().waitFor();
	await screenshot(page, `audit-log-${name}`);
	const [width, limit] = (await page.evaluate(
		"[document.documentElement.scrollWidth, window.innerWidth]",
	)) as [number, number];
	expect(width).toBeLessThanOrEqual(limit);
	await visit(page, path("?operation=updateRisk"));
	await page.getByRole("button", { name: "Update risk" }).click();
	await page.getByText("Mitigated").last().waitFor();
	await screenshot(page, `audit-entry-${name}`);
	if (name === "dark") await axe(page);
});

test("a user who is not an administrator sees why the log is not shown, and the page sends no request", async () => {
	const page = await served.openEmptyPageAs(await served.makePerson("viewer"));
	const asked: string[] = [];
	page.on("request", (request) => asked.push(request.url()));
	await page.goto(path());
	await page
		.getByRole("heading", {
			name: "You cannot read the audit log",
		})
		.waitFor();
	const hint = page.getByText(
		/^Administrators and auditors read the audit log/,
	);
	await hint.waitFor();
	expect(asked.filter((url) => url.includes("listAuditLog"))).toEqual([]);
	const settings = `/o/${served.organizationId}/settings/organization`;
	await visit(page, settings);
	const section = page.getByRole("region", { name: "Audit log" });
	await section.getByText(/has the box “May read the audit log”/).waitFor();
	await screenshot(page, "audit-log-hint");
	await axe(page);
	const reader = await served.openPageAs(admin, settings);
	await reader.getByRole("region", { name: "Time zone" }).waitFor();
	expect(await reader.getByRole("region", { name: "Audit log" }).count()).toBe(
		0,
	);
});

test("an entry calls the tools of a token and the order of a group's policy like the forms", async () => {
	const { organizationId: organization_id, database } = served;
	const use = (name: string, input: object) =>
		callByName(database, admin, name, input);
	await use("createApiToken", { name: "Reader", toolsets: ["risks"] });
	const { device_group } = await use("addDeviceGroup", {
		organization_id,
		name: "Laptops",
	});
	await use("setDeviceGroupPolicy", {
		group_id: device_group.id,
		max_silence_days: 9,
	});
	const page = await served.openPageAs(
		admin,
		path("?operation=createApiToken"),
	);
	const entryNames = async (button: RegExp, field: string) => {
		await rows(page).getByRole("button", { name: button }).first().click();
		const entry = page.getByRole("dialog");
		await entry.getByRole("rowheader", { name: field, exact: true }).waitFor();
	};
	await entryNames(/API token/, "Tools");
	await visit(page, path("?operation=setDeviceGroupPolicy"));
	await entryNames(/policy/i, "Order");
});

test("an entry leaves out a field that did not change", async () => {
	const { token } = await served.makeToken();
	expect((await served.post("enroll", { token })).status).toBe(200);
	const page = await served.openPageAs(
		admin,
		`/o/${served.organizationId}/settings/audit-log?operation=enrollDevice`,
	);
	await page.getByRole("button", { name: "Enroll device" }).first().click();
	const drawer = page.getByRole("dialog");
	await drawer.getByRole("rowheader", { name: "Enrolled with" }).waitFor();
	expect(await drawer.innerText()).not.toMatch(/Pending/);
});
