import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import type { Role } from "../../src/principal.ts";
import { recordOperations } from "../../src/records/operations.ts";
import { people } from "../../src/registers/people.ts";
import { makeFolder } from "../support/folder.ts";
import { callAs } from "../support/people.ts";
import { assay } from "../support/program.ts";
import {
	heartbeatBody,
	postureResult,
	type TestDevice,
} from "../support/service.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

vi.setConfig({ testTimeout: 180_000 });

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

let made = 0;

/**
 * Opens a page as a user with this role in a new organization. `prepare` first creates what the
 * page shows. It may return the path of the page.
 */
async function start(
	role: Role,
	prepare: (organization: string) => Promise<string | undefined>,
) {
	const organization = await createOrganization(
		served.database.pool,
		`Company ${++made}`,
	);
	const path = (await prepare(organization)) ?? "/devices";
	const person = await served.makePerson(role, organization);
	const at = (rest: string) => `/o/${organization}${rest}`;
	const page = await served.openPageAs(person, at(path));
	page.setDefaultTimeout(20_000);
	return { page, organization, person, at };
}

/** Adds an ACTIVE device that reported once, `agoMs` milliseconds ago. */
async function addReporting(
	organization: string,
	hostname: string,
	statuses: Record<string, string>,
	{ agoMs = 0 } = {},
): Promise<TestDevice> {
	const device = await served.enrollDevice(organization);
	const body = heartbeatBody({ hostname, hardware_uuid: device.hardwareUuid });
	await must(served.post("heartbeat", body, { key: device.key }), 200);
	// A device without a name is listed by its host name.
	await served.database.owner.query(
		"update devices set name = null where id = $1",
		[device.id],
	);
	await report(device, statuses, agoMs);
	return device;
}

async function report(
	device: TestDevice,
	statuses: Record<string, string>,
	agoMs = 0,
) {
	const observed_at = new Date(Date.now() - agoMs).toISOString();
	const results = Object.entries(statuses).map(([check_key, status]) =>
		postureResult({
			check_key,
			status,
			observed_at,
			evidence: { tool: "checker", details: { volumes: ["root", "home"] } },
		}),
	);
	await must(served.post("postures", { results }, { key: device.key }), 204);
}

async function must(answer: Promise<Response>, status: number) {
	const response = await answer;
	const text = await response.text();
	expect(response.status, text).toBe(status);
	return text;
}

const silence = (device: TestDevice, agoMs: number) =>
	served.database.owner.query(
		"update devices set last_seen_at = now() - $2 * interval '1 ms' where id = $1",
		[device.id, agoMs],
	);

async function pick(page: Page, field: string, option: string | RegExp) {
	await page.getByRole("combobox", { name: field }).click();
	await page.getByRole("option", { name: option }).click();
}

async function choose(page: Page, action: string | RegExp) {
	await page.getByRole("button", { name: "Actions" }).click();
	await page.getByRole("menuitem", { name: action }).click();
}

/** Returns the states in a timeline, oldest first. */
async function statesOf(timeline: Locator) {
	const spans = await timeline.locator("[data-status]").all();
	return Promise.all(spans.map((span) => span.getAttribute("data-status")));
}

const tokenOn = async (page: Page) =>
	(await page.getByLabel("Enrollment token", { exact: true }).textContent()) ??
	"";

