import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { DAY_MS, type Fleet, fleetOf } from "./fleet.ts";

let served: TestConsole;
let fleet: Fleet;
beforeAll(async () => {
	served = await startConsole();
	fleet = fleetOf(served);
});
afterAll(() => served.close());

const day = (agoMs: number) =>
	new Date(Date.now() - agoMs).toISOString().slice(0, 10);

test("a viewer finds the devices that failed a check in a period, and downloads them", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		const fixed = await fleet.addReporting(
			organization,
			"fixed.local",
			{ DISK_ENCRYPTION: "FAIL" },
			{ agoMs: 60 * DAY_MS },
		);
		await fleet.report(fixed, { DISK_ENCRYPTION: "PASS" }, 50 * DAY_MS);
		await fleet.report(fixed, { DISK_ENCRYPTION: "FAIL" }, 45 * DAY_MS);
		await fleet.report(fixed, { DISK_ENCRYPTION: "PASS" }, 40 * DAY_MS);
		await fleet.addReporting(organization, "failing.local", {
			DISK_ENCRYPTION: "FAIL",
			FIREWALL_ENABLED: "PASS",
		});
		const revoked = await fleet.addReporting(
			organization,
			"revoked.local",
			{ SCREEN_LOCK: "FAIL" },
			{ agoMs: 9 * DAY_MS },
		);
		await served.database.owner.query(
			"update devices set status = 'REVOKED', revoked_at = now() - interval '8 days', key_hash = null where id = $1",
			[revoked.id],
		);
	});
	await page.getByRole("link", { name: "In a period" }).click();
	await page.getByRole("heading", { name: "Fleet in a period" }).waitFor();
	const table = page.getByRole("main");
	await table.getByRole("link", { name: "failing.local" }).waitFor();
	await expect.poll(() => table.getByRole("row").count()).toBe(2);
	await page.getByText("1 device seen with this status").waitFor();
	expect(await page.getByText("one for each span of time").count()).toBe(0);

	await page.getByLabel("Until").fill(day(55 * DAY_MS));
	await table.getByRole("link", { name: "fixed.local" }).waitFor();
	await page.waitForURL(/until=/);
	await axe(page);
	await screenshot(page, "fleet-in-period");
	const [file] = await Promise.all([
		page.waitForEvent("download"),
		page.getByRole("button", { name: "Export" }).click(),
	]);
	expect(await readFile(await file.path(), "utf8")).toMatch(/fixed\.local/);

	await page.getByLabel("Until").fill(day(35 * DAY_MS));
	await page.getByLabel("From").fill(day(100 * DAY_MS));
	await page
		.getByText(
			"1 device seen with this status. 2 rows, one for each span of time.",
		)
		.waitFor();

	await page.getByLabel("Until").fill(day(55 * DAY_MS));
	await page.getByLabel("From").fill(day(2 * DAY_MS));
	await page
		.getByText("Choose a day that is not after the last one.")
		.waitFor();
	expect(await page.getByRole("row").count()).toBe(0);
	await page.getByLabel("From").fill(day(100 * DAY_MS));
	await page.getByLabel("Status").first().click();
	await page.getByRole("option", { name: "Unknown" }).click();
	await page.getByText("No device had this status in the period").waitFor();

	await page.goBack();
	await visit(page, `${page.url().split("?")[0]}?check=SCREEN_LOCK`);
	const gone = table.getByRole("row").filter({ hasText: "revoked.local" });
	await gone.getByText(/^revoked \d+ \w+ \d{4}/).waitFor();
	expect(await gone.getByText("not ended").count()).toBe(0);
	await page.goBack();
	await table.getByRole("link", { name: "fixed.local" }).click();
	await page.waitForURL(/tab=history/);
});
