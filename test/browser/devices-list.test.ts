import { afterAll, beforeAll, expect, test } from "vitest";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { recordOperations } from "../../src/records/operations.ts";
import { people } from "../../src/registers/people.ts";
import { callAs } from "../support/people.ts";
import { heartbeatBody } from "../support/service.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { type Fleet, fleetOf, must } from "./fleet.ts";

let served: TestConsole;
let fleet: Fleet;
beforeAll(async () => {
	served = await startConsole();
	fleet = fleetOf(served);
});
afterAll(() => served.close());

test("the devices that fail a check are sorted by the time since when, longest first", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		const checks = { FIREWALL_ENABLED: "FAIL" };
		for (const [name, days] of [
			["middle.local", 20],
			["longest.local", 30],
			["shortest.local", 10],
		] as const) {
			await fleet.addReporting(organization, name, checks);
			await served.database.owner.query(
				`update posture_spans s set since = now() - $3 * interval '1 day' from devices d
				where d.organization_id = $1 and d.hostname = $2 and s.organization_id = $1
					and s.device_id = d.id and s.check_key = 'FIREWALL_ENABLED'`,
				[organization, name, days],
			);
		}
	});
	await page.getByRole("heading", { name: "Devices", level: 1 }).waitFor();
	const address = new URL(page.url());
	const table = page.getByRole("region", { name: "Devices", exact: true });
	const names = () =>
		table.getByRole("link", { name: /local/ }).allInnerTexts();
	const failing = new URL("?failing_check=FIREWALL_ENABLED", address).href;
	await visit(page, failing);
	const since = table.getByRole("columnheader", { name: "Since" });
	await since.getByRole("button").click();
	const longestFirst = ["longest.local", "middle.local", "shortest.local"];
	await expect.poll(names).toEqual(longestFirst);
	await axe(page);
	await screenshot(page, "devices/since");
	await since.getByRole("button").click();
	await expect.poll(names).toEqual(longestFirst.toReversed());
	// The order knows failing checks of the present only.
	await visit(
		page,
		new URL("?not_passing_check=FIREWALL_ENABLED", address).href,
	);
	await since.waitFor();
	expect(await since.getByRole("button").count()).toBe(0);
});

test("the list says that the newest devices come first, also in the header of the column Added", async () => {
	const { page, at } = await fleet.start("viewer", async (organization) => {
		await fleet.addReporting(organization, "older", {});
		await fleet.addReporting(organization, "newer", {});
		return undefined;
	});
	const names = () => page.locator("tbody .data-table-link").allInnerTexts();
	await expect.poll(names).toEqual(["newer", "older"]);
	await page
		.getByRole("navigation", { name: "Pages of the list" })
		.getByText("Latest added first")
		.waitFor();
	await visit(page, at("/devices?cols=name,added"));
	const added = page.getByRole("columnheader", { name: "Added" });
	await expect.poll(() => added.getAttribute("aria-sort")).toBe("descending");
	await added.getByRole("button").click();
	await expect.poll(names).toEqual(["older", "newer"]);
});

test("the first device is in the upper part of the screen, and a search finds owner and system", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		const { id } = await fleet.addReporting(organization, "one.local", {
			FIREWALL_ENABLED: "PASS",
		});
		await fleet.addReporting(organization, "two.local", {});
		await served.database.owner.query(
			"update devices set os_version = 'Plan 9 Fourth Edition' where id = $1",
			[id],
		);
	});
	await page.setViewportSize({ width: 1440, height: 900 });
	const rows = page
		.getByRole("region", { name: "Devices", exact: true })
		.locator("tbody tr");
	await expect.poll(() => rows.count()).toBe(2);
	const strip = page.getByRole("region", { name: "Fleet" });
	await strip.waitFor();
	const top = async () => (await rows.first().boundingBox())?.y;
	// The strip has five columns at this width, for the checks and its buttons. Two rows of it fit.
	const moreRows = Math.ceil((CHECK_KEYS.length + 1) / 5) - 2;
	await expect.poll(top).toBeLessThanOrEqual(330 + 40 * moreRows);
	const counts = page.getByRole("group", { name: "By heartbeat" });
	const link = await counts.getByRole("link").first().boundingBox();
	expect(link?.height).toBeGreaterThanOrEqual(24);
	const search = page.getByRole("searchbox", { name: "Search devices" });
	await search.fill("plan fourth");
	await expect.poll(() => rows.count()).toBe(1);
	await rows.getByText("one.local").waitFor();
	await axe(page);
	await screenshot(page, "devices/strip");

	await page.getByRole("button", { name: "Columns" }).click();
	await page.getByRole("checkbox", { name: "Serial number" }).click();
	await page.getByRole("checkbox", { name: "Platform" }).click();
	const heading = (name: string) => page.getByRole("columnheader", { name });
	await heading("Serial number").waitFor();
	await heading("Platform").waitFor({ state: "hidden" });
	await axe(page);
	await page.reload();
	await heading("Serial number").waitFor();
	expect(await heading("Platform").count()).toBe(0);
});

