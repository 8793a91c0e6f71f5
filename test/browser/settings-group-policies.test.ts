import type { Page } from "playwright-core";
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
import { focused, settled } from "./settled.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

async function addGroup(organization: string, name: string): Promise<string> {
	const id = makeId(organization, "device_group");
	await served.database.owner.query(
		"insert into device_groups (organization_id, id, name) values ($1, $2, $3)",
		[organization, id, name],
	);
	return id;
}

test("an administrator gives groups policies, orders and removes them, and the device says which applies", async () => {
	const fleet = fleetOf(served);
	let deviceId = "";
	const { page, organization, at } = await fleet.start(
		"admin",
		async (organization) => {
			const device = await fleet.addReporting(organization, "studio", {});
			deviceId = device.id;
			for (const name of ["Laptops", "Servers"]) {
				const group = await addGroup(organization, name);
				await served.database.owner.query(
					"insert into device_group_members (organization_id, group_id, device_id) values ($1, $2, $3)",
					[organization, group, device.id],
				);
			}
			return "/settings/device-policy";
		},
	);
	const section = page
		.getByRole("region", { name: "Policies of groups" })
		.first();
	await section.getByText("No group has a policy.").waitFor();
	const dialog = page.getByRole("dialog");
	const days = dialog.getByLabel("Full-disk encryption: days of grace", {
		exact: true,
	});
	const begin = async (group: string) => {
		await section.getByRole("button", { name: "Add a group's policy" }).click();
		await dialog.getByRole("combobox", { name: "Group" }).click();
		await page.getByRole("option", { name: group }).click();
	};
	const save = async (group: string) => {
		await dialog.getByRole("button", { name: "Preview" }).click();
		await dialog.getByRole("button", { name: "Save the policy" }).click();
		// The message of an earlier time may still be there.
		await page.getByText(`The policy of “${group}” is saved.`).last().waitFor();
		await dialog.waitFor({ state: "hidden" });
		await settled(page);
	};
	await begin("Laptops");
	await days.fill("91");
	await dialog.getByRole("button", { name: "Preview" }).click();
	await dialog.getByText("Give a number from 0 to 90").waitFor();
	await days.fill("30");
	await axe(page);
	await screenshot(page, "settings/group-policy");
	await save("Laptops");
	await begin("Servers");
	await dialog
		.getByRole("combobox", { name: "Full-disk encryption: required" })
		.click();
	await page.getByRole("option", { name: "Not required" }).click();
	await save("Servers");
	const rows = section.locator("tbody tr");
	const groups = async () =>
		(await rows.allInnerTexts()).map(
			(text) => /Laptops|Servers/.exec(text)?.[0],
		);
	await expect.poll(groups).toEqual(["Laptops", "Servers"]);
	await section.getByText("Full-disk encryption: not required").waitFor();
	await axe(page);
	await screenshot(page, "settings/group-policies");

	await visit(page, at(`/devices/${deviceId}`));
	await page.getByText("“Laptops” (1)").waitFor();
	await page.getByText("Of its groups, this one comes first.").waitFor();
	await visit(page, at("/settings/device-policy"));
	await section.getByRole("button", { name: "Move Servers up" }).click();
	await expect.poll(groups).toEqual(["Servers", "Laptops"]);

	await section
		.getByRole("button", { name: "Edit the policy of Laptops" })
		.click();
	await expect.poll(() => days.inputValue()).toBe("30");
	await days.fill("");
	await dialog.getByLabel("Shortest password").fill("12");
	await save("Laptops");
	await section.getByText("Shortest password: 12 characters").waitFor();
	await section
		.getByRole("button", { name: "Remove the policy of Servers" })
		.click();
	await dialog.getByRole("button", { name: "Remove the policy" }).click();
	await expect.poll(groups).toEqual(["Laptops"]);

	await visit(page, at("/devices/groups"));
	await page.getByRole("link", { name: "Its own, order 1" }).waitFor();
	const viewer = await served.openPageAs(
		await served.makePerson("viewer", organization),
		at("/settings/device-policy"),
	);
	await viewer.getByText("Shortest password: 12 characters").waitFor();
	expect(
		await viewer.getByRole("button", { name: /group|policy/i }).count(),
	).toBe(0);
	await axe(viewer);
});

test("the list of groups leads an administrator to a policy of the chosen group", async () => {
	const { page } = await fleetOf(served).start(
		"admin",
		async (organization) => {
			await addGroup(organization, "Laptops");
			await addGroup(organization, "Servers");
			return "/devices/groups";
		},
	);
	const dialog = page.getByRole("dialog");
	const give = page
		.getByRole("row", { name: "Servers" })
		.getByRole("link", { name: "Give it a policy …" });
	await give.waitFor();
	await axe(page);
	await screenshot(page, "devices/groups-policy");
	await give.click();
	const group = dialog.getByRole("combobox", { name: "Group" });
	await expect.poll(() => group.inputValue()).toBe("Servers");
	await screenshot(page, "settings/group-policy-linked");
	await dialog.getByRole("button", { name: "Preview" }).click();
	await dialog.getByRole("button", { name: "Save the policy" }).click();
	await dialog.waitFor({ state: "hidden" });
	await page.waitForURL(/device-policy$/);
});