test("an administrator adds a device for a new person, it enrolls with the token, and the page shows its report", async () => {
	const { page, organization } = await start("admin", async () => undefined);
	await page.getByRole("heading", { name: "No devices yet" }).waitFor();
	await screenshot(page, "devices/empty");
	await page.getByRole("link", { name: "Add device" }).first().click();
	await page.getByLabel("Name", { exact: true }).fill("Ada's laptop");

	await page.getByRole("button", { name: "Create a person" }).click();
	const dialog = page.getByRole("dialog", { name: "Create a person" });
	await dialog.getByLabel("Full name").fill("Ada Lovelace");
	await dialog.getByLabel("E-mail address").fill("not an address");
	await dialog.getByRole("button", { name: "Create the person" }).click();
	await dialog.getByText("e-mail", { exact: false }).last().waitFor();
	await axe(page);
	await dialog.getByLabel("E-mail address").fill("ada@example.com");
	await dialog.getByRole("button", { name: "Create the person" }).click();
	await dialog.waitFor({ state: "hidden" });
	await expect
		.poll(() => page.getByRole("combobox", { name: "Owner" }).inputValue())
		.toBe("Ada Lovelace");
	await axe(page);
	await screenshot(page, "devices/add");
	await page.getByRole("button", { name: "Add the device" }).click();

	await page.getByText("Waiting for the device to enroll").waitFor();
	await axe(page);
	await screenshot(page, "devices/token");
	const token = await tokenOn(page);
	await page.getByRole("button", { name: "Copy Enrollment token" }).click();
	expect(await page.evaluate("navigator.clipboard.readText()")).toBe(token);

	const enrolled = await must(served.post("enroll", { token }), 200);
	const { api_key: key } = JSON.parse(enrolled) as { api_key: string };
	await page.getByText("Waiting for the first heartbeat").waitFor();
	const facts = heartbeatBody({ hostname: "ada.local", platform: "DARWIN" });
	await must(served.post("heartbeat", facts, { key }), 200);
	await page.getByText("The device is enrolled").waitFor();

	await page.getByRole("link", { name: "Open the device" }).click();
	await page.getByRole("heading", { name: "Ada's laptop", level: 1 }).waitFor();
	const { hardware_uuid: hardware } = facts;
	for (const fact of ["ada.local", "macOS", "C02XK1", hardware]) {
		await page.getByText(fact, { exact: true }).waitFor();
	}
	await page.getByRole("link", { name: "Ada Lovelace" }).waitFor();
	expect(await page.getByText("Not reported").count()).toBe(CHECK_KEYS.length);

	const device = { id: "", key, hardwareUuid: hardware };
	await report(device, { DISK_ENCRYPTION: "FAIL" }, 3 * HOUR_MS);
	await report(device, { DISK_ENCRYPTION: "PASS" });
	await page.reload();
	const check = page.getByRole("button", { name: /^Full-disk encryption/ });
	await check.getByText("Pass", { exact: true }).waitFor();
	await check.click();
	await page.getByText("root, home").waitFor();
	await axe(page);
	await screenshot(page, "devices/device");
	await page.getByRole("button", { name: "As sent (JSON)" }).click();
	await page.getByText('"tool": "checker"').waitFor();

	await page.getByRole("tab", { name: "History" }).click();
	const timeline = page.getByRole("img", { name: /^Full-disk encryption/ });
	await timeline.waitFor();
	expect(await statesOf(timeline)).toEqual(["FAIL", "SILENT", "PASS"]);
	await page
		.getByRole("button", { name: /^Every change of Full-disk/ })
		.click();
	const changes = page.getByRole("region", { name: /^Changes: Full-disk/ });
	await changes.getByText("Fail", { exact: true }).waitFor();
	await changes.getByText("No change since").waitFor();
	await axe(page);
	await screenshot(page, "devices/history-new");

	await page.goto(`/o/${organization}/devices`);
	await page.getByRole("link", { name: "Ada's laptop" }).waitFor();
});

test("a device that has never reported says why, and links to the state of its enrollment", async () => {
	const { page } = await start("viewer", async (organization) => {
		const { id } = await served.makeToken(organization);
		return `/devices/${id}`;
	});
	const notice = page.getByRole("alert", {
		name: "This device is not active yet",
	});
	await notice.waitFor();
	await axe(page);
	await screenshot(page, "devices/pending");
	await notice.getByRole("link").click();
	await page.getByRole("heading", { name: "Enrollment token" }).waitFor();
	await page.getByText("Not used yet").waitFor();
});

test("the commands for a Linux shell enroll the machine on which they run", async () => {
	const { page } = await start("admin", async () => "/devices/new");
	await page.getByRole("button", { name: "Add the device" }).click();
	const commands = await page
		.getByLabel("Commands for a shell", { exact: true })
		.textContent();
	// In a test, the service listens on another port than in the address that it prints.
	const here = (commands ?? "").replace(
		"http://localhost:0",
		served.service.url,
	);
	await promisify(execFile)("sh", ["-euc", here]);
	await page.getByText("The device is enrolled").waitFor();
	for (const name of ["macOS", "Windows", "FreeBSD"]) {
		await page.getByRole("tab", { name }).click();
		await page.getByLabel("Command for the agent", { exact: true }).waitFor();
	}
});

