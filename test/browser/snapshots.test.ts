import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { fleetOf } from "./fleet.ts";

let served: TestConsole;
let ada: TestUser;
beforeAll(async () => {
	served = await startConsole();
	ada = await served.makePerson("admin");
});
afterAll(() => served.close());

function use(name: string, input: object) {
	return callByName(served.database, ada, name, input);
}
const add = (name: string, input: object) =>
	use(name, { organization_id: served.organizationId, ...input });

test("a snapshot is taken, read, compared, verified, downloaded, linked and deleted", async () => {
	const { people } = await add("addPeople", {
		full_name: "Grace Hopper",
		kind: "EMPLOYEE",
		primary_email_address: "grace@example.com",
	});
	const risk = {
		category: "Cloud",
		treatment: "MITIGATED",
		inherent_likelihood: 3,
		inherent_impact: 4,
	};
	const { risk: kept } = await add("addRisk", {
		...risk,
		name: "Old servers",
		owner_id: people.id,
	});
	const { task } = await add("addTask", {
		name: "Encrypt the laptops",
		deadline: "2031-03-04",
	});
	const { control } = await addControl();
	const link = (record_id: string, linked_record_id: string) =>
		use("linkRecords", { record_id, linked_record_id });
	await link(kept.id, control.id);
	const fleet = fleetOf(served);
	const passing = { FIREWALL_ENABLED: "PASS", SCREEN_LOCK: "PASS" };
	const laptop = await fleet.addReporting(
		served.organizationId,
		"grace-laptop",
		passing,
		{ agoMs: 60_000 },
	);
	const page = await served.openPageAs(
		ada,
		`/o/${served.organizationId}/snapshots`,
	);
	await page.getByText("No snapshots yet").waitFor();
	await axe(page);
	await page.getByRole("button", { name: "Take a snapshot" }).click();
	const dialog = page.getByRole("dialog", { name: "Take a snapshot" });
	await dialog.getByRole("button", { name: "Take the snapshot" }).click();
	await dialog.getByText("Enter a name.").waitFor();
	await dialog.getByLabel("Name").fill("Before the audit");
	await axe(page);
	await dialog.getByRole("button", { name: "Take the snapshot" }).click();
	await page
		.getByRole("heading", { level: 1, name: "Before the audit" })
		.waitFor();

	const records = page.getByRole("region", { name: "Records of the snapshot" });
	await page.getByLabel("Find").fill("servers");
	await records.getByRole("button", { name: "Old servers" }).click();
	const then = page.getByRole("dialog", { name: "Old servers" });
	await then.getByRole("link", { name: "Grace Hopper" }).waitFor();
	await then.getByText("Cloud", { exact: true }).waitFor();
	await axe(page);
	await screenshot(page, "snapshots/record");
	await then.getByRole("button", { name: "Close" }).click();
	await screenshot(page, "snapshots/records");

	await page.getByRole("button", { name: "Verify" }).click();
	await page.getByText("The records have this hash.").waitFor();
	const [download] = await Promise.all([
		page.waitForEvent("download"),
		page.getByRole("link", { name: "Download" }).click(),
	]);
	const file = await readFile(await download.path());
	const hash = createHash("sha256").update(file).digest("hex");
	await page.getByText(hash).waitFor();
	expect(download.suggestedFilename()).toBe("Before the audit.jsonl");

	await use("updateRisk", { id: kept.id, name: "New servers", owner_id: null });
	await use("updateTask", { id: task.id, deadline: "2031-04-05" });
	await add("addRisk", { ...risk, name: "Added later" });
	await link(kept.id, task.id);
	await fleet.report(laptop, { ...passing, SCREEN_LOCK: "FAIL" });
	await page.getByRole("tab", { name: "Changed since" }).click();
	const changes = page.getByRole("region", {
		name: "Changes since the snapshot",
	});
	await changes.getByText("Added later").waitFor();
	await changes.getByText("Old servers → New servers").waitFor();
	await changes.getByText("Grace Hopper → nothing").waitFor();
	await changes.getByText("4 Mar 2031 → 5 Apr 2031").waitFor();
	// Lists show only what differs.
	await changes.getByText("added Encrypt the laptops").waitFor();
	await changes.getByText("Screen or idle lock: Passing → In grace").waitFor();
	const text = await changes.innerText();
	expect(text).not.toContain("Host firewall");
	expect(text).not.toContain(control.name);
	await axe(page);
	await screenshot(page, "snapshots/since");
	await page.getByText("Added (1)").click();
	await changes
		.getByText("Old servers → New servers")
		.waitFor({ state: "detached" });

	await page.getByRole("tab", { name: "Linked records" }).click();
	await page.getByRole("button", { name: "Link a record" }).click();
	const linking = page.getByRole("dialog", { name: "Link a record" });
	await linking.getByLabel("Find").fill("Encryption");
	await linking.getByRole("button", { name: /^Link/ }).click();
	await linking.getByText("Linked").waitFor();
	await linking.getByRole("button", { name: "Done" }).click();
	await page.getByRole("link", { name: control.name }).click();
	await page.getByRole("link", { name: "Before the audit" }).click();
	await page.getByRole("button", { name: "Delete …" }).click();
	await page.getByRole("button", { name: "Delete the snapshot" }).click();
	await page.getByText("No snapshots yet").waitFor();
});

async function addControl() {
	const { framework } = await add("addFramework", { name: "ISO 27001" });
	return add("addControl", {
		framework_id: framework.id,
		section_title: "A.8.24",
		name: "Encryption of laptops",
	});
}