test("the page of the groups and the devices of a group lead to the policies of groups", async () => {
	let group = "";
	const { page, organization, at } = await fleetOf(served).start(
		"admin",
		async (organization) => {
			group = await addGroup(organization, "Laptops");
			return "/devices/groups";
		},
	);
	const section = page
		.getByRole("region", { name: "Policies of groups" })
		.first();
	await page.getByRole("link", { name: "Policies of groups" }).click();
	await section.getByText("No group has a policy.").waitFor();
	await expect
		.poll(() => page.evaluate("document.documentElement.scrollTop"))
		.toBeGreaterThan(0);

	await visit(page, at(`/devices?group_id=${group}`));
	await page.getByRole("link", { name: "Give this group a policy …" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("button", { name: "Preview" }).click();
	await dialog.getByRole("button", { name: "Save the policy" }).click();
	await dialog.waitFor({ state: "hidden" });

	const viewer = await served.openPageAs(
		await served.makePerson("viewer", organization),
		at(`/devices?group_id=${group}`),
	);
	await axe(viewer);
	await screenshot(viewer, "devices/group-policy-link");
	await viewer
		.getByRole("link", { name: "Device policy of this group" })
		.click();
	await viewer.getByText("Nothing yet", { exact: true }).waitFor();
});

test("the form of a new group says where a group by a filter is made", async () => {
	const { page } = await fleetOf(served).start(
		"admin",
		async (organization) => {
			await addGroup(organization, "Laptops");
			return "/devices/groups";
		},
	);
	const dialog = page.getByRole("dialog");
	await page.getByRole("button", { name: "Add group" }).click();
	await dialog.getByText("For a group by a filter").waitFor();
	await axe(page);
	await screenshot(page, "devices/add-group");
	await dialog.getByRole("link", { name: "filter the list" }).click();
	await page.waitForURL(/\/devices$/);
});

/** Adds a group in the dialog that lacks one, and expects that the dialog chooses it. */
async function addInPlace(page: Page, name: string) {
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("button", { name: "Add a group" }).click();
	const form = page.getByRole("dialog", { name: "Add a group" });
	await form.getByLabel("Name").fill(name);
	await axe(page);
	await form.getByRole("button", { name: "Save the group" }).click();
	await form.waitFor({ state: "hidden" });
	const chosen = dialog.getByRole("combobox", { name: "Group" });
	await expect.poll(() => chosen.inputValue()).toBe(name);
	await focused(chosen);
}

test("without a group, or if all have a policy, the policy of a group adds one in place", async () => {
	const { page } = await fleetOf(served).start(
		"admin",
		async () => "/settings/device-policy",
	);
	const dialog = page.getByRole("dialog");
	const add = page.getByRole("button", { name: "Add a group's policy" });
	const preview = dialog.getByRole("button", { name: "Preview" });
	for (const [lack, name] of [
		["There is no group yet.", "Laptops"],
		["Every group has a policy already.", "Servers"],
	] as const) {
		await add.click();
		await dialog.getByText(lack).waitFor();
		expect(await preview.isDisabled()).toBe(true);
		await axe(page);
		await screenshot(page, `settings/group-policy-before-${name}`);
		await addInPlace(page, name);
		await preview.click();
		await dialog.getByRole("button", { name: "Save the policy" }).click();
		await page.getByText(`The policy of “${name}” is saved.`).waitFor();
		await dialog.waitFor({ state: "hidden" });
	}
});

test("without a group, an exception of a group adds one in place and keeps its reason", async () => {
	const { page } = await fleetOf(served).start(
		"member",
		async () => "/devices/exceptions",
	);
	const dialog = page.getByRole("dialog");
	await page.getByRole("button", { name: "Request an exception" }).click();
	await dialog.getByText("There is no group yet.").waitFor();
	const request = dialog.getByRole("button", { name: "Request it" });
	expect(await request.isDisabled()).toBe(true);
	await axe(page);
	await screenshot(page, "devices/exception-no-group");
	const choose = async (cover: string) => {
		await dialog.getByRole("combobox", { name: "It is for" }).click();
		await page.getByRole("option", { name: cover }).click();
	};
	await choose("All devices");
	await dialog.getByText("There is no group yet.").waitFor({ state: "hidden" });
	await expect.poll(() => request.isDisabled()).toBe(false);
	await choose("A group of devices");
	await dialog.getByLabel("Reason").fill("Old laptops");
	await addInPlace(page, "Laptops");
	expect(await dialog.getByLabel("Reason").inputValue()).toBe("Old laptops");
	await expect.poll(() => request.isDisabled()).toBe(false);
});

test("Preview waits for a group, and says when every group has a policy", async () => {
	const { page } = await fleetOf(served).start(
		"admin",
		async (organization) => {
			await addGroup(organization, "Laptops");
			return "/settings/device-policy";
		},
	);
	const dialog = page.getByRole("dialog");
	const add = page.getByRole("button", { name: "Add a group's policy" });
	const preview = dialog.getByRole("button", { name: "Preview" });
	await add.click();
	await dialog.getByRole("combobox", { name: "Group" }).click();
	expect(await preview.isDisabled()).toBe(true);
	await page.getByRole("option", { name: "Laptops" }).click();
	await preview.click();
	await dialog.getByRole("button", { name: "Save the policy" }).click();
	await dialog.waitFor({ state: "hidden" });
	await add.click();
	await dialog.getByText("Every group has a policy already.").waitFor();
});
