import { afterAll, beforeAll, expect, test } from "vitest";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { postureResult } from "../support/service.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import {
	DAY_MS,
	type Fleet,
	fleetOf,
	HOUR_MS,
	must,
	statesOf,
} from "./fleet.ts";
import { pressEscape } from "./settled.ts";

let served: TestConsole;
let fleet: Fleet;
beforeAll(async () => {
	served = await startConsole();
	fleet = fleetOf(served);
});
afterAll(() => served.close());

test("a missing device is called missing, and not silent or stale as well", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		const device = await fleet.addReporting(
			organization,
			"missing.local",
			{ FIREWALL_ENABLED: "PASS" },
			{ agoMs: 20 * DAY_MS },
		);
		await fleet.silence(device, 20 * DAY_MS);
		return `/devices/${device.id}`;
	});
	await page.getByText("Missing", { exact: true }).waitFor();
	await page.getByText("no heartbeat for 7 days or more").waitFor();
	await page.getByText("These are the last known states").waitFor();
	// The heading of a check is only its name.
	const check = page.getByRole("heading", {
		name: "Host firewall",
		exact: true,
	});
	expect(await check.innerText()).toBe("Host firewall");
	const opener = page.getByRole("button", {
		name: "Host firewall",
		exact: true,
	});
	// A click beside the name opens the check too. The button covers what stands there.
	await page.getByText("Last known: pass").first().click({ force: true });
	await expect.poll(() => opener.getAttribute("aria-expanded")).toBe("true");
	expect(await page.getByRole("main").innerText()).not.toMatch(/silent|stale/i);
	await axe(page);
});

test("a link to a failing check shows on a phone how to fix it, without scrolling", async () => {
	const { page, at } = await fleet.start("member", async (organization) => {
		const device = await fleet.addReporting(organization, "phone.local", {
			DISK_ENCRYPTION: "FAIL",
			FIREWALL_ENABLED: "FAIL",
			TIME_SYNC: "FAIL",
			AUTO_UPDATE: "FAIL",
		});
		return `/devices/${device.id}`;
	});
	await page.setViewportSize({ width: 390, height: 844 });
	const { pathname } = new URL(page.url());
	await page.goto(at(""));
	await visit(page, `${pathname}?check=AUTO_UPDATE`);
	const opened = page.getByRole("region", { name: "Automatic OS updates" });
	const advice = opened.getByText("How to fix it");
	await advice.waitFor();
	await expect
		.poll(async () => ((await advice.boundingBox())?.y ?? 0) < 844)
		.toBe(true);
	await page.evaluate("window.scrollTo(0, 0)");
	await page.getByRole("button", { name: "Full-disk encryption" }).click();
	expect(await page.evaluate("window.scrollY")).toBe(0);
});

test("the state on a day is the one at its end, and the user can choose a longer period", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		const device = await fleet.addReporting(
			organization,
			"old.local",
			{ FIREWALL_ENABLED: "FAIL" },
			{ agoMs: 60 * DAY_MS },
		);
		await fleet.report(device, { FIREWALL_ENABLED: "PASS" }, HOUR_MS);
		return `/devices/${device.id}?tab=history`;
	});
	const timeline = page.getByRole("img", { name: /^Host firewall/ });
	await timeline.waitFor();
	await expect.poll(() => statesOf(timeline)).toEqual(["SILENT", "PASS"]);
	await page.getByText("90 days").click();
	await expect
		.poll(() => statesOf(timeline))
		.toEqual(["FAIL", "SILENT", "PASS"]);
	await page.reload();
	await expect
		.poll(() => statesOf(timeline))
		.toEqual(["FAIL", "SILENT", "PASS"]);

	const day = (agoMs: number) =>
		new Date(Date.now() - agoMs).toISOString().slice(0, 10);
	const asOf = page.getByRole("region", { name: /^As of / });
	await page.getByLabel("State on the day").fill(day(58 * DAY_MS));
	await asOf.getByText("Last known: fail").waitFor();
	await axe(page);
	await screenshot(page, "devices/as-of");
	await page.getByLabel("State on the day").fill(day(70 * DAY_MS));
	await asOf
		.getByText("Nothing was known about this device at that time")
		.waitFor();
	await page.getByLabel("State on the day").fill(day(0));
	await asOf.getByText("Pass", { exact: true }).waitFor();
	await asOf.getByRole("link", { name: "Report: Host firewall" }).click();
	const dialog = page.getByRole("dialog", { name: "Report" });
	await dialog.getByText("root, home").waitFor();
	await axe(page);
	await pressEscape(dialog);
	await dialog.waitFor({ state: "hidden" });
	const listed = page.getByRole("tabpanel").locator("tbody tr");
	await expect.poll(() => listed.count()).toBe(2);
});

test("a silence of the device is no report for every check, in the timeline, the changes and the state on a day", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		const statuses = { FIREWALL_ENABLED: "PASS", TIME_SYNC: "PASS" };
		const device = await fleet.addReporting(
			organization,
			"away.local",
			statuses,
			{ agoMs: 12 * DAY_MS },
		);
		await fleet.report(device, statuses, 2 * DAY_MS);
		await fleet.report(device, { ...statuses, TIME_SYNC: "FAIL" });
		return `/devices/${device.id}?tab=history&range=30d&check=FIREWALL_ENABLED`;
	});
	const timeline = (name: RegExp) => page.getByRole("img", { name });
	await timeline(/^Host firewall/).waitFor();
	for (const [name, last] of [
		[/^Host firewall/, []],
		[/^System clock/, ["FAIL"]],
	] as const) {
		await expect
			.poll(() => statesOf(timeline(name)))
			.toEqual(["PASS", "SILENT", "PASS", ...last]);
	}
	const changes = page.getByRole("region", { name: "Changes: Host firewall" });
	await changes.getByText(/^Silent from .* to /).waitFor();
	const day = new Date(Date.now() - 6 * DAY_MS).toISOString().slice(0, 10);
	await page.getByLabel("State on the day").fill(day);
	const asOf = page.getByRole("region", { name: /^As of / });
	await expect.poll(() => asOf.getByText("Last known: pass").count()).toBe(2);
	await axe(page);
	await screenshot(page, "devices/silence");
});

