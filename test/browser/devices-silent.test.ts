import { afterAll, beforeAll, expect, test } from "vitest";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { axe, startConsole, type TestConsole } from "./browser.ts";
import { DAY_MS, type Fleet, fleetOf } from "./fleet.ts";

let served: TestConsole;
let fleet: Fleet;
beforeAll(async () => {
	served = await startConsole();
	fleet = fleetOf(served);
});
afterAll(() => served.close());

test("the last report of a device that is silent for longer than permitted is never shown as passing", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		const device = await fleet.addReporting(
			organization,
			"silent.local",
			{ DISK_ENCRYPTION: "PASS" },
			{ agoMs: 4 * DAY_MS },
		);
		await fleet.silence(device, 4 * DAY_MS);
	});
	const summary = page.getByRole("region", { name: "Fleet" });
	await summary.getByRole("button", { name: "All numbers" }).click();
	await summary.getByText("0 passing · 1 silent").waitFor();
	await expect
		.poll(() => summary.getByText("0%", { exact: true }).count())
		.toBe(CHECK_KEYS.length);
	await page.getByText("Last known: 1 pass").waitFor();
	await page.getByRole("link", { name: "1 Stale" }).click();
	await page.getByRole("link", { name: "silent.local" }).click();
	await page.getByText("These are the last known states").waitFor();
	await page.getByText("Last known: pass").waitFor();
	expect(await page.getByText("Pass", { exact: true }).count()).toBe(0);
	await axe(page);
});

test("the number of a check is the number of the devices that it lists, of which some are silent for a while", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		const failing = { FIREWALL_ENABLED: "FAIL" };
		await fleet.addReporting(organization, "online.local", failing);
		for (const [name, days] of [
			["away.local", 1],
			["silent.local", 4],
		] as const) {
			const agoMs = days * DAY_MS;
			const device = await fleet.addReporting(organization, name, failing, {
				agoMs,
			});
			await fleet.silence(device, agoMs);
		}
	});
	const names = async () =>
		(await page.locator("tbody .data-table-link").allInnerTexts()).sort();
	await expect.poll(async () => (await names()).length).toBe(3);
	// The policy believes the last report for three days.
	const counted = ["away.local", "online.local"];
	const tile = page
		.getByRole("region", { name: "Fleet" })
		.getByRole("link", { name: /^Host firewall .*, 2 fail$/ });
	await tile.click();
	await expect.poll(names).toEqual(counted);
	await page.getByText("State: In grace or past grace").waitFor();
	await page.reload();
	await expect.poll(names).toEqual(counted);
	await page.getByRole("button", { name: "Clear filters" }).click();
	await page.getByRole("combobox", { name: "Fails check" }).click();
	await page.getByRole("option", { name: "Host firewall" }).click();
	await page.getByText("are listed too").waitFor();
	await page.getByText("All devices:", { exact: true }).waitFor();
	await expect.poll(async () => (await names()).length).toBe(3);
	await page.getByRole("link", { name: "Leave them out" }).click();
	await expect.poll(names).toEqual(counted);
	expect(await page.getByText("are listed too").count()).toBe(0);
	await axe(page);
});
