import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { expectWholeFilters } from "./filters.ts";
import { DAY_MS, type Fleet, fleetOf } from "./fleet.ts";

let served: TestConsole;
let fleet: Fleet;
beforeAll(async () => {
	served = await startConsole();
	fleet = fleetOf(served);
});
afterAll(() => served.close());

/** Returns how many pixels of the element's text are not visible. */
const cutOff = (element: Locator) =>
	element.evaluate(
		(shown: { scrollWidth: number; clientWidth: number }) =>
			shown.scrollWidth - shown.clientWidth,
	);

async function pick(page: Page, field: string, option: string | RegExp) {
	await page.getByRole("combobox", { name: field }).click();
	await page.getByRole("option", { name: option }).click();
}

test("the summary and the filter fields narrow down the list, and the address keeps the filters", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		const pass = { DISK_ENCRYPTION: "PASS", FIREWALL_ENABLED: "PASS" };
		await fleet.addReporting(organization, "good.local", pass);
		await fleet.addReporting(organization, "open.local", {
			...pass,
			FIREWALL_ENABLED: "FAIL",
			PASSWORD_POLICY: "UNKNOWN",
		});
		await served.makeToken(organization);
	});
	const table = page.getByRole("region", { name: "Devices", exact: true });
	const rows = table.locator("tbody tr");
	await expect.poll(() => rows.count()).toBe(3);
	const open = rows.filter({ hasText: "open.local" });
	await open.getByText("1 fail; 1 unknown", { exact: true }).waitFor();

	const summary = page.getByRole("region", { name: "Fleet" });
	const firewall = summary.getByRole("link", {
		name: /^Host firewall 50% ?, 1 fail$/,
	});
	await firewall.getByTitle(/^Percentages are rounded down/).waitFor();
	await firewall.click();
	await expect.poll(() => rows.count()).toBe(1);
	await rows.getByText("open.local").waitFor();
	// The list is now one by this check: its status, and since when.
	await table.getByRole("columnheader", { name: "Host firewall" }).waitFor();
	await rows.getByText("Fail", { exact: true }).waitFor();
	await table.getByRole("columnheader", { name: "Since" }).waitFor();
	expect(new URL(page.url()).searchParams.get("failing_check")).toBe(
		"FIREWALL_ENABLED",
	);
	await page.reload();
	await expect.poll(() => rows.count()).toBe(1);
	// No state of the check stays behind, which would go on filtering.
	await page.getByRole("button", { name: "Clear Fails check" }).click();
	await expect.poll(() => rows.count()).toBe(2);
	expect([...new URL(page.url()).searchParams.keys()]).toEqual(["status"]);
	await page.goBack();
	await expect.poll(() => rows.count()).toBe(1);
	await page.goBack();
	await expect.poll(() => rows.count()).toBe(3);
	await summary.getByRole("button", { name: "All numbers" }).click();
	await summary.getByText(/Percentages are rounded down/).waitFor();
	for (const [number, found, state] of [
		["Host firewall: 1 passing", "good.local", "PASSING"],
		["Host firewall: 1 in grace", "open.local", "IN_GRACE"],
		["Local password policy: 1 unknown", "open.local", "UNKNOWN"],
	] as const) {
		await summary.getByRole("link", { name: number, exact: true }).click();
		await expect.poll(() => rows.count()).toBe(1);
		await rows.getByText(found).waitFor();
		expect(new URL(page.url()).searchParams.get("check_state")).toBe(state);
		await page.goBack();
		await expect.poll(() => rows.count()).toBe(3);
	}

	await pick(page, "Status", "Pending");
	await expect.poll(() => rows.count()).toBe(1);
	await page.getByRole("button", { name: "Clear filters" }).click();
	await pick(page, "Fails check", "Full-disk encryption");
	await page.getByRole("heading", { name: "No devices match" }).waitFor();
	await axe(page);
	await page.getByRole("button", { name: "Show all devices" }).click();
	await page.getByRole("searchbox", { name: "Search devices" }).fill("open");
	await expect.poll(() => rows.count()).toBe(1);
	await page.getByRole("button", { name: "Clear filters" }).click();
	await pick(page, "Owner", "Unassigned");
	await expect
		.poll(() => new URL(page.url()).searchParams.get("owner_id"))
		.toBe("null");
	await expect.poll(() => rows.count()).toBe(3);
});

