import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PLATFORMS } from "../../src/devices/terms.ts";
import { makeId } from "../../src/id.ts";
import {
	axe,
	screenshot,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { DAY_MS, fleetOf } from "./fleet.ts";
import { typeInto } from "./settled.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

test("a task for a check in its grace period is due when the grace ends", async () => {
	const fleet = fleetOf(served);
	const { page } = await fleet.start("member", async (organization) => {
		const device = await fleet.addReporting(organization, "new-mac", {});
		await fleet.report(device, { FIREWALL_ENABLED: "FAIL" });
		return `/devices/${device.id}?check=FIREWALL_ENABLED`;
	});
	const until = page.getByText(/in grace until/).locator("time");
	const day = (await until.first().getAttribute("datetime"))?.slice(0, 10);
	await page.getByRole("link", { name: "Create task" }).click();
	await page.getByRole("button", { name: "Add the task" }).waitFor();
	expect(day).toMatch(/^\d{4}-/);
	await expect.poll(() => page.getByLabel("Due date").inputValue()).toBe(day);
	// The check then names the task, so that nobody makes a second one.
	await page.getByRole("button", { name: "Add the task" }).click();
	const links = page.getByRole("region", { name: "Linked records" });
	await links.getByRole("link", { name: "new-mac" }).click();
	await page.getByRole("button", { name: "Host firewall" }).click();
	const tasks = page.getByRole("region", { name: "Open tasks: Host firewall" });
	await tasks.getByText(/^Assigned to nobody, due \d+ \w+ \d{4}$/).waitFor();
	await axe(page);
	await page.setViewportSize({ width: 390, height: 844 });
	await tasks.scrollIntoViewIfNeeded();
	await screenshot(page, "devices/open-tasks-390");
	await tasks.getByRole("link", { name: "Host firewall on new-mac" }).click();
	await page.getByRole("button", { name: "Mark as done" }).waitFor();
});

test("an administrator excuses a failing device from its page, sees what that covers, and ends it", async () => {
	const fleet = fleetOf(served);
	const { page } = await fleet.start("admin", async (organization) => {
		const device = await fleet.addReporting(organization, "studio-mac", {});
		await served.database.owner.query(
			"update devices set activated_at = now() - interval '100 days' where id = $1",
			[device.id],
		);
		await fleet.report(device, { FIREWALL_ENABLED: "FAIL" }, 10 * DAY_MS);
		await fleet.report(device, { FIREWALL_ENABLED: "FAIL" });
		// The service does not open a nonconformity by itself, so the page offers to create one.
		await served.database.owner.query(
			`insert into device_check_rules (
				organization_id, check_key, valid_from, is_required, platforms, grace_days,
				new_device_grace_days, opens_nonconformity
			) values ($1, 'FIREWALL_ENABLED', now() - interval '100 days', true, $2, 3, 3, false)`,
			[organization, PLATFORMS],
		);
		return `/devices/${device.id}?check=FIREWALL_ENABLED`;
	});
	const task = page.getByRole("link", { name: "Create task" });
	const { searchParams } = new URL(
		(await task.getAttribute("href")) ?? "",
		page.url(),
	);
	expect(searchParams.get("description")).toMatch(/has failed on studio-mac/);
	expect(searchParams.get("description")).not.toContain("`");
	expect(searchParams.get("deadline")).toBeNull();
	await page.getByRole("link", { name: "Create nonconformity" }).click();
	await page.getByText("It will be linked to studio-mac.").waitFor();
	expect(await page.getByLabel("Title").inputValue()).toBe(
		"Host firewall on studio-mac",
	);
	expect(await page.getByLabel("Description").inputValue()).toMatch(
		/^The check “Host firewall” has failed on studio-mac since /,
	);
	await page.getByRole("button", { name: "Add the nonconformity" }).click();
	const links = page.getByRole("region", { name: "Linked records" });
	await links.getByRole("link", { name: "studio-mac" }).click();
	await page.getByRole("button", { name: "Host firewall" }).click();
	await page.getByRole("button", { name: "Add exception …" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("button", { name: "Request it" }).click();
	await dialog.getByText("Say why").waitFor();
	await dialog.getByLabel("Reason").fill("It is behind the studio's router.");
	await axe(page);
	await screenshot(page, "devices/exception-form");
	await dialog.getByLabel("Approve it now").check();
	await dialog.getByRole("button", { name: "Add the exception" }).click();
	await page.getByText("The exception is in force.").waitFor();
	await page.getByText(/^excepted, last day/).waitFor();
	await page.getByRole("link", { name: "The exception for it" }).click();
	await page.getByRole("heading", { name: /^Exception from/ }).waitFor();
	const covered = page.getByRole("region", { name: "Devices that it covered" });
	await covered.getByRole("link", { name: "studio-mac" }).waitFor();
	await axe(page);
	await screenshot(page, "devices/exception");
	// An exception that was wanted from an earlier time counts from its approval.
	await served.database.owner.query(
		"update device_exceptions set starts_at = starts_at - interval '3 days' where id = $1",
		[new URL(page.url()).pathname.split("/").at(-1)],
	);
	await page.reload();
	const approved = await factOf(page, "Approved by");
	expect(approved).toContain(await factOf(page, "From"));
	expect(approved).toContain("who had also requested it");
	await page.getByRole("button", { name: "End it now …" }).click();
	await page.getByRole("button", { name: "End it", exact: true }).click();
	await page.getByRole("status").getByText("Ended").waitFor();
	await page.getByRole("link", { name: "Exceptions", exact: true }).click();
	await page.getByRole("heading", { name: "Exceptions" }).waitFor();
	await page.getByText("Ended").first().waitFor();
	await page.getByText("Approved by the requester").waitFor();
	await axe(page);
	await screenshot(page, "devices/exceptions");
	await page.getByRole("combobox", { name: "Approval" }).click();
	await page.getByRole("option", { name: "By somebody else, or none" }).click();
	await page.getByText("No exception matches").waitFor();
});

/** Returns the text beside a name in the list of facts. */
async function factOf(page: Page, name: string): Promise<string> {
	const term = page.getByRole("term").getByText(name, { exact: true });
	return await page
		.locator("dl > div")
		.filter({ has: term })
		.locator("dd")
		.innerText();
}

test("a member who requests an exception from a failing check sees the request beside the check", async () => {
	const fleet = fleetOf(served);
	const { page, person } = await fleet.start("member", async (organization) => {
		const device = await fleet.addReporting(organization, "studio-mac", {
			FIREWALL_ENABLED: "FAIL",
		});
		return `/devices/${device.id}?check=FIREWALL_ENABLED`;
	});
	await page.getByRole("button", { name: "Request an exception …" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByLabel("Reason").fill("It is behind the studio's router.");
	// The day ends in UTC, the organization's time zone. The browser is in Berlin, where that is the
	// next day.
	const last = new Date(await dialog.getByLabel("Last day").inputValue());
	const day = last.toLocaleDateString("en-GB", {
		dateStyle: "medium",
		timeZone: "UTC",
	});
	await dialog.getByRole("button", { name: "Request it" }).click();
	await page
		.getByText(`exception requested by ${person.name}, last day ${day}`)
		.waitFor();
	await page.getByRole("link", { name: "Create task" }).waitFor();
	expect(await page.getByRole("button", { name: /exception …$/ }).count()).toBe(
		0,
	);
	await axe(page);
	await screenshot(page, "devices/exception-requested");
	await page
		.getByRole("link", { name: "The exception that is requested" })
		.click();
	await page
		.getByText("An administrator has to approve it.", { exact: false })
		.waitFor();
});

test("a viewer asks for an exception for their own device only", async () => {
	const fleet = fleetOf(served);
	const ids: string[] = [];
	const { page, person, at, organization } = await fleet.start(
		"viewer",
		async (organization) => {
			for (const name of ["own-laptop", "other-laptop"]) {
				const failing = { FIREWALL_ENABLED: "FAIL" };
				const added = await fleet.addReporting(organization, name, failing);
				ids.push(added.id);
			}
			return `/devices/${ids[1]}?check=FIREWALL_ENABLED`;
		},
	);
	const ask = page.getByRole("button", { name: "Ask for an exception …" });
	await page.getByText("How to fix it").waitFor();
	expect(await ask.count()).toBe(0);
	const people_id = makeId(organization, "people");
	const { owner } = served.database;
	await owner.query(
		`insert into people (organization_id, id, full_name, primary_email_address, kind)
		values ($1, $2, 'Vera', $3, 'EMPLOYEE')`,
		[organization, people_id, person.email],
	);
	await owner.query("update devices set owner_id = $2 where id = $1", [
		ids[0],
		people_id,
	]);
	await page.goto(at(`/devices/${ids[0]}?check=FIREWALL_ENABLED`));
	await ask.click();
	const dialog = page.getByRole("dialog", {
		name: "Ask for an exception: Host firewall",
	});
	await dialog.getByText("own-laptop may fail the check").waitFor();
	await dialog.getByLabel("Reason").fill("A router filters its traffic.");
	await axe(page);
	await screenshot(page, "devices/ask-exception");
	await dialog.getByRole("button", { name: "Ask for it" }).click();
	await page
		.getByText(`exception requested by ${person.name}, last day`)
		.waitFor();
	expect(await ask.count()).toBe(0);
	await visit(page, at(`/devices/${ids[1]}?check=FIREWALL_ENABLED`));
	await page.getByText("How to fix it").waitFor();
	expect(await ask.count()).toBe(0);
});

/** Fills in the dialog that asks for an exception, and returns it. */
async function fillIn(page: Page): Promise<Locator> {
	const dialog = page.getByRole("dialog");
	// The first field that has to be filled in.
	await typeInto(dialog.getByRole("combobox", { name: "Check" }), "firewall");
	await page.getByRole("option", { name: "Host firewall" }).click();
	await dialog.getByRole("combobox", { name: "It is for" }).click();
	await page.getByRole("option", { name: "All devices" }).click();
	await dialog.getByLabel("Reason").fill("Until the rollout is done.");
	return dialog;
}

test("a member requests an exception, which only an administrator can decide", async () => {
	const fleet = fleetOf(served);
	const { page, organization } = await fleet.start(
		"member",
		async () => "/devices/exceptions",
	);
	await page.getByText("No exceptions yet").waitFor();
	await page.getByRole("button", { name: "Request an exception" }).click();
	const dialog = await fillIn(page);
	expect(await dialog.getByLabel("Approve it now").count()).toBe(0);
	await dialog.getByRole("button", { name: "Request it" }).click();
	await page
		.getByText("The exception is requested.", { exact: false })
		.waitFor();
	await page.getByRole("link", { name: "Host firewall" }).click();
	await page
		.getByText("An administrator has to approve it.", { exact: false })
		.waitFor();
	await factOf(page, "Wanted from");

	const admin = await served.openPageAs(
		await served.makePerson("admin", organization),
		`/o/${organization}`,
	);
	await admin
		.getByRole("region", { name: "Waiting for you" })
		.getByRole("link", { name: "One exception from a device check" })
		.click();
	await admin.getByRole("link", { name: "Host firewall" }).click();
	await admin.getByLabel("Note").fill("Not needed.");
	await screenshot(admin, "devices/exception-decision");
	await admin.getByRole("button", { name: "Reject" }).click();
	await admin.getByRole("status").getByText("Rejected").waitFor();
});

test("an administrator whom the rule of two people binds is offered no approval, and reads who may approve", async () => {
	const fleet = fleetOf(served);
	const { page, at, organization } = await fleet.start(
		"admin",
		async () => "/devices/exceptions",
	);
	await served.database.owner.query(
		`insert into device_policies (organization_id, exceptions_need_two_people) values ($1, true)
		on conflict (organization_id) do update set exceptions_need_two_people = true`,
		[organization],
	);
	await page.getByText("No exceptions yet").waitFor();
	await page.getByRole("button", { name: "Add exception" }).click();
	const dialog = await fillIn(page);
	await dialog.getByRole("button", { name: "Request it" }).click();
	await page.getByRole("link", { name: "Host firewall" }).click();
	const decision = page.getByRole("region", { name: "Decision" });
	await decision
		.getByText(
			"You requested this exception, and the device policy demands that another administrator approves it; invite one first. You can reject it.",
		)
		.waitFor();
	await decision
		.getByRole("link", { name: "invite another administrator" })
		.waitFor();
	const approve = page.getByRole("button", { name: "Approve", exact: true });
	expect(await approve.count()).toBe(0);
	const address = new URL(page.url()).pathname;

	const other = await served.makePerson("admin", organization);
	await page.reload();
	await decision.getByText(`Other administrators: ${other.name}.`).waitFor();
	expect(await approve.count()).toBe(0);
	await axe(page);
	await screenshot(page, "devices/exception-of-two-people");
	const second = await served.openPageAs(other, address);
	await second.getByRole("button", { name: "Approve", exact: true }).click();
	await second.getByText("The exception is approved.").waitFor();
	await visit(page, at("/devices/exceptions"));
	await page.getByText("In force").first().waitFor();
});
