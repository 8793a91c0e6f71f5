import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callByName } from "../support/call-by-name.ts";
import { readZip } from "../support/read-zip.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

test("an administrator saves the package of an audit, from its first valid day until today", async () => {
	const { database, organizationId: organization_id } = served;
	const person = await served.makePerson("admin");
	const use = (name: string, input: object) =>
		callByName(database, person, name, { organization_id, ...input });
	const { framework } = await use("addFramework", { name: "ISO/IEC 27001" });
	const { audit } = await use("addAudit", {
		framework_id: framework.id,
		name: "Certification",
		valid_from: "2026-01-01",
		valid_until: "2028-12-31",
	});
	const page = await served.openPageAs(
		person,
		`/o/${organization_id}/r/audit/${audit.id}`,
	);
	await page.getByRole("button", { name: "Actions" }).click();
	await page.getByRole("menuitem", { name: "Audit package …" }).click();
	const dialog = page.getByRole("dialog", { name: "Audit package" });
	const from = dialog.getByLabel("First day");
	await expect(from.inputValue()).resolves.toBe("2026-01-01");
	const today = new Date().toLocaleDateString("sv");
	await expect(dialog.getByLabel("Last day").inputValue()).resolves.toBe(today);
	await from.fill("2029-01-01");
	const make = dialog.getByRole("button", { name: "Make the package" });
	await make.click();
	await dialog.getByText("It must not be before the first day").waitFor();
	await axe(page);
	await from.fill("2026-02-01");
	const download = page.waitForEvent("download");
	await make.click();
	const saved = await download;
	expect(saved.suggestedFilename()).toMatch(
		/^Acme-audit-package-\d{4}-\d\d-\d\d\.zip$/,
	);
	await dialog.getByText("The download has begun.").waitFor();
	await axe(page);
	await screenshot(page, "audit-package");
	const files = readZip(readFileSync(await saved.path()));
	expect(JSON.parse(String(files.get("manifest.json")))).toMatchObject({
		audit: { id: audit.id },
		period: { from: "2026-02-01", until: today },
	});
});

test("the package of a period is on the page of the reports, for administrators only", async () => {
	const path = `/o/${served.organizationId}/reports`;
	const page = await served.openPageAs(await served.makePerson("admin"), path);
	await page.getByRole("button", { name: "Audit package …" }).click();
	const dialog = page.getByRole("dialog", { name: "Audit package" });
	await dialog.getByLabel("With the files of evidence").uncheck();
	await screenshot(page, "audit-package-period");
	const download = page.waitForEvent("download");
	await dialog.getByRole("button", { name: "Make the package" }).click();
	const files = readZip(readFileSync(await (await download).path()));
	expect(JSON.parse(String(files.get("manifest.json")))).toMatchObject({
		audit: null,
		with_files: false,
	});
	const member = await served.openPageAs(
		await served.makePerson("member"),
		path,
	);
	await member.getByRole("heading", { name: "Reports" }).waitFor();
	await expect(
		member.getByRole("button", { name: "Audit package …" }).count(),
	).resolves.toBe(0);
});