test("the command for the agent asks for the token and enrolls the machine on which it runs", async () => {
	const { page } = await start("admin", async () => "/devices/new");
	await page.getByRole("button", { name: "Add the device" }).click();
	await page.getByRole("tab", { name: "Linux" }).click();
	const read = (label: string) =>
		page.getByLabel(label, { exact: true }).textContent();
	const [, ...words] = ((await read("Command for the agent")) ?? "").split(" ");
	expect(words.slice(0, 3)).toEqual(["./assay-agent", "install", "--server"]);
	const folder = await makeFolder("assay-agent-");
	try {
		const ended = await assay(
			[
				"agent",
				"install",
				"--server",
				served.service.url,
				"--no-service",
				"--dir",
				folder,
			],
			{},
			(await read("Enrollment token")) ?? "",
		);
		expect(ended).toMatchObject({ code: 0 });
		await page.getByText("The device is enrolled").waitFor();
	} finally {
		await rm(folder, { recursive: true });
	}
});

test("the summary and the filter fields narrow down the list, and the address keeps the filters", async () => {
	const { page } = await start("viewer", async (organization) => {
		const pass = { DISK_ENCRYPTION: "PASS", FIREWALL_ENABLED: "PASS" };
		await addReporting(organization, "good.local", pass);
		await addReporting(organization, "open.local", {
			...pass,
			FIREWALL_ENABLED: "FAIL",
			PASSWORD_POLICY: "UNKNOWN",
		});
		await served.makeToken(organization);
	});
	const table = page.getByRole("region", { name: "Devices", exact: true });
	await table
		.getByRole("link", { name: "good.local" })
		.waitFor({ state: "hidden" });
	const rows = table.locator("tbody tr");
	await expect.poll(() => rows.count()).toBe(3);

	const fleet = page.getByRole("region", { name: "Fleet" });
	await fleet.getByRole("link", { name: "Host firewall", exact: true }).click();
	await expect.poll(() => rows.count()).toBe(1);
	await rows.getByText("open.local").waitFor();
	expect(new URL(page.url()).searchParams.get("failing_check")).toBe(
		"FIREWALL_ENABLED",
	);
	await page.reload();
	await expect.poll(() => rows.count()).toBe(1);
	await page.goBack();
	await expect.poll(() => rows.count()).toBe(3);
	for (const [number, found, filter] of [
		["Host firewall: 1 pass", "good.local", "passing_check"],
		["Host firewall: 1 fail", "open.local", "failing_check"],
		["Local password policy: 1 unknown", "open.local", "unknown_check"],
	] as const) {
		await fleet.getByRole("link", { name: number, exact: true }).click();
		await expect.poll(() => rows.count()).toBe(1);
		await rows.getByText(found).waitFor();
		expect(new URL(page.url()).searchParams.has(filter)).toBe(true);
		await page.goBack();
		await expect.poll(() => rows.count()).toBe(3);
	}

	await pick(page, "Status", "Pending");
	await expect.poll(() => rows.count()).toBe(1);
	await page.getByRole("button", { name: "Clear filters" }).click();
	await pick(page, "Failing check", "Full-disk encryption");
	await page.getByRole("heading", { name: "No device matches" }).waitFor();
	await axe(page);
	await page.getByRole("button", { name: "Show all devices" }).click();
	await page.getByRole("searchbox", { name: "Search devices" }).fill("open");
	await expect.poll(() => rows.count()).toBe(1);
	await page.getByRole("button", { name: "Clear filters" }).click();
	await pick(page, "Owner", "Nobody");
	await expect
		.poll(() => new URL(page.url()).searchParams.get("owner_id"))
		.toBe("null");
	await expect.poll(() => rows.count()).toBe(3);
});

