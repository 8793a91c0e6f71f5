import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import type { TestDevice } from "../support/service.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { DAY_MS, type Fleet, fleetOf } from "./fleet.ts";

let served: TestConsole;
let fleet: Fleet;
beforeAll(async () => {
	served = await startConsole();
	fleet = fleetOf(served);
});
afterAll(() => served.close());

interface View {
	path: string;
	/** Text that the page shows when it is complete. */
	shown: Locator;
}

test("a fleet and a year of history are readable, also in dark mode and at 375 px", async () => {
	let id = "";
	const { page, at } = await fleet.start("admin", async (organization) => {
		({ id } = await addYear(organization));
		return undefined;
	});
	const main = page.getByRole("main");
	const views = {
		list: {
			path: "/devices",
			shown: main.getByRole("link", { name: "ada-macbook.local" }),
		},
		device: {
			path: `/devices/${id}?check=OS_VERSION`,
			shown: main.getByRole("button", { name: "As sent (JSON)" }),
		},
		history: {
			path: `/devices/${id}?tab=history&range=365d`,
			shown: main.getByRole("img", { name: /^Host firewall/ }),
		},
		enrollment: {
			path: `/devices/${id}?tab=enrollment`,
			shown: main.getByText("In use by the device's agent"),
		},
		reports: {
			path: `/devices/${id}?tab=reports`,
			shown: main.getByText("Host firewall").first(),
		},
		add: {
			path: "/devices/new",
			shown: main.getByRole("button", { name: "Add the device" }),
		},
	} satisfies Record<string, View>;
	const look = async (
		name: string,
		[view, { path, shown }]: [string, View],
	) => {
		await visit(page, at(path));
		await shown.waitFor();
		await screenshot(page, `devices/${view}-${name}`);
		const [wide, visible] = (await page.evaluate(
			"[document.documentElement.scrollWidth, innerWidth]",
		)) as [number, number];
		expect(wide, `${view} at ${name}`).toBeLessThanOrEqual(visible);
	};
	await page.setViewportSize({ width: 1280, height: 1300 });
	// accessibility.test.ts checks the list and the device's page.
	const { list, device, ...others } = views;
	for (const view of Object.entries({ list, device }))
		await look("light", view);
	for (const view of Object.entries(others)) {
		await look("light", view);
		await axe(page);
	}
	await page.emulateMedia({ colorScheme: "dark" });
	const { history } = views;
	await look("dark", ["list", list]);
	await look("dark", ["history", history]);
	await axe(page);
	await page.setViewportSize({ width: 375, height: 740 });
	await page.emulateMedia({ colorScheme: "light" });
	for (const view of Object.entries(views)) await look("375", view);
});

test("a phone shows a frame around the bars of the checks only while it shows the bars", async () => {
	const { page } = await fleet.start("viewer", async (organization) => {
		await fleet.addReporting(organization, "phone.local", {
			FIREWALL_ENABLED: "PASS",
		});
	});
	const strip = page.getByRole("region", { name: "Fleet", exact: true });
	const isFramed = async () =>
		(await strip.getAttribute("data-with-border")) !== null;
	await strip.waitFor();
	await expect.poll(isFramed).toBe(true);
	await page.setViewportSize({ width: 390, height: 844 });
	await expect.poll(isFramed).toBe(false);
	await screenshot(page, "devices/strip-390");
	await strip.getByRole("button", { name: "All numbers" }).click();
	await expect.poll(isFramed).toBe(true);
});

/** Creates a fleet with devices in every state. Returns the device that has a year of history. */
async function addYear(organization: string): Promise<TestDevice> {
	const every = (status: string) =>
		Object.fromEntries(CHECK_KEYS.map((key) => [key, status]));
	const device = await fleet.addReporting(
		organization,
		"ada-macbook.local",
		every("PASS"),
		{ agoMs: 364 * DAY_MS },
	);
	for (let day = 360; day > 0; day -= 4) {
		const isOff = day > 120 && day < 150;
		if (isOff) continue;
		await fleet.report(
			device,
			{
				...every("PASS"),
				FIREWALL_ENABLED: day < 40 || day > 300 ? "FAIL" : "PASS",
				OS_VERSION: day % 60 < 12 ? "FAIL" : "PASS",
				PASSWORD_POLICY: day > 200 ? "UNKNOWN" : "PASS",
				MALWARE_PROTECTION: "NOT_APPLICABLE",
			},
			day * DAY_MS,
		);
	}
	await fleet.report(device, { ...every("PASS"), FIREWALL_ENABLED: "FAIL" });
	await fleet.addReporting(organization, "build-01.example.com", every("PASS"));
	await fleet.addReporting(organization, "front-desk.local", {
		...every("PASS"),
		TIME_SYNC: "UNKNOWN",
	});
	await fleet.addReporting(organization, "grace-thinkpad.local", {
		DISK_ENCRYPTION: "FAIL",
		SCREEN_LOCK: "FAIL",
		AUTO_UPDATE: "FAIL",
	});
	const stale = await fleet.addReporting(
		organization,
		"linus-desktop",
		every("PASS"),
	);
	await fleet.silence(stale, 2 * DAY_MS);
	const missing = await fleet.addReporting(
		organization,
		"old-server",
		every("FAIL"),
	);
	await fleet.silence(missing, 20 * DAY_MS);
	await served.makeToken(organization);
	return device;
}