test("the list of devices does not move when the strip of the checks has its numbers", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		await fleet.addReporting(organization, "one.local", {});
	});
	const strip = page.getByRole("region", { name: "Fleet" });
	const row = page
		.getByRole("region", { name: "Devices", exact: true })
		.locator("tbody tr");
	const top = async () => (await row.boundingBox())?.y;
	let gate = Promise.withResolvers<void>();
	gate.resolve();
	await page.route("**/listPostureSummary*", async (route) => {
		await gate.promise;
		await route.continue();
	});
	for (const width of [1440, 1024]) {
		await page.setViewportSize({ width, height: 900 });
		await page.reload();
		await strip.waitFor();
		await row.waitFor();
		const withNumbers = await top();
		gate = Promise.withResolvers();
		await page.reload();
		await row.waitFor();
		await expect.poll(top).toBe(withNumbers);
		expect(await strip.count()).toBe(0);
		gate.resolve();
		await strip.waitFor();
		await expect.poll(top).toBe(withNumbers);
	}
});

test("a list can be sorted and read page by page, and an invalid page shows an error in plain words", async () => {
	const { page, at } = await fleet.start("viewer", async (organization) => {
		for (let n = 1; n <= 21; n++) {
			const { id } = await served.makeToken(organization);
			await served.database.owner.query(
				"update devices set name = $2 where id = $1",
				[id, `device ${String(n).padStart(2, "0")}`],
			);
		}
	});
	const rows = page
		.getByRole("region", { name: "Devices", exact: true })
		.locator("tbody tr");
	// The header stays on top of the page, and nothing gets the focus behind it (WCAG 2.4.11).
	await expect.poll(() => rows.count()).toBe(20);
	const header = await page.getByRole("banner").boundingBox();
	const focus = page.locator(":focus");
	await page.getByRole("button", { name: "Columns" }).focus();
	for (const expected of ["Devices", "Device", "Last seen"]) {
		await page.keyboard.press("Tab");
		await expect
			.poll(() => focus.evaluate((one) => one.ariaLabel ?? one.textContent))
			.toContain(expected);
		await expect
			.poll(async () => (await focus.boundingBox())?.y)
			.toBeGreaterThanOrEqual(header?.height ?? Number.NaN);
	}
	await page.getByRole("button", { name: "Device", exact: true }).click();
	await rows.first().getByText("device 01").waitFor();
	await page.getByRole("button", { name: "Next page" }).click();
	await rows.first().getByText("device 21").waitFor();
	await expect.poll(() => rows.count()).toBe(1);
	await page.goBack();
	await rows.first().getByText("device 01").waitFor();
	await visit(page, at("/devices?cursor=nonsense"));
	await page.getByRole("alert").getByText("cursor").waitFor();
	await page.getByRole("button", { name: "Try again" }).waitFor();
	await page.getByRole("button", { name: "First page" }).click();
	await expect.poll(() => rows.count()).toBe(20);
	await visit(page, at("/devices?of_colour=red"));
	await page.getByRole("alert").getByText("of_colour").waitFor();
	await page
		.getByRole("button", { name: "Show the list without filters" })
		.click();
	await expect.poll(() => rows.count()).toBe(20);
});