test("on a phone the filters are behind a button that shows how many are set", async () => {
	const { page } = await start("viewer", async (organization) => {
		await served.makeToken(organization);
		return undefined;
	});
	await page.setViewportSize({ width: 375, height: 740 });
	const filters = page.getByRole("button", { name: /^Filters/ });
	await filters.waitFor();
	const status = page.getByRole("combobox", { name: "Status" });
	expect(await status.count()).toBe(0);
	await filters.click();
	await pick(page, "Status", "Pending");
	await page.getByRole("button", { name: "Filters (1)" }).waitFor();
	// The longest word must fit completely beside the button that clears the filter.
	expect(
		await status.evaluate(
			(field: { scrollWidth: number; clientWidth: number }) =>
				field.scrollWidth - field.clientWidth,
		),
	).toBeLessThanOrEqual(0);
	await axe(page);
	await screenshot(page, "devices/filters-375");
});

test("a list can be sorted and read page by page, and an invalid page shows an error in plain words", async () => {
	const { page, at } = await start("viewer", async (organization) => {
		for (let n = 1; n <= 21; n++) {
			const { id } = await served.makeToken(organization);
			await served.database.owner.query(
				"update devices set name = $2 where id = $1",
				[id, `device ${String(n).padStart(2, "0")}`],
			);
		}
	});
	const rows = page
		.getByRole("region", { name: "Devices", exact: true })
		.locator("tbody tr");
	await page.getByRole("button", { name: "Device", exact: true }).click();
	await rows.first().getByText("device 01").waitFor();
	await page.getByRole("button", { name: "Next page" }).click();
	await rows.first().getByText("device 21").waitFor();
	expect(await rows.count()).toBe(1);
	await page.goBack();
	await rows.first().getByText("device 01").waitFor();
	await page.goto(at("/devices?cursor=nonsense"));
	await page.getByRole("alert").getByText("cursor").waitFor();
	await page.getByRole("button", { name: "Try again" }).waitFor();
	await page.getByRole("button", { name: "First page" }).click();
	await expect.poll(() => rows.count()).toBe(20);
});

test("the last report of a silent device is never shown as passing", async () => {
	const { page } = await start("viewer", async (organization) => {
		const device = await addReporting(
			organization,
			"silent.local",
			{ DISK_ENCRYPTION: "PASS" },
			{ agoMs: DAY_MS },
		);
		await silence(device, DAY_MS);
	});
	const fleet = page.getByRole("region", { name: "Fleet" });
	await fleet.getByText("0 pass · 1 stale").waitFor();
	expect(await fleet.getByText("No data").count()).toBe(CHECK_KEYS.length);
	await page.getByText("Last known: 1 pass").waitFor();
	await fleet.getByRole("link", { name: "1 Stale" }).click();
	await page.getByRole("link", { name: "silent.local" }).click();
	await page.getByText("These are the last known states").waitFor();
	await page.getByText("Last known: pass").waitFor();
	expect(await page.getByText("Pass", { exact: true }).count()).toBe(0);
	await axe(page);
});

test("the state on a day is the one at its end, and the user can choose a longer period", async () => {
	const { page } = await start("viewer", async (organization) => {
		const device = await addReporting(
			organization,
			"old.local",
			{ FIREWALL_ENABLED: "FAIL" },
			{ agoMs: 60 * DAY_MS },
		);
		await report(device, { FIREWALL_ENABLED: "PASS" }, HOUR_MS);
		return `/devices/${device.id}?tab=history`;
	});
	const timeline = page.getByRole("img", { name: /^Host firewall/ });
	await timeline.waitFor();
	expect(await statesOf(timeline)).toEqual(["SILENT", "PASS"]);
	await page.getByText("90 days").click();
	await expect
		.poll(() => statesOf(timeline))
		.toEqual(["FAIL", "SILENT", "PASS"]);
	await page.reload();
	await expect
		.poll(() => statesOf(timeline))
		.toEqual(["FAIL", "SILENT", "PASS"]);

	const day = (agoMs: number) =>
		new Date(Date.now() - agoMs).toISOString().slice(0, 10);
	const asOf = page.getByRole("region", { name: /^As of / });
	await page.getByLabel("State on the day").fill(day(58 * DAY_MS));
	await asOf.getByText("Last known: fail").waitFor();
	await axe(page);
	await screenshot(page, "devices/as-of");
	await page.getByLabel("State on the day").fill(day(70 * DAY_MS));
	await asOf
		.getByText("Nothing was known about this device at that time")
		.waitFor();
	await page.getByLabel("State on the day").fill(day(0));
	await asOf.getByText("Pass", { exact: true }).waitFor();
	await asOf.getByRole("link", { name: "Report: Host firewall" }).click();
	const dialog = page.getByRole("dialog", { name: "Report" });
	await dialog.getByText("root, home").waitFor();
	await axe(page);
	await page.keyboard.press("Escape");
	await dialog.waitFor({ state: "hidden" });
	const listed = page.getByRole("tabpanel").locator("tbody tr");
	expect(await listed.count()).toBe(2);
});

