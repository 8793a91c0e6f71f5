import { afterAll, beforeAll, expect, test } from "vitest";
import { addEnrollmentKey } from "../../src/devices/enrollment-key-operations.ts";
import { callAs } from "../support/people.ts";
import { heartbeatBody } from "../support/service.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { fleetOf, must } from "./fleet.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

test("devices that were set up again replace their records, except those with the same record or a stale one, which are named", async () => {
	const fleet = fleetOf(served);
	const { owner } = served.database;
	const earlier: string[] = [];
	const { page, organization } = await fleet.start("admin", async (made) => {
		const admin = await served.makePerson("admin", made);
		const { enrollment_key: token } = await callAs(
			served.database,
			admin,
			addEnrollmentKey,
			{ organization_id: made, name: "Intune", max_devices: 9 },
		);
		const setUpAgain = async (hardware_uuid: string, hostname: string) => {
			const enrolled = await must(served.post("enroll", { token }), 200);
			const { api_key: key } = JSON.parse(enrolled) as { api_key: string };
			const facts = heartbeatBody({ hardware_uuid, hostname });
			await must(served.post("heartbeat", facts, { key }), 400);
		};
		for (const n of [1, 2, 3, 4, 5]) {
			const old = await fleet.addReporting(made, `old-${n}`, {});
			earlier.push(old.id);
			await setUpAgain(old.hardwareUuid, `new-${n}`);
			if (n === 5) await setUpAgain(old.hardwareUuid, "copy-of-5");
		}
		return "/devices?conflict=DUPLICATE_HARDWARE";
	});
	let sent = 0;
	page.on("request", (request) => {
		if (request.url().endsWith("/api/console/replaceDevices")) sent++;
	});
	await page.getByLabel("Select all on this page").check();
	await page.getByRole("button", { name: /^Same devices, set up/ }).click();
	const asked = page.getByRole("dialog", {
		name: "Replace the earlier records of 4 devices?",
	});
	const leftOut = asked.getByRole("alert");
	await leftOut
		.getByText(
			/old-5 \(serial number C02XK1\): Unnamed device \(…[\w-]{6}\), Unnamed device \(…/,
		)
		.waitFor();
	await axe(page);
	await screenshot(page, "devices/replace-same-record");

	// Somebody revokes two of the records meanwhile.
	await owner.query(
		"update devices set status = 'REVOKED', revoked_at = now(), key_hash = null where id = any ($1)",
		[earlier.slice(0, 2)],
	);
	await asked
		.getByRole("button", { name: "Same devices, set up again" })
		.click();
	await page.getByText("2 failed and are still selected").waitFor();
	for (const n of [1, 2]) {
		const [id] = earlier.slice(n - 1);
		await page
			.getByText(
				new RegExp(
					`^Unnamed device \\(hardware of old-${n}\\): .*is not PENDING with the hardware of ${id}`,
					"i",
				),
			)
			.waitFor();
	}
	await axe(page);
	expect(sent).toBe(2);
	const { rows } = await owner.query<{ predecessor_id: string }>(
		"select predecessor_id from devices where organization_id = $1 and predecessor_id is not null",
		[organization],
	);
	expect(rows.map(({ predecessor_id }) => predecessor_id).sort()).toEqual(
		earlier.slice(2, 4).sort(),
	);
});
