import { afterAll, beforeAll, expect, test } from "vitest";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { fleetOf } from "./fleet.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

test("devices without a name, and two of one name, differ in the list and in its boxes", async () => {
	const { page } = await fleetOf(served).start("admin", async (made) => {
		for (let n = 0; n < 2; n++) {
			// Both have the same serial number, so only the hardware tells them apart.
			await fleetOf(served).addReporting(made, "twin.local", {});
			await served.makeToken(made);
		}
		await served.database.owner.query(
			"update devices set name = null where organization_id = $1",
			[made],
		);
		return undefined;
	});
	const table = page.getByRole("region", { name: "Devices", exact: true });
	const links = table.locator("tbody").getByRole("link");
	await expect.poll(() => links.count()).toBe(4);
	const names = await links.allInnerTexts();
	expect(new Set(names).size).toBe(4);
	expect(names.toSorted()).toEqual([
		expect.stringMatching(/^Unnamed device \(…[\w-]{6}\)$/),
		expect.stringMatching(/^Unnamed device \(…[\w-]{6}\)$/),
		expect.stringMatching(/^twin\.local \(hardware [\w-]+\)$/),
		expect.stringMatching(/^twin\.local \(hardware [\w-]+\)$/),
	]);
	for (const name of names) {
		await table
			.getByRole("checkbox", { name: `Select ${name}`, exact: true })
			.waitFor();
	}
	await axe(page);
	await screenshot(page, "devices/unnamed");
	await page.setViewportSize({ width: 390, height: 844 });
	await screenshot(page, "devices/unnamed-390");
});
