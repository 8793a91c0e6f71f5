import { afterAll, beforeAll, expect, test } from "vitest";
import { callByName } from "../support/call-by-name.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { openHome } from "./home-page.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

test("Recent changes counts starter records in one line, and names each link once", async () => {
	const { page, person, organization } = await openHome(served, "admin", {
		prepare: async (use) => {
			await use("addVendor", { name: "Before" });
			await use("addStarters", {
				framework: "nis-2",
				measures: ["mfa"],
				risks: ["phishing", "stolen-device"],
			});
		},
	});
	const lately = page.getByRole("region", { name: "Recent changes" });
	await lately
		.getByText(
			`${person.name} added 1 framework, 15 controls, 1 measure and 2 risks from a starter set`,
		)
		.waitFor();
	// The entries of the call fill the first page of the log, and others come before them.
	await served.database.owner.query(
		`begin; set local session_replication_role = replica;
		update audit_entries set at = at - interval '1 hour' where record_name = 'Before'; commit`,
	);
	await page.reload();
	await lately.getByText(`${person.name} added the vendor Before`).waitFor();
	const lines = lately.getByRole("listitem");
	expect(await lines.filter({ hasText: "starter set" }).count()).toBe(1);
	const before = await lines.count();

	const call = (name: string, input: object) =>
		callByName(served.database, person, name, input);
	const found = { organization_id: organization };
	const [measure] = (await call("listMeasures", found)).measures;
	const [vendor] = (await call("listVendors", found)).vendors;
	await call("linkRecords", {
		record_id: measure.id,
		linked_record_id: vendor.id,
	});
	await page.reload();
	const linked = lines.filter({ hasText: `${person.name} linked ` });
	await linked.getByRole("link", { name: measure.name }).waitFor();
	await linked.getByRole("link", { name: "Before" }).waitFor();
	expect(await lines.count()).toBe(before + 1);
	await axe(page);
	await screenshot(page, "home-starters");
});