test("duplicate hardware and a possible clone are shown with what to do about them", async () => {
	let second = "";
	const { page, at } = await fleet.start("admin", async (organization) => {
		const first = await fleet.addReporting(organization, "first.local", {});
		const again = await served.enrollDevice(organization);
		second = again.id;
		const same = heartbeatBody({
			hostname: "again.local",
			hardware_uuid: first.hardwareUuid,
		});
		await must(served.post("heartbeat", same, { key: again.key }), 400);
		const other = heartbeatBody({ hostname: "copy.local" });
		await must(served.post("heartbeat", other, { key: first.key }), 200);
	});
	const table = page.getByRole("region", { name: "Devices", exact: true });
	await table.getByText("Duplicate hardware").waitFor();
	await table.getByText("Possible clone").waitFor();
	await page.getByRole("button", { name: "More filters" }).click();
	await page.getByRole("combobox", { name: "Conflict" }).click();
	await page.getByRole("option", { name: "Possible clone" }).click();
	await table.getByText("Duplicate hardware").waitFor({ state: "hidden" });
	await table.getByText("Possible clone").waitFor();
	await visit(page, at(`/devices/${second}`));
	await page.getByText("again.local", { exact: true }).waitFor();
	await page.getByText("say so here").waitFor();
	await axe(page);
	await screenshot(page, "devices/conflict");
	await page.getByRole("link", { name: "copy.local" }).click();
	await page.getByRole("heading", { name: "copy.local", level: 1 }).waitFor();
	await page.getByText("If not, the key was copied").waitFor();
	await page.getByRole("button", { name: "Reissue the token …" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("button", { name: "Reissue the token" }).waitFor();
	await dialog.getByRole("button", { name: "Cancel" }).click();
	await dialog.waitFor({ state: "hidden" });
	await axe(page);
	await screenshot(page, "devices/clone");
	await page.getByRole("button", { name: "Revoke the device …" }).click();
	await dialog.getByRole("button", { name: "Revoke the device" }).click();
	await page.getByText("Revoked", { exact: true }).first().waitFor();
});

test("the list shows long names of hosts and systems in full at 1280 px, and asks for no names of owners", async () => {
	const system = "Windows 11 Pro 25H2 (26200.7171)";
	const host = (end: string) =>
		`production-reporting-database-${end}.eu-central-1.compute.internal`;
	const { page, at } = await fleet.start("admin", async (organization) => {
		const admin = await served.makePerson("admin", organization);
		for (const end of ["a", "b"]) {
			const device = await fleet.addReporting(organization, host(end), {});
			const { people: owner } = await callAs(
				served.database,
				admin,
				recordOperations(people)[2],
				{
					organization_id: organization,
					full_name: `Owner ${end}`,
					primary_email_address: `${end}@example.com`,
					kind: "EMPLOYEE",
				},
			);
			await served.database.owner.query(
				"update devices set owner_id = $2, name = $3, os_version = $4 where id = $1",
				[device.id, owner.id, end === "a" ? "Database" : null, system],
			);
		}
		return "/settings/organization";
	});
	const asked: string[] = [];
	page.on("request", (request) => asked.push(request.url()));
	await visit(page, at("/devices"));
	for (const end of ["a", "b"]) {
		await page.getByRole("cell", { name: `Owner ${end}` }).waitFor();
		const row = page.getByRole("row").filter({ hasText: host(end) });
		for (const text of [host(end), system]) {
			const cut = () =>
				row
					.getByText(text, { exact: true })
					.evaluate((it) => [
						it.scrollWidth - it.clientWidth,
						it.scrollHeight - it.clientHeight,
					]);
			await expect.poll(cut, { message: text }).toEqual([0, 0]);
		}
	}
	await screenshot(page, "devices/long-names");
	const calls = asked.flatMap(
		(url) => /api\/console\/(\w+)/.exec(url)?.[1] ?? [],
	);
	expect(calls).not.toContain("getRecordNames");
	expect(calls).not.toContain("getPeople");
});
