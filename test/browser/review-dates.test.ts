import { afterAll, beforeAll, expect, test } from "vitest";
import { callByName } from "../support/call-by-name.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { openHome } from "./home-page.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

const day = (days: number) =>
	new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

test("Home leads to the audits that should have begun, and to no others", async () => {
	const { page } = await openHome(served, "member", {
		prepare: async (use, organization_id, person) => {
			const { framework } = await callByName(
				served.database,
				person,
				"addFramework",
				{ organization_id, name: "ISO 27001" },
			);
			const audit = { framework_id: framework.id, starts_on: day(-3) };
			await use("addAudit", { ...audit, name: "Not begun" });
			await use("addAudit", { ...audit, name: "Done", state: "COMPLETED" });
		},
	});
	const reminders = page.getByRole("region", { name: "Reviews and expiries" });
	await reminders.getByText("Audits: starts on").waitFor();
	await reminders.getByRole("link", { name: "1 overdue" }).click();
	const hint = "It should have begun.";
	await page
		.getByRole("row", { name: /Not begun/ })
		.getByRole("button", { name: hint })
		.waitFor();
	expect(await page.getByRole("link", { name: "Done" }).count()).toBe(0);
	await axe(page);
	await page.getByRole("link", { name: "Not begun" }).click();
	await page.getByText(hint).waitFor();
	await screenshot(page, "registers/audit");
	await page.getByRole("link", { name: "Edit", exact: true }).click();
	await page.getByLabel("Auditor").fill("Northern Certification");
	await page.getByRole("combobox", { name: "Audit type" }).click();
	await page.getByRole("option", { name: "External" }).click();
	await page.getByLabel("Ends on").fill(day(-9));
	await page.getByRole("button", { name: "Save the changes" }).click();
	await page.getByText(/must not be before “Starts on”/i).waitFor();
	await page.getByLabel("Ends on").fill(day(2));
	await page.getByRole("button", { name: "Save the changes" }).click();
	await page.getByText("Northern Certification").waitFor();
	await axe(page);
});

test("Home leads to the accepted risks whose acceptance has ended, and the risk says what to do", async () => {
	const risk = {
		category: "Sites",
		inherent_likelihood: 3,
		inherent_impact: 3,
		accepted_until: day(-1),
	};
	const { page } = await openHome(served, "member", {
		prepare: async (use) => {
			await use("addRisk", { ...risk, name: "Flood", treatment: "ACCEPTED" });
			await use("addRisk", { ...risk, name: "Fire", treatment: "MITIGATED" });
		},
	});
	const reminders = page.getByRole("region", { name: "Reviews and expiries" });
	await reminders.getByText("Risks: accepted until").waitFor();
	await reminders.getByRole("link", { name: "1 overdue" }).click();
	await page.getByRole("link", { name: "Flood" }).waitFor();
	expect(await page.getByRole("link", { name: "Fire" }).count()).toBe(0);
	await page.getByRole("link", { name: "Flood" }).click();
	await page.getByText("The acceptance has ended.").waitFor();
	await axe(page);
	await screenshot(page, "registers/accepted-risk");
});
