import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestUser } from "../support/people.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";

let served: TestConsole;
let admin: TestUser;
beforeAll(async () => {
	served = await startConsole();
	admin = await served.makePerson("admin");
	await served.database.owner.query(
		"update organizations set records_known_since = now() - interval '30 days' where id = $1",
		[served.organizationId],
	);
});
afterAll(() => served.close());

const NOW = Date.now();
const dayAgo = (days: number) =>
	new Date(NOW - days * 86_400_000).toISOString().slice(0, 10);

test("the devices of a past day are shown without what is known only for the present", async () => {
	const device = await served.activateDevice();
	const later = await served.activateDevice();
	await served.database.owner.query(
		`update devices set name = 'LT-0', os_version = 'Known today',
			created_at = now() - interval '9 days'
		where id = $1`,
		[later.id],
	);
	await served.database.owner.query(
		`update devices set name = 'LT-1', created_at = now() - interval '9 days',
			enrolled_at = now() - interval '9 days', activated_at = now() - interval '9 days'
		where id = $1`,
		[device.id],
	);
	const page = await served.openPageAs(
		admin,
		`/o/${served.organizationId}/devices?as_of=${dayAgo(1)}`,
	);
	await page.getByRole("region", { name: "Date shown" }).waitFor();
	await page.getByRole("heading", { name: "Devices" }).waitFor();
	const row = page.getByRole("row", { name: /LT-1/ });
	await row.getByText("No reports").waitFor();
	expect(await page.getByText("Last seen").count()).toBe(0);
	// Its agent reported the system only today.
	await page.getByRole("row", { name: /LT-0/ }).waitFor();
	expect(await page.getByText("Known today").count()).toBe(0);
	expect(await page.getByRole("link", { name: "Add device" }).count()).toBe(0);
	await axe(page);
	await screenshot(page, "past-devices");
	await row.getByRole("link", { name: "LT-1" }).click();
	await page.waitForURL(/tab=history/);
	expect(page.url()).toContain(`at=${dayAgo(1)}`);
	await page.getByText("This page shows the present").waitFor();
	await page
		.getByText("The state and the details up here are those of today.")
		.waitFor();
	await axe(page);
	// The bars begin before the chosen day, and no period that ends before it can be chosen.
	await page.goto(page.url().replaceAll(dayAgo(1), dayAgo(40)));
	await expect
		.poll(() => page.getByRole("radio", { name: "90 days" }).isChecked())
		.toBe(true);
	expect(await page.getByRole("radio", { name: "30 days" }).isDisabled()).toBe(
		true,
	);
	await screenshot(page, "past-device-history");
	await page.goto(page.url().replaceAll(dayAgo(40), dayAgo(1)));
	await page.getByRole("button", { name: "Clear the day" }).click();
	await page
		.getByText("The state and the details up here are those of today.")
		.waitFor({ state: "detached" });
	await page.goBack();
	await page.goBack();
	await page.goBack();
	await page.goBack();
	await row.getByText("No reports").waitFor();
	await page.getByRole("link", { name: "Back to now" }).click();
	await page.getByRole("columnheader", { name: "Last seen" }).waitFor();
});

test("a list of devices of a past day leaves out what is known only for the present, says so, and keeps the rest", async () => {
	const device = await served.activateDevice();
	await served.database.owner.query(
		`update devices set name = 'LT-2', created_at = now() - interval '9 days',
			enrolled_at = now() - interval '9 days', activated_at = now() - interval '9 days'
		where id = $1`,
		[device.id],
	);
	const path = `/o/${served.organizationId}/devices?freshness=MISSING&awaits_approval=true&status=ACTIVE&sort=last_seen_at`;
	const page = await served.openPageAs(admin, path);
	await page.getByText("No devices match").waitFor();
	await page.getByRole("button", { name: "As of a date" }).click();
	await page.getByLabel("Show the end of this day").fill(dayAgo(1));
	await page.getByRole("button", { name: "Show the past" }).click();
	await page
		.getByText(
			"This list leaves out the filters Freshness, Waits for approval and the order by Last seen, known only for the present.",
		)
		.waitFor();
	await page.getByRole("link", { name: "LT-2" }).waitFor();
	const status = page.getByRole("combobox", { name: "Status" });
	await expect.poll(() => status.inputValue()).toBe("Active");
	await axe(page);
	await screenshot(page, "past-left-out");
	await page.getByRole("link", { name: "Back to now" }).click();
	await page.getByText("No devices match").waitFor();
	expect(page.url()).toContain("freshness=MISSING");
	expect(page.url()).toContain("sort=last_seen_at");
});
