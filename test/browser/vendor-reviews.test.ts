import { afterAll, beforeAll, expect, test } from "vitest";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";

let served: TestConsole;
let ada: TestUser;
beforeAll(async () => {
	served = await startConsole();
	ada = await served.makePerson("admin");
});
afterAll(() => served.close());

function use(name: string, input: object) {
	return callByName(served.database, ada, name, {
		organization_id: served.organizationId,
		...input,
	});
}

test("a vendor is reviewed with evidence, reminded of on the home page, archived and taken back", async () => {
	const { vendor } = await use("addVendor", { name: "Globex" });
	await use("addEvidence", {
		name: "SOC 2 report",
		url: "https://globex.example.com/soc2",
		linked_record_ids: [vendor.id],
	});
	const path = `/o/${served.organizationId}/r/vendor/${vendor.id}`;
	const page = await served.openPageAs(ada, path);
	const panel = page.getByRole("region", { name: "Reviews" });
	await panel.getByText("Nobody has reviewed this vendor yet.").waitFor();
	await panel.getByRole("button", { name: "Add a review" }).click();
	const form = page.getByRole("dialog", { name: "Review the vendor" });
	await form.getByRole("button", { name: "Add the review" }).click();
	await form.getByText("Choose an outcome.").waitFor();
	await form.getByRole("combobox", { name: "Outcome" }).click();
	await page.getByRole("option", { name: "Approved with conditions" }).click();
	await form
		.getByRole("combobox", { name: "Risk to the organization" })
		.click();
	await page.getByRole("option", { name: "High" }).click();
	await form.getByLabel("What was looked at and found").fill("One finding");
	await form.getByRole("combobox", { name: "Evidence" }).click();
	await page.getByRole("option", { name: "SOC 2 report" }).click();
	await form.getByLabel("Reviewed on").fill("2026-01-10");
	await form.getByLabel("Next review").fill("2026-01-09");
	await axe(page);
	await form.getByRole("button", { name: "Add the review" }).click();
	await form.getByText("Must be after the day of the review.").waitFor();
	await form.getByLabel("Next review").fill("");
	await form.getByLabel("Next review").focus();
	await page.keyboard.type("12");
	await form.getByRole("button", { name: "Add the review" }).click();
	await form.getByText("Complete the date or clear it.").waitFor();
	await form.getByLabel("Next review").fill("2026-02-01");
	await form.getByRole("button", { name: "Add the review" }).click();
	const row = panel.getByRole("row", { name: /One finding/ });
	await row.getByText("Approved with conditions").waitFor();
	await row.getByRole("link", { name: "SOC 2 report" }).waitFor();
	await axe(page);
	await screenshot(page, "vendors/reviewed");

	await visit(page, `/o/${served.organizationId}`);
	const reminders = page.getByRole("region", { name: "Reviews and expiries" });
	await reminders.getByText("Vendors: next review date").waitFor();
	await screenshot(page, "vendors/home");
	await reminders.getByRole("link", { name: "1 overdue" }).click();
	await page.getByText("Next review date: overdue").waitFor();
	const overdue = "The review is overdue. Review it and set the next date.";
	await page
		.getByRole("row", { name: /Globex/ })
		.getByRole("button", { name: overdue })
		.waitFor();
	await page.getByRole("link", { name: "Globex" }).click();
	await page.getByText(overdue).waitFor();

	await page.getByRole("button", { name: "Actions" }).click();
	await page.getByRole("menuitem", { name: "Archive …" }).click();
	await page.getByRole("button", { name: "Archive the vendor" }).click();
	await page.getByText("Archived", { exact: true }).first().waitFor();
	// Nobody reviews a vendor that is out of use.
	await page.getByText(overdue).waitFor({ state: "hidden" });
	await page.getByText("The vendor is archived.").waitFor();
	await page.getByRole("button", { name: "Undo" }).click();
	await page.getByText("1 vendor back in use").waitFor();
	const before = await use("listVendors", {});
	expect(before.vendors).toMatchObject([{ id: vendor.id, archived_at: null }]);
	await page.getByRole("button", { name: "Actions" }).click();
	await page.getByRole("menuitem", { name: "Archive …" }).click();
	await page.getByRole("button", { name: "Archive the vendor" }).click();
	await page.getByText("The vendor is archived.").waitFor();
	await page.goto(
		`${served.service.url}/o/${served.organizationId}/r/vendor?archived=true`,
	);
	await page.getByRole("checkbox", { name: "Select Globex" }).check();
	await page.getByRole("button", { name: "Take back into use …" }).click();
	await axe(page);
	const back = page.getByRole("dialog", { name: "Take back “Globex”?" });
	await back.getByRole("button", { name: "Take back the vendor" }).click();
	await page.getByText("1 vendor back in use").waitFor();
	const { vendors } = await use("listVendors", {});
	expect(vendors).toMatchObject([{ id: vendor.id, archived_at: null }]);
	await visit(page, `${path}?tab=history`);
	const titles = page.locator(".mantine-Timeline-itemTitle");
	await titles.first().waitFor();
	await expect
		.poll(async () => (await titles.allInnerTexts()).slice(0, 4))
		.toEqual([
			"Taken back into use",
			"Archived",
			"Taken back into use",
			"Archived",
		]);
});

test("the filter Never reviewed finds the vendors without a review", async () => {
	await use("addVendor", { name: "Initech", last_review_date: "2026-01-10" });
	await use("addVendor", { name: "Hooli", risk_rating: "CRITICAL" });
	const path = `/o/${served.organizationId}/r/vendor`;
	const page = await served.openPageAs(ada, path);
	const reviewed = page.getByRole("link", { name: "Initech" });
	await reviewed.waitFor();
	const filter = page.getByRole("checkbox", { name: "Never reviewed" });
	await filter.check();
	await reviewed.waitFor({ state: "hidden" });
	await page.getByRole("link", { name: "Hooli" }).waitFor();
	expect(page.url()).toContain("empty=last_review_date");
	await axe(page);
	await screenshot(page, "vendors/never-reviewed");
	await filter.uncheck();
	await reviewed.waitFor();
});
