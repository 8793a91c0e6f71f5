import { afterAll, beforeAll, expect, test } from "vitest";
import { keepDevicesNow } from "../support/upkeep.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { DAY_MS, fleetOf } from "./fleet.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

test("a failing device leads to its nonconformity, which lists it and closes when the device passes", async () => {
	const fleet = fleetOf(served);
	const settle = (organization: string) =>
		keepDevicesNow(served.database.pool, organization);
	let pass = async () => {};
	const { page, organization } = await fleet.start(
		"admin",
		async (organization) => {
			const device = await fleet.addReporting(organization, "studio-mac", {});
			await served.database.owner.query(
				"update devices set activated_at = now() - interval '100 days' where id = $1",
				[device.id],
			);
			for (const days of [6, 4, 2, 0]) {
				await fleet.report(device, { SCREEN_LOCK: "FAIL" }, days * DAY_MS);
			}
			pass = () => fleet.report(device, { SCREEN_LOCK: "PASS" });
			await settle(organization);
			return `/devices/${device.id}?check=SCREEN_LOCK`;
		},
	);
	await page.getByRole("link", { name: "Nonconformity NC-001" }).click();
	await page.getByRole("heading", { name: /Devices fail/ }).waitFor();
	const devices = page.getByRole("region", { name: "Devices", exact: true });
	await devices.getByText("still failing", { exact: true }).waitFor();
	await axe(page);
	await screenshot(page, "registers/nonconformity-devices");
	await devices.getByText("Over").click();
	await devices.getByText("No device.").waitFor();
	await devices.getByText("All", { exact: true }).click();
	await pass();
	await settle(organization);
	await page.reload();
	await devices.getByText("passed").waitFor();
	await page.getByText(/Assay closed it on/).waitFor();
	await page.getByRole("tab", { name: "History" }).click();
	await page.getByText("Assay").first().waitFor();
	await page.setViewportSize({ width: 390, height: 844 });
	await page.getByRole("tab", { name: "Overview" }).click();
	await devices.waitFor();
	await screenshot(page, "registers/nonconformity-devices-phone");
	await devices.getByRole("link", { name: "studio-mac" }).click();
	await page.getByRole("heading", { name: "studio-mac" }).waitFor();
});

test("an administrator chooses what a failure opens, how severe it is and who owns it", async () => {
	const fleet = fleetOf(served);
	const { page } = await fleet.start(
		"admin",
		async () => "/settings/device-policy",
	);
	const opens = page.getByRole("combobox", {
		name: "Host firewall: nonconformity",
	});
	await opens.click();
	await page.getByRole("option", { name: "One a device" }).click();
	await page.getByRole("combobox", { name: "Host firewall: severity" }).click();
	await page.getByRole("option", { name: "Major" }).click();
	await axe(page);
	await screenshot(page, "settings/check-rules");
	await page.getByRole("button", { name: "Preview" }).click();
	await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
	await page.getByText("The rules are saved.").waitFor();
	await page.reload();
	await expect.poll(() => opens.inputValue()).toBe("One a device");
});
