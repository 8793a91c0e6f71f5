import { afterAll, beforeAll, expect, test } from "vitest";
import { addEnrollmentKey } from "../../src/devices/enrollment-key-operations.ts";
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

test("a viewer says on the home page and on a device's page which of the claimed devices are theirs", async () => {
	const { page, at, organization, person } = await fleet.start(
		"viewer",
		async () => "/",
	);
	const admin = await served.makePerson("admin", organization);
	await callAs(served.database, admin, recordOperations(people)[2], {
		organization_id: organization,
		full_name: "Grace Hopper",
		primary_email_address: person.email,
		kind: "EMPLOYEE",
	});
	const { enrollment_key: token } = await callAs(
		served.database,
		admin,
		addEnrollmentKey,
		{ organization_id: organization, name: "Intune", max_devices: 14 },
	);
	const ids: string[] = [];
	const enroll = async (hostname: string) => {
		const enrolled = await must(
			served.post("enroll", { token, owner_email: person.email }),
			200,
		);
		const { api_key: key } = JSON.parse(enrolled);
		const facts = { hostname, serial_number: `SN-${hostname}` };
		const beat = served.post("heartbeat", heartbeatBody(facts), { key });
		ids.push(JSON.parse(await must(beat, 200)).device_id);
	};
	for (const hostname of ["nb-1", "nb-2", "nb-3"]) await enroll(hostname);
	await page.reload();
	const asked = page.getByRole("region", { name: "Are these devices yours?" });
	await asked.getByText(/Linux, serial number SN-nb-1, enrolled/).waitFor();
	await axe(page);
	await screenshot(page, "home-claimed");
	await page.setViewportSize({ width: 375, height: 2600 });
	await screenshot(page, "home-claimed-375");
	await expect
		.poll(() => page.evaluate("document.documentElement.scrollWidth"))
		.toBeLessThanOrEqual(375);
	await page.setViewportSize({ width: 1440, height: 900 });
	await asked.getByRole("button", { name: "This is mine: nb-1" }).click();
	await page.getByText("nb-1 is yours.").waitFor();
	const yours = page.getByRole("link", { name: "Your device" });
	await yours.waitFor();
	expect(await yours.getAttribute("href")).toContain("status=ACTIVE");
	await asked.getByRole("button", { name: "Not mine: nb-2" }).click();
	await page.getByText("nb-2 is not yours.").waitFor();
	const last = page.getByRole("region", { name: "Is this device yours?" });
	await last.getByRole("link", { name: "nb-3" }).click();
	await page.waitForURL(at(`/devices/${ids[2]}`));
	await page.getByText("named you").waitFor();
	await axe(page);
	await screenshot(page, "device-claimed");
	await page.getByRole("button", { name: "This is mine: nb-3" }).click();
	await page.getByText("nb-3 is yours.").waitFor();
	await page.getByText("Is this device yours?").waitFor({ state: "hidden" });
	const { rows } = await served.database.owner.query(
		`select d.hostname, p.full_name, d.claimed_owner_id from devices d
		left join people p on p.organization_id = d.organization_id and p.id = d.owner_id
		where d.organization_id = $1 order by 1`,
		[organization],
	);
	expect(rows.map((row) => Object.values(row))).toEqual([
		["nb-1", "Grace Hopper", null],
		["nb-2", null, null],
		["nb-3", "Grace Hopper", null],
	]);
	for (let n = 1; n <= 11; n++) await enroll(`claim-${n}`);
	await page.goto(at(""));
	const others = page.getByRole("link", {
		name: "devices with an owner to confirm",
	});
	await others.waitFor();
	const mine = page.getByRole("button", { name: "This is mine" });
	expect(await mine.count()).toBe(10);
	await axe(page);
	await screenshot(page, "home-claimed-many");
	await others.click();
	await page.getByRole("link", { name: "claim-11", exact: true }).waitFor();
	await page.setViewportSize({ width: 390, height: 844 });
	await visit(page, at(""));
	await page.getByRole("link", { name: "Your 2 devices" }).click();
	await page.getByText("Your devices.").waitFor();
	await page.getByRole("cell").getByText("nb-1").first().waitFor();
	const counts = page.getByRole("group", { name: "By heartbeat" });
	expect(await counts.count()).toBe(0);
	expect(await page.getByRole("region", { name: "Fleet" }).count()).toBe(0);
	await screenshot(page, "devices/your-devices-390");

	// The details are cut between two rows and not through one.
	await visit(page, at(`/devices/${ids[0]}`));
	const details = page.getByRole("region", { name: "Details" });
	const unfold = details.getByRole("button", { name: "All details" });
	await unfold.waitFor();
	expect(await details.getByText("Serial number").count()).toBe(0);
	await axe(page);
	await unfold.click();
	await details.getByText("SN-nb-1").waitFor();
	await details.getByRole("button", { name: "Fewer details" }).waitFor();
});
