import { afterAll, beforeAll, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { fleetOf } from "./fleet.ts";
import { pressEscape, settled } from "./settled.ts";

const DEVICES = 620;

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

test("an administrator selects all devices that match, and acts on them in parts of at most 500", async () => {
	const { owner } = served.database;
	const { page, organization } = await fleetOf(served).start(
		"admin",
		async (made) => {
			const ids = Array.from({ length: DEVICES + 1 }, () =>
				makeId(made, "device"),
			);
			await owner.query(
				`insert into devices (organization_id, id, name, search_text, awaits_approval)
				select $1, d.id, 'laptop-' || d.n, search_text('laptop-' || d.n), d.n <= 3
				from unnest($2::text[]) with ordinality d (id, n)`,
				[made, ids],
			);
			await owner.query(
				"update devices set name = 'server', search_text = search_text('server') where id = $1",
				[ids.at(-1)],
			);
			return "/devices?q=laptop";
		},
	);
	const sent: string[] = [];
	page.on("request", (request) => {
		const [, name] = /\/api\/console\/(\w+)$/.exec(request.url()) ?? [];
		if (name && !/^(get|list|count)/.test(name)) sent.push(name);
	});
	const bar = page.getByRole("region", { name: "Selected rows" });
	const dialog = (name: string | RegExp) => page.getByRole("dialog", { name });
	const selectAll = async () => {
		await settled(page);
		await page.getByLabel("Select all on this page").check();
		await bar.getByRole("button", { name: `Select all ${DEVICES}` }).click();
		await bar.getByText(`${DEVICES} selected`).waitFor();
	};

	await selectAll();
	await bar.getByRole("button", { name: "Groups …" }).click();
	await page.getByRole("menuitem", { name: "A new group …" }).click();
	await dialog("Add a group").getByLabel("Name").fill("All laptops");
	await dialog("Add a group")
		.getByRole("button", { name: "Save the group" })
		.click();
	await page.getByText("The group “All laptops” is saved.").waitFor();
	const members = async () => {
		const { rows } = await owner.query(
			"select count(*)::int as count from device_group_members where organization_id = $1",
			[organization],
		);
		return rows[0].count;
	};
	expect(await members()).toBe(DEVICES);
	expect(sent).toEqual(["addDeviceGroup", "updateDeviceGroup"]);

	await bar.getByRole("button", { name: "Reissue tokens …" }).click();
	const asked = dialog(`Reissue the enrollment tokens of ${DEVICES} devices?`);
	await asked
		.getByText("3 devices wait for approval and keep waiting.")
		.waitFor();
	await axe(page);
	await screenshot(page, "devices/reissue-many");
	sent.length = 0;
	await asked.getByRole("button", { name: "Reissue the tokens" }).click();
	const issued = dialog(`Enroll ${DEVICES} devices`);
	const shown = await issued
		.getByLabel("Enrollment tokens", { exact: true })
		.innerText();
	expect(new Set(shown.match(/asy_enr_\w+/g)).size).toBe(DEVICES);
	expect(sent).toEqual(["reissueEnrollmentTokens", "reissueEnrollmentTokens"]);
	const { rows: waiting } = await owner.query(
		"select from devices where organization_id = $1 and awaits_approval",
		[organization],
	);
	expect(waiting).toHaveLength(3);
	await pressEscape(issued);
	// Nobody saved the tokens.
	await issued
		.getByRole("button", { name: "Close without the tokens" })
		.click();
	await expect.poll(() => bar.count()).toBe(0);

	// Somebody deletes a device meanwhile. The others do not fail with it.
	await selectAll();
	await owner.query(
		"delete from enrollment_tokens using devices d where device_id = d.id and d.organization_id = $1 and d.name = 'laptop-7'",
		[organization],
	);
	await owner.query(
		"delete from devices where organization_id = $1 and name = 'laptop-7'",
		[organization],
	);
	await bar.getByRole("button", { name: "Revoke …" }).click();
	const revoke = dialog(`Revoke ${DEVICES} devices?`);
	await revoke.getByRole("button", { name: "Revoke", exact: true }).click();
	const failed = dialog("Revoke 1 device?");
	await failed.getByText("1 failed and is still selected").waitFor();
	await failed.getByText(/^laptop-7: There is no device/).waitFor();
	await axe(page);
	await screenshot(page, "devices/revoke-many-failed");
	await failed.getByRole("button", { name: "Close" }).last().click();
	await bar.getByText("1 selected").waitFor();
	const { rows: states } = await owner.query(
		"select status, count(*)::int as count from devices where organization_id = $1 group by 1 order by 1",
		[organization],
	);
	expect(states).toEqual([
		{ status: "PENDING", count: 1 },
		{ status: "REVOKED", count: DEVICES - 1 },
	]);
});