test("a member can change only name and owner, and a viewer sees no button that would be rejected", async () => {
	let id = "";
	const { page, organization, at } = await fleet.start(
		"member",
		async (own) => {
			({ id } = await fleet.addReporting(own, "a.local", {}));
			return `/devices/${id}`;
		},
	);
	await page.getByRole("button", { name: "Edit" }).click();
	await page.getByLabel("Name", { exact: true }).fill("Reception");
	await page.getByRole("button", { name: "Save" }).click();
	await page.getByRole("heading", { name: "Reception", level: 1 }).waitFor();
	expect(await page.getByRole("button", { name: "Actions" }).count()).toBe(0);
	await visit(page, at("/devices"));
	await page.getByRole("link", { name: "Reception" }).waitFor();
	expect(await page.getByRole("link", { name: "Add device" }).count()).toBe(0);

	const viewer = await served.makePerson("viewer", organization);
	const seen = await served.openPageAs(viewer, at(`/devices/${id}`));
	await seen.getByRole("heading", { name: "Reception", level: 1 }).waitFor();
	for (const name of ["Edit", "Actions"]) {
		expect(await seen.getByRole("button", { name }).count()).toBe(0);
	}
	await visit(seen, at("/devices/new"));
	await seen.getByText("Only administrators can add devices").waitFor();
});

test("the reports of a device show the failed checks, when a delayed report was observed, and how long reports are kept", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		const device = await fleet.addReporting(organization, "a.local", {
			FIREWALL_ENABLED: "FAIL",
			DISK_ENCRYPTION: "FAIL",
			TIME_SYNC: "PASS",
		});
		const { observed_at: _, ...result } = postureResult({ status: "PASS" });
		await must(
			served.post(
				"postures",
				{ results: [{ ...result, observed_at: "2026-02-28T11:30:00Z" }] },
				{ key: device.key },
			),
			204,
		);
		return `/devices/${device.id}?tab=reports`;
	});
	const rows = page.getByRole("row").filter({ hasText: /pass/ });
	await expect.poll(() => rows.count()).toBe(2);
	const [waited = "", prompt = ""] = await rows.allInnerTexts();
	expect(waited).toContain("Observed 28 Feb 2026, 12:30");
	expect(prompt).not.toContain("Observed");
	expect(prompt).toContain("2 fail");
	expect(prompt).toContain("Full-disk encryption, Host firewall");
	// Reports are kept until the first day of the month that follows 13 whole months, unless the
	// operator sets another time.
	const now = new Date();
	const end = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 14));
	const day = new Intl.DateTimeFormat("en-GB", {
		dateStyle: "medium",
		timeZone: "UTC",
	});
	expect(prompt).toContain(day.format(end));
	await screenshot(page, "devices/reports");
});

test("a check shows its value, why it fails and how to fix it", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		const device = await fleet.addReporting(organization, "fix.local", {});
		const results = [
			{
				check_key: "PASSWORD_POLICY",
				status: "FAIL",
				evidence: { engine: "pam_unix", minimum_length: 6 },
			},
			{
				check_key: "SCREEN_LOCK",
				status: "PASS",
				evidence: { lock_enabled: true, idle_seconds: 300 },
			},
			{
				check_key: "FIREWALL_ENABLED",
				status: "FAIL",
				evidence: {
					engine: "none",
					ipv4_filtered: false,
					ipv6_filtered: false,
				},
			},
			{
				check_key: "DISK_ENCRYPTION",
				status: "UNKNOWN",
				evidence: { reason: "needs_root" },
			},
		].map((result) => postureResult(result));
		await must(served.post("postures", { results }, { key: device.key }), 204);
		return `/devices/${device.id}`;
	});
	const opener = (name: string) => page.getByRole("button", { name });
	const row = (name: string) =>
		page.locator(".mantine-Accordion-item", { has: opener(name) });
	// What to fix comes first, although the device as a whole is not proved.
	const policy = page.getByRole("region", { name: "Details" });
	await policy.getByText(/^2 fail, in grace until \d/).waitFor();
	await policy
		.getByText(`1 unknown, ${CHECK_KEYS.length - 4} not reported`)
		.waitFor();
	await policy
		.getByText("Not proved: a required check is unknown, silent or not")
		.waitFor();
	await row("Local password policy").getByText("6 characters").waitFor();
	await row("Screen or idle lock").getByText("after 5 min").waitFor();
	await row("Host firewall").getByText("Off", { exact: true }).waitFor();
	await opener("Local password policy").click();
	const fix = page.getByRole("alert").filter({ hasText: "How to fix it" });
	await fix
		.getByText("The minimum length is 6; at least 8 is required.")
		.waitFor();
	await fix.getByText("Administrators:").waitFor();
	await fix.getByRole("code").getByText("minlen = 12").waitFor();
	await axe(page);
	await screenshot(page, "devices/how-to-fix");
});
