import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeApiToken } from "../support/people.ts";
import {
	heartbeatBody,
	postureResult,
	type TestDevice,
} from "../support/service.ts";
import {
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { aRisk, dayFromNow, openHome, type Use } from "./home-page.ts";
import { SAVE_DATA, settled } from "./settled.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

/**
 * Adds work that is overdue (two days ago), due soon (in five days), and without a due date. One of
 * the tasks is done.
 */
async function addWork(use: Use) {
	for (const day of [dayFromNow(-2), dayFromNow(5), null]) {
		await use("addTask", { name: "Review access", deadline: day });
		await use("addNonconformity", { description: "No log", due_date: day });
		await use("addObligation", { requirement: "Keep logs", due_date: day });
	}
	await use("addTask", { name: "Over", deadline: "2026-01-01", state: "DONE" });
	await use("addContinualImprovement", { target_date: dayFromNow(3) });
	for (const [likelihood, impact] of [
		[1, 2],
		[2, 4],
		[3, 4],
		[5, 5],
		[5, 5],
	] as const) {
		await use("addRisk", aRisk(likelihood, impact));
	}
}

async function addDevice(
	organization: string,
	hostname: string,
	statuses: Record<string, string>,
): Promise<TestDevice> {
	const device = await served.enrollDevice(organization);
	const { key, hardwareUuid: hardware_uuid } = device;
	const body = heartbeatBody({ hostname, hardware_uuid });
	expect((await served.post("heartbeat", body, { key })).status).toBe(200);
	const results = Object.entries(statuses).map(([check_key, status]) =>
		postureResult({ check_key, status }),
	);
	const answer = await served.post("postures", { results }, { key });
	expect(answer.status).toBe(204);
	return device;
}

const silence = ({ id }: TestDevice, days: number) =>
	served.database.owner.query(
		"update devices set last_seen_at = now() - $2 * interval '1 day' where id = $1",
		[id, days],
	);

/**
 * Adds devices that are online and pass, fail or do not know a check, one that is stale, one that
 * is missing, and one that never enrolled.
 */
async function addFleet(organization: string) {
	const all = { DISK_ENCRYPTION: "PASS", FIREWALL_ENABLED: "PASS" };
	await addDevice(organization, "anna", all);
	await addDevice(organization, "bert", { ...all, DISK_ENCRYPTION: "FAIL" });
	await addDevice(organization, "carl", {
		...all,
		FIREWALL_ENABLED: "UNKNOWN",
	});
	await silence(await addDevice(organization, "dora", all), 1);
	await silence(
		await addDevice(organization, "emil", { DISK_ENCRYPTION: "FAIL" }),
		9,
	);
	await served.makeToken(organization);
}

async function addAll(use: Use, organization: string) {
	await addWork(use);
	await addFleet(organization);
}

/**
 * Returns the links on the page whose text contains a number, each with its target and its number.
 */
async function numbersOn(page: Page) {
	const links = await page.getByRole("main").getByRole("link").all();
	const found: { name: string; href: string; count: number }[] = [];
	for (const link of links) {
		const href = (await link.getAttribute("href")) ?? "";
		const name =
			(await link.getAttribute("aria-label")) ??
			(await link.innerText()).replaceAll(/\s+/g, " ");
		const of = /(\d+) devices?/.exec(name) ?? /(\d+)/.exec(name);
		if (of && /\/(devices|r\/\w+)(\?|$)/.test(href)) {
			found.push({ name, href, count: Number(of[1]) });
		}
	}
	return found;
}

test("every number links to a list with that many rows", async () => {
	const { page } = await openHome(served, "admin", { prepare: addAll });
	await page.getByRole("heading", { name: "Fleet posture" }).waitFor();
	// Each part of the page loads its data with a separate request. The legend names the states that
	// the bars have.
	await expect
		.poll(() => page.getByRole("listitem").allInnerTexts())
		.toEqual(
			expect.arrayContaining([
				"Passing",
				"In grace",
				"Unknown",
				"Not reported",
			]),
		);
	let numbers: Awaited<ReturnType<typeof numbersOn>> = [];
	const read = async () => {
		numbers = await numbersOn(page);
		return numbers.map(({ name, count }) => `${name} = ${count}`);
	};
	await expect
		.poll(read)
		.toEqual([
			"5 risks without an owner = 5",
			"Open nonconformities: 3 = 3",
			"1 overdue = 1",
			"1 due soon = 1",
			"Open tasks: 3 = 3",
			"1 overdue = 1",
			"1 due soon = 1",
			"Open obligations: 3 = 3",
			"1 overdue = 1",
			"1 due soon = 1",
			"Open improvements: 1 = 1",
			"1 due soon = 1",
			"3 Online = 3",
			"1 Stale = 1",
			"1 Missing = 1",
			"1 Pending = 1",
			"Full-disk encryption: 60% pass, 3 devices = 3",
			"Full-disk encryption: 2 in grace = 2",
			"Host firewall: 60% pass, 3 devices = 3",
			"Host firewall: 1 not reported = 1",
			"Host firewall: 1 unknown = 1",
			"2 Critical = 2",
			"1 High = 1",
			"1 Medium = 1",
			"1 Low = 1",
			"2 risks, score 25 Critical , likelihood 5 Almost certain, impact 5 Severe = 2",
			"1 risk, score 12 High , likelihood 3 Possible, impact 4 Major = 1",
			"1 risk, score 8 Medium , likelihood 2 Unlikely, impact 4 Major = 1",
			"1 risk, score 2 Low , likelihood 1 Rare, impact 2 Minor = 1",
		]);
	for (const { name, href, count } of numbers) {
		const message = `${name}: ${href}`;
		// For a moment, the page may still show the rows of the previous list.
		const [answer] = await Promise.all([
			page.waitForResponse(
				/\/api\/console\/list(?!Organizations|DeviceGroups|PostureSummary)/,
			),
			visit(page, href),
		]);
		const lists = Object.values(await answer.json()).filter(Array.isArray);
		expect(lists[0], message).toHaveLength(count);
		const rows = page.locator("tbody tr");
		await expect.poll(() => rows.count(), { message }).toBe(count);
	}
});

test("the first page loads less than 300 KB of compressed script", async () => {
	const { page } = await openHome(served, "admin", {
		prepare: async (use, organization) => {
			await use("addRisk", aRisk(3, 5));
			await addFleet(organization);
		},
	});
	const session = await page.context().newCDPSession(page);
	const scripts = new Map<string, number>();
	const names = new Map<string, string>();
	session.on("Network.responseReceived", ({ requestId, type, response }) => {
		if (type !== "Script") return;
		scripts.set(requestId, 0);
		names.set(requestId, response.url.replace(/^.*\//, ""));
	});
	session.on("Network.loadingFinished", ({ requestId, encodedDataLength }) => {
		if (scripts.has(requestId)) scripts.set(requestId, encodedDataLength);
	});
	// Otherwise the code of the search is loaded two seconds later, which a busy machine would count.
	await page.addInitScript(SAVE_DATA);
	await session.send("Network.enable");
	await session.send("Network.setCacheDisabled", { cacheDisabled: true });
	await page.reload();
	await page.getByRole("heading", { name: "Fleet posture" }).waitFor();
	await page.getByRole("link", { name: "1 risk, score 15" }).waitFor();
	await page.getByRole("link", { name: /^\d Online/ }).waitFor();
	await settled(page);
	// The page may still have loaded some of them when it was loaded again.
	const sizes = new Map(
		[...scripts].map(([id, size]) => [names.get(id), size] as const),
	);
	const bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
	expect(bytes).toBeGreaterThan(50_000);
	expect(bytes, [...sizes].join(" ")).toBeLessThan(300_000);
});

test("a check that has been failing for long links to its history on the device's page", async () => {
	let id = "";
	const { page } = await openHome(served, "member", {
		prepare: async (_, organization) => {
			const checks = { SCREEN_LOCK: "FAIL" };
			({ id } = await addDevice(organization, "laptop-7", checks));
		},
	});
	const failing = page.getByRole("region", { name: "Failing longest" });
	await failing.getByText("Screen or idle lock").waitFor();
	await failing.getByRole("link").click();
	await page.waitForURL(`**/devices/${id}?check=SCREEN_LOCK`);
});

test("the lists of failing checks show the whole name of a device, on a screen and on a phone", async () => {
	const name =
		"DESKTOP-of-the-accounting-department-third-floor-left-window-0042";
	const { page } = await openHome(served, "member", {
		prepare: async (_, organization) => {
			const checks = { SCREEN_LOCK: "FAIL" };
			const { id } = await addDevice(organization, name, checks);
			await served.database.owner.query(
				"update devices set name = $2 where id = $1",
				[id, name],
			);
		},
	});
	for (const width of [1440, 390]) {
		await page.setViewportSize({ width, height: 900 });
		for (const title of ["Failing longest", "Began to fail since yesterday"]) {
			const link = page
				.getByRole("region", { name: title })
				.getByRole("link", { name });
			await link.scrollIntoViewIfNeeded();
			// A text that is cut off is wider than its box.
			const isWhole = () =>
				link.evaluate(
					({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth + 1,
				);
			await expect
				.poll(isWhole, { message: `${title} at ${width} px` })
				.toBe(true);
		}
	}
	await screenshot(page, "home-failing-390");
});

test("checks that began to fail are shown up to the latest ten, and the page says that there may be more", async () => {
	const { page } = await openHome(served, "member", {
		prepare: async (_, organization) => {
			const checks = Object.fromEntries(
				Array.from({ length: 11 }, (_, index) => [
					`OWN_CHECK_${index}`,
					"FAIL",
				]),
			);
			await addDevice(organization, "laptop-8", checks);
		},
	});
	const began = page.getByRole("region", {
		name: "Began to fail since yesterday",
	});
	await began.getByText("These are the latest 10 checks.").waitFor();
	// The device is named once.
	await began.getByText(/^OWN_CHECK_\d+, OWN_CHECK_\d+, /).waitFor();
	expect(await began.getByRole("listitem").count()).toBe(1);
	await began.getByRole("link", { name: "Fleet in a period" }).click();
	const from = page.getByLabel("From");
	await expect
		.poll(async () => Date.now() - Date.parse(await from.inputValue()))
		.toBeLessThan(3 * 86_400_000);
});

test("administrators see old API tokens and who changed what, and others see which records changed", async () => {
	const { page, organization, person } = await openHome(served, "admin", {
		prepare: async (use, _, admin) => {
			const { id } = await makeApiToken(served.database, admin);
			await served.database.owner.query(
				"update api_tokens set created_at = now() - interval '91 days' where id = $1",
				[id],
			);
			await use("addRisk", aRisk(3, 5));
			await use("addDevice", { owner_id: null });
		},
	});
	const lately = page.getByRole("region", { name: "Recent changes" });
	await lately.getByText(`${person.name} added the risk Risk 3 × 5`).waitFor();
	await lately
		.getByText(`${person.name} added the device Unnamed device`)
		.waitFor();
	// Its entry in the log keeps no name, but the agent has sent one since.
	await served.database.owner.query(
		"update devices set hostname = 'ada.local' where organization_id = $1",
		[organization],
	);
	await page.reload();
	await lately.getByRole("link", { name: "ada.local" }).waitFor();
	await page
		.getByRole("link", { name: "1 API token is older than 90 days" })
		.click();
	await page.waitForURL("**/settings/api-tokens?of=organization&age=old");

	const other = await openHome(served, "viewer", { organization });
	const records = other.page.getByRole("region", {
		name: "Recent changes",
	});
	await records.getByRole("link", { name: "Risk 3 × 5" }).click();
	await other.page.waitForURL("**/r/risk/*");
	await other.page.goBack();
	await records.waitFor();
	expect(await other.page.getByText("older than 90 days").count()).toBe(0);
	expect(await other.page.getByText("First steps").count()).toBe(0);
});

test("Recent changes shows what people did, although devices and the service wrote more since", async () => {
	const { page, person } = await openHome(served, "admin", {
		prepare: async (use, organization) => {
			await use("addRisk", aRisk(3, 5));
			// Each first heartbeat writes an entry.
			for (let count = 0; count < 7; count += 1) {
				await addDevice(organization, `automatic-${count}`, {});
			}
		},
	});
	const lately = page.getByRole("region", { name: "Recent changes" });
	await lately.getByText(`${person.name} added the risk Risk 3 × 5`).waitFor();
	expect(await lately.getByText("automatic-6").count()).toBe(0);
	await lately.getByRole("link", { name: "All changes" }).click();
	await page.waitForURL("**/settings/audit-log");
	await page.getByText("automatic-6").first().waitFor();
});

test("the page reads well in light and dark mode and at 375 px", async () => {
	const { page, organization } = await openHome(served, "admin", {
		prepare: addAll,
	});
	await page.getByRole("heading", { name: "Fleet posture" }).waitFor();
	await screenshot(page, "home");
	const viewer = (await openHome(served, "viewer", { organization })).page;
	await viewer.getByRole("heading", { name: "Fleet posture" }).waitFor();
	// Nothing can be assigned to a viewer who is no person of the register.
	expect(await viewer.getByRole("region", { name: "Mine" }).count()).toBe(0);
	await viewer.emulateMedia({ colorScheme: "dark" });
	await screenshot(viewer, "home-dark");
	await viewer.emulateMedia({ colorScheme: "light" });
	await viewer.setViewportSize({ width: 375, height: 2600 });
	await screenshot(viewer, "home-375");
	await expect
		.poll(() => viewer.evaluate("document.documentElement.scrollWidth"))
		.toBeLessThanOrEqual(375);
});