test("the agent of a revoked device gets 401, a new token reactivates the device, and deleting removes it", async () => {
	let device: TestDevice = { id: "", key: "", hardwareUuid: "" };
	const { page, at } = await start("admin", async (organization) => {
		device = await addReporting(organization, "lost.local", {
			DISK_ENCRYPTION: "PASS",
		});
		return `/devices/${device.id}`;
	});
	await choose(page, /^Revoke/);
	const asked = page.getByRole("dialog", { name: "Revoke lost.local?" });
	await asked.getByText("Its history stays").waitFor();
	await axe(page);
	await asked.getByRole("button", { name: "Revoke the device" }).click();
	await page.getByRole("status").getByText("Revoked").waitFor();
	const beat = heartbeatBody({ hardware_uuid: device.hardwareUuid });
	await must(served.post("heartbeat", beat, { key: device.key }), 401);

	await choose(page, /^Re-issue/);
	await page.getByRole("button", { name: "Re-issue the token" }).click();
	await page.getByText("Waiting for the device to enroll").waitFor();
	await axe(page);
	await screenshot(page, "devices/reissue");
	const enrolled = await must(
		served.post("enroll", { token: await tokenOn(page) }),
		200,
	);
	const { api_key: key } = JSON.parse(enrolled) as { api_key: string };
	await must(served.post("heartbeat", beat, { key }), 200);
	await page.getByText("The device is enrolled").waitFor();
	await page.getByRole("button", { name: "Close" }).last().click();
	await page.getByRole("status").getByText("Active").waitFor();
	await page.getByRole("tab", { name: "Enrollment" }).click();
	await page.getByText("In use by the device's agent").waitFor();

	await choose(page, /^Delete/);
	await page.getByRole("button", { name: "Delete the device" }).click();
	await page.getByRole("heading", { name: "No devices yet" }).waitFor();
	await must(served.post("heartbeat", beat, { key }), 401);
	await page.goto(at(`/devices/${device.id}`));
	await page.getByRole("heading", { name: "Not found" }).waitFor();
});

test("duplicate hardware and a possible clone are shown with what to do about them", async () => {
	let second = "";
	const { page, at } = await start("admin", async (organization) => {
		const first = await addReporting(organization, "first.local", {});
		const again = await served.enrollDevice(organization);
		second = again.id;
		const same = heartbeatBody({
			hostname: "again.local",
			hardware_uuid: first.hardwareUuid,
		});
		await must(served.post("heartbeat", same, { key: again.key }), 400);
		const other = heartbeatBody({ hostname: "copy.local" });
		await must(served.post("heartbeat", other, { key: first.key }), 200);
	});
	const table = page.getByRole("region", { name: "Devices", exact: true });
	await table.getByText("Duplicate hardware").waitFor();
	await table.getByText("Possible clone").waitFor();
	await page.getByRole("combobox", { name: "Conflict" }).click();
	await page.getByRole("option", { name: "Possible clone" }).click();
	await table.getByText("Duplicate hardware").waitFor({ state: "hidden" });
	await table.getByText("Possible clone").waitFor();
	await page.goto(at(`/devices/${second}`));
	await page.getByText("again.local", { exact: true }).waitFor();
	await page.getByText("re-issue the token of the other device").waitFor();
	await axe(page);
	await screenshot(page, "devices/conflict");
	await page.getByRole("link", { name: "copy.local" }).click();
	await page.getByRole("heading", { name: "copy.local", level: 1 }).waitFor();
	await page.getByText("If not, the key was copied").waitFor();
});

