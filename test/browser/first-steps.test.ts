import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { callByName } from "../support/call-by-name.ts";
import { heartbeatBody, postureResult } from "../support/service.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { must } from "./fleet.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

async function open(options = {}, path = "/first-steps") {
	const organization = await createOrganization(
		served.database.pool,
		"Northwind",
	);
	const admin = await served.makePerson("admin", organization);
	const page = await served.openPageAs(
		admin,
		`/o/${organization}${path}`,
		options,
	);
	return { page, organization, admin };
}

test("an administrator without people takes a framework, enrolls this computer, sees its first report, invites somebody, and is done", async () => {
	const { page, organization } = await open();
	const step = (name: string) => page.getByRole("region", { name });
	const first = step("Choose what to comply with");
	await first.getByRole("radio", { name: /^NIS 2/ }).check();
	await first.getByText("Controls: 15 of 15").waitFor();
	await first.getByRole("button", { name: "Choose risks" }).click();
	await first
		.getByRole("checkbox", { name: /^A laptop with company/ })
		.uncheck();
	await first.getByText("Risks: 13 of 14").waitFor();
	await first.getByRole("button", { name: "Choose measures" }).click();
	const reasons = first.getByText(/ Helps with 2\d\./);
	const suggested = first.getByText(/^Measures: /);
	await reasons.first().waitFor();
	await expect
		.poll(() => suggested.innerText())
		.toBe(`Measures: ${await reasons.count()} of 29`);
	await axe(page);
	await screenshot(page, "first-steps/records");
	await first.getByRole("button", { name: /^Add \d+ records$/ }).click();

	const second = step("Install the agent on this computer");
	await second.getByRole("button", { name: "Get the command" }).click();
	await second.getByText("Waiting for the device to enroll").waitFor();
	// This service has no packages, so the step offers the agent as one file.
	await second.getByRole("link", { name: "assay-agent.cjs" }).waitFor();
	await second
		.getByText(/^echo asy_enr_\S+ \| npx assay agent install --no-service/)
		.waitFor();
	// The PowerShell of Windows does not know "&&".
	await second.getByRole("tab", { name: "Windows" }).click();
	await second
		.getByText(
			/^\$env:ASSAY_ENROLLMENT_TOKEN = 'asy_enr_\S+'\s+npx assay agent/,
		)
		.waitFor();
	await second.getByRole("tab", { name: "Linux" }).click();
	await axe(page);
	await screenshot(page, "first-steps/agent");
	const token = await page
		.getByText(/^asy_enr_\S+$/)
		.first()
		.innerText();
	const enrolled = await must(served.post("enroll", { token }), 200);
	const { api_key: key } = JSON.parse(enrolled) as { api_key: string };
	const facts = heartbeatBody({ hostname: "ada.local" });
	await must(served.post("heartbeat", facts, { key }), 200);
	await second.getByText("Waiting for its first report").waitFor();
	const results = [
		postureResult({ check_key: "DISK_ENCRYPTION", status: "PASS" }),
		postureResult({ check_key: "SCREEN_LOCK", status: "FAIL" }),
		postureResult({ check_key: "TIME_SYNC", status: "NOT_APPLICABLE" }),
	];
	await must(served.post("postures", { results }, { key }), 204);
	await second
		.getByText(
			"Checks: 1 passed, 1 failed, 0 could not be determined, 1 not applicable.",
		)
		.waitFor();
	await axe(page);
	await screenshot(page, "first-steps/report");
	// Who comes back sees the device, and one way to go on.
	const list = page.getByRole("navigation", { name: "First steps" });
	await list.getByRole("link", { name: "Create an API token" }).click();
	await list.getByRole("link", { name: "Install the agent" }).click();
	const device = second.getByRole("listitem").filter({ hasText: "ada.local" });
	await device.getByText(/Last report .* 1 passed, 1 failed/).waitFor();
	await device.getByRole("link", { name: "ada.local" }).waitFor();
	await second.getByRole("button", { name: "Add another device" }).waitFor();
	await expect
		.poll(() =>
			second
				.locator(".mantine-Button-root:not([data-variant=default])")
				.allInnerTexts(),
		)
		.toEqual(["Next step"]);
	await axe(page);
	await screenshot(page, "first-steps/enrolled");
	await second.getByRole("button", { name: "Next step" }).click();

	const third = step("Invite your colleagues");
	await third.getByRole("button", { name: "Invite a member" }).click();
	await page.getByLabel("E-mail address").fill("bob@example.com");
	await page.getByRole("button", { name: "Invite", exact: true }).click();
	await page.getByRole("button", { name: "I have copied it" }).click();
	await third.getByRole("button", { name: "Next step" }).click();

	// Records can still be added, and going on stays the one main action.
	await list.getByRole("link", { name: "Choose what to comply with" }).click();
	await first.getByRole("radio", { name: /^None for now/ }).check();
	await first.getByRole("button", { name: /^Add \d+ record/ }).waitFor();
	await expect
		.poll(() =>
			first
				.locator(
					".mantine-Button-root:not([data-variant=default], [data-variant=subtle])",
				)
				.allInnerTexts(),
		)
		.toEqual(["Next step"]);
	await list.getByRole("link", { name: "Create an API token" }).click();

	const fourth = step("Create an API token");
	await fourth.getByRole("link", { name: "Create a token" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByLabel("Name").fill("Claude");
	await axe(page);
	await dialog.getByRole("button", { name: "Create the token" }).click();
	await dialog.getByRole("button", { name: "I have copied it" }).click();
	await dialog.waitFor({ state: "detached" });
	await page
		.getByRole("navigation", { name: "Where you are" })
		.getByRole("link", { name: "First steps" })
		.click();
	await fourth.getByRole("button", { name: "Finish" }).click();
	await page.getByRole("heading", { name: "Fleet posture" }).waitFor();
	expect(await page.getByText("First steps").count()).toBe(0);
	await page.getByText("NIS 2").first().waitFor();
	expect(page.url()).toContain(organization);
});

test("the step of the agent leads to the page of a single device that waits for an agent", async () => {
	const { page, organization, admin } = await open({}, "");
	const { device } = (await callByName(served.database, admin, "addDevice", {
		organization_id: organization,
		owner_id: null,
	})) as { device: { id: string } };
	await visit(page, `/o/${organization}/first-steps?step=DEVICE`);
	const step = page.getByRole("region", {
		name: "Install the agent on this computer",
	});
	const link = step.getByRole("link", {
		name: "One device waits for an agent.",
	});
	await expect
		.poll(() => link.getAttribute("href"))
		.toBe(`/o/${organization}/devices/${device.id}`);
	await link.click();
	await step.waitFor({ state: "detached" });
	await page.getByRole("heading", { name: "Unnamed device" }).waitFor();
});

test("steps can be skipped, taken up again and resumed in another browser", async () => {
	const { page, organization, admin } = await open();
	await page.getByRole("radio", { name: /^None for now/ }).check();
	await page.getByRole("button", { name: "Choose measures" }).click();
	await page
		.getByText(/ Reduces “Somebody gives their password to an attacker”/)
		.first()
		.waitFor();
	await page.getByRole("button", { name: "Skip this step" }).click();
	await page
		.getByRole("region", { name: "Install the agent on this computer" })
		.waitFor();

	const elsewhere = await served.openPageAs(admin, `/o/${organization}`);
	const name = "Take up again: Choose what to comply with";
	await elsewhere.getByText("0 of 4 done, 1 skipped").waitFor();
	await elsewhere.getByRole("img", { name: "Skipped" }).waitFor();
	await axe(elsewhere);
	await screenshot(elsewhere, "first-steps/skipped-home");
	await elsewhere.getByRole("button", { name }).click();
	await elsewhere.getByText("0 of 4 done", { exact: true }).waitFor();
	await elsewhere
		.getByRole("link", { name: "Choose: Choose what to comply with" })
		.click();
	await elsewhere.getByRole("button", { name: "Skip this step" }).click();
	await elsewhere.getByText("0 of 4 done, 1 skipped").waitFor();
	await elsewhere.goto(`/o/${organization}/first-steps?step=RECORDS`);
	await elsewhere
		.getByText("This step is skipped for all administrators.")
		.waitFor();
	await axe(elsewhere);
	await screenshot(elsewhere, "first-steps/skipped");
	await elsewhere.getByRole("button", { name }).click();
	await elsewhere.getByRole("button", { name: "Skip this step" }).waitFor();
	await elsewhere.getByRole("img", { name: "To do" }).nth(3).waitFor();
	expect(await elsewhere.getByText("Skipped").count()).toBe(0);
});

test("a member may take starter records and may not skip steps for others", async () => {
	const organization = await createOrganization(
		served.database.pool,
		"Northwind",
	);
	const member = await served.makePerson("member", organization);
	const page = await served.openPageAs(
		member,
		`/o/${organization}/first-steps`,
	);
	await page.getByRole("radio", { name: /^GDPR/ }).check();
	await page.getByRole("button", { name: /^Add \d+ records$/ }).waitFor();
	expect(
		await page.getByRole("button", { name: /kip this step/ }).count(),
	).toBe(0);
	expect(await page.getByText("Install the agent").count()).toBe(0);
});

test("the page reads well in dark mode and at 390 px", async () => {
	for (const [name, options] of Object.entries({
		dark: { colorScheme: "dark", viewport: { width: 1440, height: 1400 } },
		"390": { viewport: { width: 390, height: 1600 } },
	})) {
		const { page } = await open(options);
		await page.getByRole("radio", { name: /^SOC 2/ }).check();
		await page.getByRole("button", { name: "Choose controls" }).click();
		await page.getByRole("checkbox", { name: /^CC1.1/ }).waitFor();
		await screenshot(page, `first-steps/${name}`);
		await axe(page);
		const width = await page.evaluate("document.documentElement.scrollWidth");
		expect(width).toBeLessThanOrEqual(options.viewport.width);
	}
});

test("the organization's time zone decides which day is today", async () => {
	const { page, organization } = await open({}, "/settings/organization");
	const zone = page.getByRole("combobox", { name: "Days begin and end by" });
	await expect.poll(() => zone.inputValue()).toBe("UTC");
	await zone.fill("kiritimati");
	await page.getByRole("option", { name: "Pacific/Kiritimati" }).click();
	await axe(page);
	await screenshot(page, "time-zone");
	await page
		.getByRole("region", { name: "Time zone" })
		.getByRole("button", { name: "Save" })
		.click();
	await page.getByText("The time zone is saved.").waitFor();
	await visit(page, `/o/${organization}/devices/period`);
	const today = new Intl.DateTimeFormat("sv-SE", {
		timeZone: "Pacific/Kiritimati",
	}).format(new Date());
	await expect.poll(() => page.getByLabel("Until").inputValue()).toBe(today);
});
