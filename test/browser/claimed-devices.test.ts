import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addEnrollmentKey } from "../../src/devices/enrollment-key-operations.ts";
import { recordOperations } from "../../src/records/operations.ts";
import { people } from "../../src/registers/people.ts";
import { callAs } from "../support/people.ts";
import { heartbeatBody, type TestDevice } from "../support/service.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { type Fleet, fleetOf, must } from "./fleet.ts";
import { settled } from "./settled.ts";

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
	await expect.poll(() => mine.count()).toBe(10);
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

test("an administrator says which laptops were set up anew, confirms claimed owners, and reissues and revokes many", async () => {
	const hosts = ["nb-1.local", "nb-2.local", "nb-3.local"];
	type Laptop = TestDevice & { hostname: string };
	const earlier: Laptop[] = [];
	const fresh: Laptop[] = [];
	const beat = ({ key, hostname, hardwareUuid: hardware_uuid }: Laptop) => {
		const facts = heartbeatBody({ hardware_uuid, hostname });
		return served.post("heartbeat", facts, { key });
	};
	const { page, at, organization } = await fleet.start(
		"admin",
		async (made) => {
			const admin = await served.makePerson("admin", made);
			const { enrollment_key: token } = await callAs(
				served.database,
				admin,
				addEnrollmentKey,
				{ organization_id: made, name: "Intune", max_devices: 3 },
			);
			await callAs(served.database, admin, recordOperations(people)[2], {
				organization_id: made,
				full_name: "Grace Hopper",
				primary_email_address: "grace@example.com",
				kind: "EMPLOYEE",
			});
			for (const hostname of hosts) {
				const old = await fleet.addReporting(made, hostname, {});
				const enrolled = await must(
					served.post("enroll", { token, owner_email: "grace@example.com" }),
					200,
				);
				const { api_key: key } = JSON.parse(enrolled);
				const { rows } = await served.database.owner.query<{ id: string }>(
					"select id from devices where organization_id = $1 order by created_at desc limit 1",
					[made],
				);
				const laptop = { ...old, hostname, id: rows[0]?.id ?? "", key };
				await must(beat(laptop), 400);
				earlier.push({ ...old, hostname });
				fresh.push(laptop);
			}
			await served.database.owner.query(
				"update devices set name = 'nb-1.local again' where id = $1",
				[fresh[0]?.id],
			);
			return `/devices/${fresh[0]?.id}`;
		},
	);
	const expectStatuses = async (devices: Laptop[], status: number) => {
		for (const device of devices) await must(beat(device), status);
	};
	const dialog = (name: RegExp) => page.getByRole("dialog", { name });
	const act = async (button: RegExp, title: RegExp, confirm: string) => {
		await page.getByRole("button", { name: button }).click();
		const asked = dialog(title);
		await asked.waitFor();
		await axe(page);
		await asked.getByRole("button", { name: confirm, exact: true }).click();
		await asked.waitFor({ state: "hidden" });
	};

	await page.getByText("Does it belong to Grace Hopper?").waitFor();
	await page
		.getByText("This one keeps its own name and takes over the owner.")
		.waitFor();
	await act(
		/^Same device, set up again/,
		/^Revoke the record of nb-1\.local\?/,
		"Same device, set up again",
	);
	await page.getByText("Before it was set up again").waitFor();
	await expectStatuses(fresh.slice(0, 1), 200);
	await expectStatuses(fresh.slice(1), 400);
	await expectStatuses(earlier.slice(0, 1), 401);

	await visit(page, at("/devices?conflict=DUPLICATE_HARDWARE"));
	const all = page.getByLabel("Select all on this page");
	await all.check();
	await page.getByRole("status").getByText("2 selected").waitFor();
	await act(
		/^Same devices, set up again/,
		/^Replace the earlier records of 2 devices\?/,
		"Same devices, set up again",
	);
	await page.getByText("2 devices replaced.").waitFor();
	await page.getByRole("heading", { name: "No devices match" }).waitFor();
	await expectStatuses(fresh, 200);
	await expectStatuses(earlier, 401);

	await visit(page, at("/devices"));
	await page.getByRole("link", { name: "3 Owner to confirm" }).waitFor();
	await page.getByRole("button", { name: "More filters" }).click();
	await page.getByRole("combobox", { name: "Claimed owner" }).click();
	await page.getByRole("option", { name: "To be confirmed" }).click();
	await page.waitForURL(/has_claimed_owner=true/);
	await expect
		.poll(() => page.getByText("Claimed, not confirmed").count())
		.toBe(3);
	await all.check();
	await act(
		/^Confirm the claimed owners/,
		/^Confirm the claimed owners of 3 devices\?/,
		"Confirm the claimed owners",
	);
	await page.getByText("3 owners confirmed.").waitFor();
	const { rows: owned } = await served.database.owner.query(
		`select p.full_name, count(*)::int as devices from devices d
		join people p on p.organization_id = d.organization_id and p.id = d.owner_id
		where d.organization_id = $1 group by 1`,
		[organization],
	);
	expect(owned).toEqual([{ full_name: "Grace Hopper", devices: 3 }]);

	await visit(page, at("/devices?status=ACTIVE"));
	await settled(page);
	await all.check();
	await page.getByRole("button", { name: "Reissue tokens …" }).click();
	await dialog(/^Reissue the enrollment tokens of 3 devices\?/)
		.getByRole("button", { name: "Reissue the tokens" })
		.click();
	const issued = dialog(/^Enroll 3 devices/);
	const shown = await issued
		.getByLabel("Enrollment tokens", { exact: true })
		.innerText();
	await axe(page);
	await screenshot(page, "devices/reissued");
	const lost = page.getByText("The tokens are lost when you close");
	await issued.getByRole("button", { name: "Close", exact: true }).click();
	await lost.waitFor();
	await axe(page);
	await issued
		.getByRole("button", { name: "Close without the tokens" })
		.waitFor();
	const [download] = await Promise.all([
		page.waitForEvent("download"),
		issued.getByRole("button", { name: "Save the tokens as CSV" }).click(),
	]);
	expect(download.suggestedFilename()).toBe("enrollment-tokens.csv");
	const file = await readFile(await download.path(), "utf8");
	const tokens = file.match(/asy_enr_\w+/g) ?? [];
	expect(shown.match(/asy_enr_\w+/g)).toEqual(tokens);
	expect(tokens).toHaveLength(3);
	for (const hostname of hosts) expect(file).toContain(hostname);
	await lost.waitFor({ state: "hidden" });
	await issued.getByRole("button", { name: "I have saved them" }).click();
	// The keys in use work until the new tokens are exchanged.
	await expectStatuses(fresh, 200);
	const again: Laptop[] = [];
	for (const device of fresh) {
		const line = file.split("\n").find((each) => each.includes(device.id));
		const token = /asy_enr_\w+/.exec(line ?? "")?.[0];
		expect(token, `${device.id} in ${file}`).toBeDefined();
		const enrolled = await must(served.post("enroll", { token }), 200);
		again.push({ ...device, key: JSON.parse(enrolled).api_key });
	}
	await expectStatuses(fresh, 401);
	await expectStatuses(again, 200);

	await page.getByRole("status").filter({ hasText: "selected" }).waitFor({
		state: "detached",
	});
	await all.check();
	await act(/^Revoke …/, /^Revoke 3 devices\?/, "Revoke");
	await page.getByText("3 devices revoked.").waitFor();
	await page.getByRole("heading", { name: "No devices match" }).waitFor();
	await expectStatuses(again, 401);
});