test("a member can change only name and owner, and a viewer sees no button that would be rejected", async () => {
	let id = "";
	const { page, organization, at } = await start("member", async (own) => {
		({ id } = await addReporting(own, "a.local", {}));
		return `/devices/${id}`;
	});
	await page.getByRole("button", { name: "Edit" }).click();
	await page.getByLabel("Name", { exact: true }).fill("Reception");
	await page.getByRole("button", { name: "Save" }).click();
	await page.getByRole("heading", { name: "Reception", level: 1 }).waitFor();
	expect(await page.getByRole("button", { name: "Actions" }).count()).toBe(0);
	await page.goto(at("/devices"));
	await page.getByRole("link", { name: "Reception" }).waitFor();
	expect(await page.getByRole("link", { name: "Add device" }).count()).toBe(0);

	const viewer = await served.makePerson("viewer", organization);
	const seen = await served.openPageAs(viewer, at(`/devices/${id}`));
	await seen.getByRole("heading", { name: "Reception", level: 1 }).waitFor();
	for (const name of ["Edit", "Actions"]) {
		expect(await seen.getByRole("button", { name }).count()).toBe(0);
	}
	await seen.goto(at("/devices/new"));
	await seen.getByText("Only administrators add devices").waitFor();
});

test("the list shows long host names in full at 1280 px and loads all owners' names in one request", async () => {
	const host = (end: string) =>
		`production-reporting-database-${end}.eu-central-1.compute.internal`;
	const { page, at } = await start("admin", async (organization) => {
		const admin = await served.makePerson("admin", organization);
		for (const end of ["a", "b"]) {
			const device = await addReporting(organization, host(end), {});
			const { people: owner } = await callAs(
				served.database,
				admin,
				recordOperations(people)[2],
				{
					organization_id: organization,
					full_name: `Owner ${end}`,
					primary_email_address: `${end}@example.com`,
					kind: "EMPLOYEE",
				},
			);
			await served.database.owner.query(
				"update devices set owner_id = $2, name = $3 where id = $1",
				[device.id, owner.id, end === "a" ? "Database" : null],
			);
		}
		return "/settings/organization";
	});
	const asked: string[] = [];
	page.on("request", (request) => asked.push(request.url()));
	await page.goto(at("/devices"));
	for (const end of ["a", "b"]) {
		await page.getByRole("cell", { name: `Owner ${end}` }).waitFor();
		const cut = await page
			.getByText(host(end), { exact: true })
			.evaluate((it) => [
				it.scrollWidth - it.clientWidth,
				it.scrollHeight - it.clientHeight,
			]);
		expect(cut, host(end)).toEqual([0, 0]);
	}
	await screenshot(page, "devices/long-names");
	const calls = asked.flatMap(
		(url) => /api\/console\/(\w+)/.exec(url)?.[1] ?? [],
	);
	expect(calls.filter((name) => name === "getRecordNames")).toHaveLength(1);
	expect(calls).not.toContain("getPeople");
});

test("the reports of a device show the failed checks, when a delayed report was observed, and how long reports are kept", async () => {
	const { page } = await start("viewer", async (organization) => {
		const device = await addReporting(organization, "a.local", {
			FIREWALL_ENABLED: "FAIL",
			DISK_ENCRYPTION: "FAIL",
			TIME_SYNC: "PASS",
		});
		const { observed_at: _, ...result } = postureResult({ status: "PASS" });
		await must(
			served.post(
				"postures",
				{ results: [{ ...result, observed_at: "2026-02-28T11:30:00Z" }] },
				{ key: device.key },
			),
			204,
		);
		return `/devices/${device.id}?tab=reports`;
	});
	const rows = page.getByRole("row").filter({ hasText: /pass/ });
	await expect.poll(() => rows.count()).toBe(2);
	const [waited = "", prompt = ""] = await rows.allInnerTexts();
	expect(waited).toContain("Observed 28 Feb 2026, 12:30");
	expect(prompt).not.toContain("Observed");
	expect(prompt).toContain("2 fail");
	expect(prompt).toContain("Full-disk encryption, Host firewall");
	// Reports are kept until the first day of the month that follows 13 whole months, unless the
	// operator sets another time.
	const now = new Date();
	const end = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 14));
	const day = new Intl.DateTimeFormat("en-GB", {
		dateStyle: "medium",
		timeZone: "UTC",
	});
	expect(prompt).toContain(day.format(end));
	await screenshot(page, "devices/reports");
});

