import { afterAll, beforeAll, expect, test } from "vitest";
import { postureResult } from "../support/service.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

const path = () => `/o/${served.organizationId}/settings/device-policy`;

test("an administrator changes a threshold, which the form checks, and a viewer sees it but no form", async () => {
	const page = await served.openPageAs(
		await served.makePerson("admin"),
		path(),
	);
	const length = page.getByLabel("Shortest password");
	await length.waitFor();
	await screenshot(page, "settings/device-policy");
	await page.getByText("The default is “SELinux, AppArmor or a").waitFor();
	const save = page.getByRole("button", { name: "Save" });
	expect(await save.isDisabled()).toBe(true);
	await length.fill("5");
	await save.click();
	await page.getByText("Give a number from 6 to 64").waitFor();
	await length.fill("14");
	await page.getByLabel("Screen locks after at most").fill("7.5");
	await page.getByRole("radio", { name: "A scanner is required" }).check();
	await save.click();
	await page.getByText("The device policy is saved.").waitFor();
	await page.reload();
	await page
		.getByRole("radiogroup", { name: "Malware protection on Linux" })
		.getByRole("radio", { name: "A scanner is required", checked: true })
		.waitFor();
	await expect.poll(() => length.inputValue()).toBe("14 characters");

	const viewer = await served.openPageAs(
		await served.makePerson("viewer"),
		path(),
	);
	await viewer.getByText("14 characters").waitFor();
	await viewer.getByText("7.5 minutes").waitFor();
	await viewer.getByText("A scanner is required").waitFor();
	expect(await viewer.getByRole("button", { name: "Save" }).count()).toBe(0);
	await axe(viewer);

	await visit(page, `/o/${served.organizationId}/settings/audit-log`);
	await page
		.getByRole("button", { name: /device policy/i })
		.first()
		.click();
	await page.getByText("14 characters", { exact: true }).waitFor();
});

test("a change that somebody else made in the meantime is not overwritten", async () => {
	const [first, second] = await Promise.all(
		["admin", "admin"].map(async (role) =>
			served.openPageAs(await served.makePerson(role as "admin"), path()),
		),
	);
	if (!first || !second) throw new Error("two pages are needed");
	for (const page of [first, second]) {
		await page.getByLabel("Updates are installed within").fill("30");
	}
	await first.getByRole("button", { name: "Save" }).click();
	await first.getByText("The device policy is saved.").waitFor();
	await second.getByLabel("Updates are installed within").fill("90");
	await second.getByRole("button", { name: "Save" }).click();
	await second.getByText("was changed in the meantime").waitFor();
	await second.reload();
	await expect
		.poll(() => second.getByLabel("Updates are installed within").inputValue())
		.toBe("30 days");
});

test("an administrator sees what a change of a rule does before saving it, and a viewer reads the rules", async () => {
	const device = await served.activateDevice();
	const results = [postureResult({ status: "FAIL" })];
	await served.post("postures", { results }, { key: device.key });
	const page = await served.openPageAs(
		await served.makePerson("admin"),
		path(),
	);
	const rules = page.getByRole("region", { name: "Rules of the checks" });
	const disk = "Full-disk encryption: days of grace";
	await rules.getByLabel(disk, { exact: true }).fill("0");
	await rules
		.getByLabel("Full-disk encryption: days of grace of new devices")
		.fill("0");
	await screenshot(page, "settings/device-policy-rules");
	await rules.getByRole("button", { name: "Preview" }).click();
	const dialog = page.getByRole("dialog", { name: "Save the rules?" });
	await dialog.getByRole("cell", { name: "Noncompliant" }).waitFor();
	await axe(page);
	await screenshot(page, "settings/device-policy-preview");
	await dialog.getByRole("button", { name: "Save" }).click();
	await page.getByText("The rules are saved.").waitFor();
	await visit(
		page,
		`/o/${served.organizationId}/devices?compliance=NONCOMPLIANT`,
	);
	await page.getByRole("row", { name: /Noncompliant/ }).waitFor();
	await screenshot(page, "devices/noncompliant");

	const viewer = await served.openPageAs(
		await served.makePerson("viewer"),
		path(),
	);
	await viewer
		.getByRole("row", { name: /Full-disk encryption .* 0 days 0 days/ })
		.waitFor();
	await axe(viewer);
});

test("all columns of the rules fit on a screen of 1440 px", async () => {
	const page = await served.openPageAs(
		await served.makePerson("admin"),
		path(),
		{ viewport: { width: 1440, height: 900 } },
	);
	const table = page.getByRole("region", { name: "Rules by check" });
	await table.getByRole("columnheader", { name: "Owner" }).waitFor();
	const hidden = await table.evaluate(
		(box) => box.scrollWidth - box.clientWidth,
	);
	expect(hidden).toBe(0);
	await screenshot(page, "settings/device-policy-1440");
});
