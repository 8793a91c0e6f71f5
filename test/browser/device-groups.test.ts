import { afterAll, beforeAll, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { fleetOf } from "./fleet.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

test("every picker of groups finds a group by typing, also the last one of 130", async () => {
	const fleet = fleetOf(served);
	const { page, organization, at } = await fleet.start(
		"admin",
		async (organization) => {
			const { id } = await fleet.addReporting(organization, "studio", {});
			await fleet.addReporting(organization, "office", {});
			const groups = Array.from({ length: 130 }, (_, index) => ({
				id: makeId(organization, "device_group"),
				name: `Team ${String(index + 1).padStart(3, "0")}`,
			}));
			await served.database.owner.query(
				`insert into device_groups (organization_id, id, name)
				select $1, id, name from jsonb_to_recordset($2) g (id text, name text)`,
				[organization, JSON.stringify(groups)],
			);
			await served.database.owner.query(
				"insert into device_group_members (organization_id, group_id, device_id) values ($1, $2, $3)",
				[organization, groups.at(-1)?.id, id],
			);
			return undefined;
		},
	);
	const choose = async (isInDialog = true) => {
		const within = isInDialog ? page.getByRole("dialog") : page;
		await within
			.getByRole("combobox", { name: "Group", exact: true })
			.fill("130");
		await page.getByRole("option", { name: "Team 130" }).click();
	};

	await page.getByRole("button", { name: "More filters" }).click();
	await choose(false);
	await page.getByRole("link", { name: "office" }).waitFor({ state: "hidden" });
	await page.reload();
	const filter = page.getByRole("combobox", { name: "Group", exact: true });
	await expect.poll(() => filter.inputValue()).toBe("Team 130");

	await visit(page, at("/devices?platform=LINUX"));
	await page.getByLabel("Select office").check();
	await page.getByRole("button", { name: /^Groups/ }).click();
	await page.getByRole("menuitem", { name: "A group …" }).click();
	await choose();
	await axe(page);
	await screenshot(page, "devices/add-to-group");
	await page.getByRole("button", { name: "Add", exact: true }).click();
	await page.getByText("The group “Team 130” is changed.").waitFor();
	const { rows } = await served.database.owner.query(
		"select from device_group_members where organization_id = $1",
		[organization],
	);
	expect(rows).toHaveLength(2);

	await visit(page, at("/devices/enrollment-keys"));
	await page.getByRole("button", { name: "Make a key" }).click();
	await choose();
	await visit(page, at("/devices/exceptions"));
	await page.getByRole("button", { name: "Add exception" }).click();
	await choose();
	await visit(page, at("/settings/device-policy"));
	await page.getByRole("button", { name: "Add a group's policy" }).click();
	await choose();
});
