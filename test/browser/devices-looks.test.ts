import { afterAll, beforeAll, expect, test } from "vitest";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import type { TestDevice } from "../support/service.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { DAY_MS, type Fleet, fleetOf } from "./fleet.ts";

let served: TestConsole;
let fleet: Fleet;
beforeAll(async () => {
	served = await startConsole();
	fleet = fleetOf(served);
});
afterAll(() => served.close());

test("a fleet and a year of history are readable, also in dark and at 375 px", async () => {
	let id = "";
	const { page, person, at } = await fleet.start(
		"admin",
		async (organization) => {
			({ id } = await addYear(organization));
		},
	);
	await page.getByRole("link", { name: "ada-macbook.local" }).waitFor();
	await screenshot(page, "devices/list");
	const list: View = ["list", "/devices"];
	const history: View = ["history", `/devices/${id}?tab=history&range=365d`];
	const checks: View = ["device", `/devices/${id}?check=OS_VERSION`];
	const looks: [string, object, View[]][] = [
		[
			"light",
			{ viewport: { width: 1280, height: 1300 } },
			[list, checks, history, ["enrollment", `/devices/${id}?tab=enrollment`]],
		],
		["dark", { colorScheme: "dark" }, [list, history]],
		[
			"375",
			{ viewport: { width: 375, height: 740 } },
			[
				list,
				checks,
				history,
				["reports", `/devices/${id}?tab=reports`],
				["add", "/devices/new"],
			],
		],
	];
	for (const [look, options, views] of looks) {
		const [[, first] = list] = views;
		const view = await served.openPageAs(person, at(first), options);
		for (const [name, path] of views) {
			if (path !== first) await view.goto(at(path));
			await view.getByRole("heading", { level: 1 }).waitFor();
			await view
				.locator("[aria-busy=true]")
				.first()
				.waitFor({ state: "detached" });
			await view.waitForLoadState("networkidle");
			await axe(view);
			await screenshot(view, `devices/${name}-${look}`);
			const [wide, shown] = (await view.evaluate(
				"[document.documentElement.scrollWidth, innerWidth]",
			)) as [number, number];
			expect(wide, `${name} at ${look}`).toBeLessThanOrEqual(shown);
		}
	}
});

/** The name of a screenshot and the path of the page. */
type View = [name: string, path: string];

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
