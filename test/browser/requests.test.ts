import { afterAll, beforeAll, expect, test } from "vitest";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import { row, startConsole, type TestConsole } from "./browser.ts";
import { fleetOf } from "./fleet.ts";
import { aRisk } from "./home-page.ts";
import { SAVE_DATA, settled } from "./settled.ts";

let served: TestConsole;
let admin: TestUser;
beforeAll(async () => {
	served = await startConsole();
	admin = await served.makePerson("admin");
	const organization_id = served.organizationId;
	const use = (operation: string, input: object) =>
		callByName(served.database, admin, operation, input);
	const { people: owner } = await use("addPeople", {
		organization_id,
		full_name: "Ada Berg",
		primary_email_address: "berg@example.com",
		kind: "EMPLOYEE",
	});
	const owner_id = owner.id;
	await use("addRisk", { organization_id, ...aRisk(3, 5), owner_id });
	const statuses = { DISK_ENCRYPTION: "PASS", SCREEN_LOCK: "FAIL" };
	const laptop = await fleetOf(served).addReporting(
		organization_id,
		"laptop-7",
		statuses,
	);
	await use("updateDevice", { id: laptop.id, owner_id });
});
afterAll(() => served.close());

/** The most requests of a list, from an empty cache until it is complete. */
const MOST = 15;

test("the lists of devices and risks take at most 15 requests each", async () => {
	// With this option, the page is not used again, so no later test has the script.
	const page = await served.openPageAs(admin, "about:blank", {
		serviceWorkers: "block",
	});
	// Otherwise the code of the search is loaded two seconds later, which a busy machine would count.
	await page.addInitScript(SAVE_DATA);
	const session = await page.context().newCDPSession(page);
	await session.send("Network.enable");
	await session.send("Network.setCacheDisabled", { cacheDisabled: true });
	const requests: string[] = [];
	page.on("request", (request) => requests.push(request.url()));
	for (const [path, name] of [
		["devices", "laptop-7"],
		["r/risk", "Risk 3 × 5"],
	] as const) {
		requests.length = 0;
		await page.goto(`/o/${served.organizationId}/${path}`);
		const listed = row(page, name);
		await listed.getByText("Ada Berg").first().waitFor();
		await settled(page);
		expect(requests.length).toBeGreaterThan(10);
		expect(requests.length, requests.join("\n")).toBeLessThanOrEqual(MOST);
	}
});