test("a check fails in grace and past grace, and the numbers tell both apart", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		await fleet.addReporting(organization, "new.local", {
			FIREWALL_ENABLED: "FAIL",
		});
		const old = await fleet.addReporting(organization, "old.local", {});
		await served.database.owner.query(
			"update devices set activated_at = now() - interval '100 days' where id = $1",
			[old.id],
		);
		const failing = { FIREWALL_ENABLED: "FAIL" };
		await fleet.report(old, failing, 10 * DAY_MS);
		await fleet.report(old, failing);
		return undefined;
	});
	const summary = page.getByRole("region", { name: "Fleet" });
	await summary.getByRole("button", { name: "All numbers" }).click();
	for (const state of ["past grace", "in grace"]) {
		await summary
			.getByRole("link", { name: `Host firewall: 1 ${state}`, exact: true })
			.waitFor();
	}
	await summary.getByText("Past grace", { exact: true }).waitFor();
	await screenshot(page, "devices/past-grace");
	// The list of those that fail the check has both.
	await pick(page, "Fails check", "Host firewall");
	const row = (name: string) => page.getByRole("row").filter({ hasText: name });
	await row("old.local").getByText("past grace").waitFor();
	await row("new.local").getByText("in grace until").waitFor();
});

test("every filter shows its whole value", async () => {
	const { page, at } = await fleet.start("viewer", async (organization) => {
		await served.makeToken(organization);
		return undefined;
	});
	await page.getByRole("searchbox", { name: "Search devices" }).waitFor();
	await expectWholeFilters(page);
	const chosen = new URLSearchParams({
		status: "PENDING",
		platform: "FREEBSD",
		failing_check: "AUTO_UPDATE",
		compliance: "NONCOMPLIANT",
		owner_id: "null",
		freshness: "NEVER",
		conflict: "DUPLICATE_HARDWARE",
	});
	await visit(page, at(`/devices?${chosen}`));
	await expectWholeFilters(page);
	await screenshot(page, "devices/filters");
});

test("on a phone the filters are behind a button that shows how many are set", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		await served.makeToken(organization);
		return undefined;
	});
	await page.setViewportSize({ width: 375, height: 740 });
	const filters = page.getByRole("button", { name: /^Filters/ });
	await filters.waitFor();
	const state = page.getByRole("cell").getByText("Pending", { exact: true });
	await expect.poll(() => cutOff(state)).toBe(0);
	const status = page.getByRole("combobox", { name: "Status" });
	expect(await status.count()).toBe(0);
	await filters.click();
	await pick(page, "Status", "Pending");
	await page.getByRole("button", { name: "Filters (1)" }).waitFor();
	// The longest word must fit completely beside the button that clears the filter.
	await expect.poll(() => cutOff(status)).toBe(0);
	await axe(page);
	await screenshot(page, "devices/filters-375");
});

test("the line under the heading counts the devices by the device policy, and a count filters the list", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		const every = (status: string) =>
			Object.fromEntries(CHECK_KEYS.map((key) => [key, status]));
		await fleet.addReporting(organization, "good.local", every("PASS"));
		await fleet.addReporting(organization, "vague.local", every("UNKNOWN"));
		await fleet.addReporting(organization, "failing.local", {
			...every("PASS"),
			FIREWALL_ENABLED: "FAIL",
		});
		const gone = await fleet.addReporting(organization, "gone.local", {
			FIREWALL_ENABLED: "FAIL",
		});
		await served.database.owner.query(
			"update devices set status = 'REVOKED', revoked_at = now(), key_hash = null where id = $1",
			[gone.id],
		);
	});
	const rows = page
		.getByRole("region", { name: "Devices", exact: true })
		.locator("tbody tr");
	await page
		.getByRole("link", { name: /^Host firewall .*, 1 fail$/ })
		.waitFor();
	const whole = page.getByText("All devices:", { exact: true });
	expect(await whole.count()).toBe(0);
	// The list has as many devices as the figure above it, which counts no revoked one.
	await pick(page, "Fails check", "Host firewall");
	await expect.poll(() => rows.count()).toBe(1);
	await rows.getByText("failing.local").waitFor();
	await rows.getByText("in grace until").waitFor();
	expect(await rows.getByText("past grace").count()).toBe(0);
	// The figures above do not follow the filter, and say so.
	await whole.waitFor();
	await axe(page);
	await screenshot(page, "devices/filtered");
	// A reader who asks for devices of every status finds the revoked one marked.
	await page.getByRole("button", { name: "Clear Status" }).click();
	await rows.getByText("gone.local").waitFor();
	await rows
		.filter({ hasText: "gone.local" })
		.getByText("Revoked", { exact: true })
		.waitFor();
	await page.getByRole("button", { name: "Clear filters" }).click();
	await whole.waitFor({ state: "detached" });
	const counts = page.getByRole("group", { name: "By the device policy" });
	await counts.getByRole("link", { name: "1 Not proved" }).waitFor();
	await counts.getByRole("link", { name: "1 Compliant" }).click();
	await page.waitForURL(/status=ACTIVE&compliance=COMPLIANT/);
	await page.getByRole("link", { name: "good.local" }).waitFor();
	await page
		.getByRole("link", { name: "vague.local" })
		.waitFor({ state: "detached" });
	await axe(page);
});