test("a fleet and a year of history are readable, also in dark and at 375 px", async () => {
	let id = "";
	const { page, person, at } = await start("admin", async (organization) => {
		({ id } = await addYear(organization));
	});
	await page.getByRole("link", { name: "ada-macbook.local" }).waitFor();
	await screenshot(page, "devices/list");
	const list: View = ["list", "/devices"];
	const history: View = ["history", `/devices/${id}?tab=history&range=365d`];
	const checks: View = ["device", `/devices/${id}?check=OS_VERSION`];
	const looks: [string, object, View[]][] = [
		[
			"light",
			{ viewport: { width: 1280, height: 1300 } },
			[list, checks, history, ["enrollment", `/devices/${id}?tab=enrollment`]],
		],
		["dark", { colorScheme: "dark" }, [list, history]],
		[
			"375",
			{ viewport: { width: 375, height: 740 } },
			[
				list,
				checks,
				history,
				["reports", `/devices/${id}?tab=reports`],
				["add", "/devices/new"],
			],
		],
	];
	for (const [look, options, views] of looks) {
		const [[, first] = list] = views;
		const view = await served.openPageAs(person, at(first), options);
		for (const [name, path] of views) {
			if (path !== first) await view.goto(at(path));
			await view.getByRole("heading", { level: 1 }).waitFor();
			await view
				.locator("[aria-busy=true]")
				.first()
				.waitFor({ state: "detached" });
			await view.waitForLoadState("networkidle");
			await axe(view);
			await screenshot(view, `devices/${name}-${look}`);
			const [wide, shown] = (await view.evaluate(
				"[document.documentElement.scrollWidth, innerWidth]",
			)) as [number, number];
			expect(wide, `${name} at ${look}`).toBeLessThanOrEqual(shown);
		}
	}
});

/** The name of a screenshot and the path of the page. */
type View = [name: string, path: string];

/** Creates a fleet with devices in every state. Returns the device that has a year of history. */
async function addYear(organization: string): Promise<TestDevice> {
	const every = (status: string) =>
		Object.fromEntries(CHECK_KEYS.map((key) => [key, status]));
	const device = await addReporting(
		organization,
		"ada-macbook.local",
		every("PASS"),
		{ agoMs: 364 * DAY_MS },
	);
	for (let day = 360; day > 0; day -= 4) {
		const isOff = day > 120 && day < 150;
		if (isOff) continue;
		await report(
			device,
			{
				...every("PASS"),
				FIREWALL_ENABLED: day < 40 || day > 300 ? "FAIL" : "PASS",
				OS_VERSION: day % 60 < 12 ? "FAIL" : "PASS",
				PASSWORD_POLICY: day > 200 ? "UNKNOWN" : "PASS",
				MALWARE_PROTECTION: "NOT_APPLICABLE",
			},
			day * DAY_MS,
		);
	}
	await report(device, { ...every("PASS"), FIREWALL_ENABLED: "FAIL" });
	await addReporting(organization, "build-01.example.com", every("PASS"));
	await addReporting(organization, "front-desk.local", {
		...every("PASS"),
		TIME_SYNC: "UNKNOWN",
	});
	await addReporting(organization, "grace-thinkpad.local", {
		DISK_ENCRYPTION: "FAIL",
		SCREEN_LOCK: "FAIL",
		AUTO_UPDATE: "FAIL",
	});
	const stale = await addReporting(
		organization,
		"linus-desktop",
		every("PASS"),
	);
	await silence(stale, 2 * DAY_MS);
	const missing = await addReporting(organization, "old-server", every("FAIL"));
	await silence(missing, 20 * DAY_MS);
	await served.makeToken(organization);
	return device;
}
