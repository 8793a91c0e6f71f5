import { afterAll, beforeAll, expect, test } from "vitest";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { callByName } from "../support/call-by-name.ts";
import type { Json } from "../support/tools.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { DAY_MS, fleetOf } from "./fleet.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

test("a device that complies only by an exception says so in the list, on its page, in the filter and in the report", async () => {
	const fleet = fleetOf(served);
	const every = Object.fromEntries(CHECK_KEYS.map((key) => [key, "PASS"]));
	let [excused, snapshot] = ["", ""];
	const { page, at } = await fleet.start("viewer", async (organization) => {
		await fleet.addReporting(organization, "fine.local", every);
		const device = await fleet.addReporting(organization, "excused.local", {
			...every,
			FIREWALL_ENABLED: "FAIL",
		});
		excused = device.id;
		const admin = await served.makePerson("admin", organization);
		const use = (name: string, input: object): Promise<Json> =>
			callByName(served.database, admin, name, input);
		const { device_exception } = await use("addDeviceException", {
			organization_id: organization,
			device_id: device.id,
			check: "FIREWALL_ENABLED",
			reason: "A router filters its traffic.",
			ends_at: new Date(Date.now() + 30 * DAY_MS).toISOString(),
		});
		await use("approveDeviceException", { id: device_exception.id });
		const taken = await use("takeSnapshot", {
			...{ organization_id: organization, name: "Fleet", type: "DEVICES" },
		});
		snapshot = taken.snapshot.id;
	});
	const table = page.getByRole("region", { name: "Devices", exact: true });
	const row = table.getByRole("row").filter({ hasText: "excused.local" });
	await row.getByText("Compliant by exception", { exact: true }).waitFor();
	await row.getByText("1 fail, excepted", { exact: true }).waitFor();
	const fine = table.getByRole("row").filter({ hasText: "fine.local" });
	await fine.getByText("Compliant", { exact: true }).waitFor();
	await page
		.getByRole("region", { name: "Fleet" })
		.getByRole("link", { name: /^Host firewall .*, 0 fail, 1 excepted$/ })
		.waitFor();
	await axe(page);
	await screenshot(page, "devices/compliant-by-exception");

	const counts = page.getByRole("group", { name: "By the device policy" });
	await counts.getByRole("link", { name: "2 Compliant" }).waitFor();
	await counts.getByRole("link", { name: "1 of these by exception" }).click();
	await fine.waitFor({ state: "detached" });
	await row.waitFor();
	const filter = page.getByRole("combobox", { name: "Compliance" });
	await expect.poll(() => filter.inputValue()).toBe("Compliant by exception");
	// The two filters behind the choice appear as one.
	expect(await page.getByText("State: Excepted").count()).toBe(0);
	await filter.click();
	await page.getByRole("option", { name: "Compliant", exact: true }).click();
	await fine.waitFor();
	await row.waitFor();
	expect(new URL(page.url()).searchParams.get("check_state")).toBe(null);
	await filter.click();
	await page.getByRole("option", { name: "Compliant by exception" }).click();
	await fine.waitFor({ state: "detached" });
	await row.waitFor();

	await row.getByRole("link", { name: "excused.local" }).click();
	const details = page.getByRole("region", { name: "Details" });
	await details.getByText("Compliant by exception", { exact: true }).waitFor();
	await details.getByText("1 excepted", { exact: true }).waitFor();
	expect(page.url()).toContain(excused);
	await page.setViewportSize({ width: 390, height: 800 });
	await axe(page);
	await screenshot(page, "devices/compliant-by-exception-390");

	await page.setViewportSize({ width: 1280, height: 900 });
	await visit(page, at("/reports/fleet-posture"));
	const report = page.getByRole("table").first();
	await report
		.getByRole("columnheader", { name: "Compliant by exception" })
		.waitFor();
	await page.getByText("Compliant counts the devices that are").waitFor();

	await visit(page, at("/reports/board-summary"));
	const devices = page.getByRole("table", { name: "Devices" });
	const figure = devices.getByRole("row", { name: /^Compliant by exception/ });
	await figure.getByRole("cell", { name: "1", exact: true }).waitFor();
	await figure.getByText("Counted as compliant too").waitFor();
	await axe(page);
	await screenshot(page, "reports/board-by-exception");

	await visit(page, at(`/snapshots/${snapshot}`));
	await page.getByText("2, 1 of these by exception").waitFor();
	await axe(page);
	await screenshot(page, "snapshot-by-exception");
	await page.getByRole("button", { name: "excused.local" }).click();
	await page
		.getByRole("dialog")
		.getByText("Compliant by exception", { exact: true })
		.waitFor();
});
