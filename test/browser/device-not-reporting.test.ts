import { afterAll, beforeAll, expect, test } from "vitest";
import type { TestDevice } from "../support/service.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { type Fleet, fleetOf, HOUR_MS } from "./fleet.ts";

let served: TestConsole;
let fleet: Fleet;
beforeAll(async () => {
	served = await startConsole();
	fleet = fleetOf(served);
});
afterAll(() => served.close());

const ADVICE = /sends heartbeats but has sent no report.*probo-agent/;

/** Makes the device look as if it had been activated and had last reported hours ago. */
async function age({ id }: TestDevice, hours: number): Promise<void> {
	const { owner } = served.database;
	for (const table of ["devices", "posture_spans"]) {
		await owner.query(`alter table ${table} no force row level security`);
	}
	await owner.query(
		"update devices set activated_at = activated_at - $2 * interval '1 hour' where id = $1",
		[id, hours],
	);
	await owner.query(
		`update posture_spans set since = since - $2 * interval '1 hour',
			last_observed_at = last_observed_at - $2 * interval '1 hour'
		where device_id = $1`,
		[id, hours],
	);
	for (const table of ["devices", "posture_spans"]) {
		await owner.query(`alter table ${table} force row level security`);
	}
}

test("a device that beats but does not report is marked with advice in the list and on its page, until it reports again", async () => {
	let silent: TestDevice | undefined;
	const { page, at } = await fleet.start("viewer", async (organization) => {
		await fleet.addReporting(organization, "fine.local", {
			FIREWALL_ENABLED: "PASS",
		});
		silent = await fleet.addReporting(organization, "silent.local", {
			FIREWALL_ENABLED: "PASS",
		});
		await age(silent, 3);
	});
	if (!silent) throw new Error("the device was not made");
	const row = page.getByRole("row", { name: /silent\.local/ });
	await row.getByText("Not reporting").waitFor();
	expect(
		await page
			.getByRole("row", { name: /fine\.local/ })
			.getByText("Not reporting")
			.count(),
	).toBe(0);
	await screenshot(page, "devices/not-reporting-list");

	await visit(page, at(`/devices/${silent.id}`));
	const advice = page.getByRole("alert").filter({ hasText: "Not reporting" });
	await advice.getByText(ADVICE).waitFor();
	// The last heartbeat and the last report are two facts.
	await page.getByText("Last seen", { exact: true }).waitFor();
	await page.getByText("Last report", { exact: true }).waitFor();
	await page
		.getByRole("alert")
		.getByText(/^The device last reported 3 hours ago/)
		.waitFor();
	await axe(page);
	await screenshot(page, "devices/not-reporting");

	await fleet.report(silent, { FIREWALL_ENABLED: "PASS" });
	await page.reload();
	await page.getByText("Last report", { exact: true }).waitFor();
	expect(await page.getByText(ADVICE).count()).toBe(0);
});

test("a device that does not even beat is stale, and gets no advice about its reports", async () => {
	let gone: TestDevice | undefined;
	const { page, at } = await fleet.start("viewer", async (organization) => {
		gone = await fleet.addReporting(organization, "gone.local", {
			FIREWALL_ENABLED: "PASS",
		});
		await age(gone, 3);
		await fleet.silence(gone, HOUR_MS);
	});
	const row = page.getByRole("row", { name: /gone\.local/ });
	await row.getByText("Stale").waitFor();
	expect(await row.getByText("Not reporting").count()).toBe(0);
	await visit(page, at(`/devices/${gone?.id}`));
	await page.getByRole("heading", { name: "gone.local", level: 1 }).waitFor();
	await page.getByText("Last seen", { exact: true }).waitFor();
	expect(await page.getByText(ADVICE).count()).toBe(0);
});
