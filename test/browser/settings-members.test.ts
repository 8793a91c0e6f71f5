import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { joinOrganization, makeApiToken } from "../support/people.ts";
import {
	axe,
	row,
	screenshot,
	signIn,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { choose, membersPath } from "./members-page.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

/** Creates an organization from the page of another one. */
async function createAnother(page: Page, name: string): Promise<void> {
	await page
		.getByRole("button", { name: "Create another organization" })
		.click();
	// The page has a field of this name too.
	const dialog = page.getByRole("dialog");
	await dialog.getByLabel("Name").fill(name);
	await dialog.getByRole("button", { name: "Create the organization" }).click();
}

test("the only administrator cannot give up the role, and the page says why", async () => {
	const page = await served.openPageAs(
		await served.makePerson("admin"),
		`/o/${served.organizationId}/settings/organization`,
	);
	await createAnother(page, "Alone");
	await page.getByRole("button", { name: "Organization: Alone" }).waitFor();
	await page.getByRole("heading", { name: "First steps", level: 1 }).waitFor();
	const main = page.getByRole("navigation", { name: "Main" });
	await main.getByRole("button", { name: "Settings" }).click();
	await main.getByRole("link", { name: "Members" }).click();
	await page.getByRole("button", { name: /^Actions for/ }).click();
	await page.getByRole("menuitem", { name: "Change role …" }).click();
	await page.getByText("You are the only administrator").waitFor();
	await page.getByRole("radio", { name: "Viewer" }).check();
	expect(
		await page.getByRole("button", { name: "Change the role" }).isDisabled(),
	).toBe(true);
	await screenshot(page, "members-last-admin");
	await axe(page);
	await page.getByRole("button", { name: "Cancel" }).click();
	await page.getByRole("button", { name: "Leave Alone …" }).click();
	await page.getByText("You are the only administrator").waitFor();
	expect(
		await page.getByRole("button", { name: "Leave the organization" }).count(),
	).toBe(0);
});

test("a user who leaves loses access and lands in another of their organizations", async () => {
	const person = await served.makePerson("member");
	const other = await served.openPageAs(
		await served.makePerson("admin"),
		`/o/${served.organizationId}/settings/organization`,
	);
	await createAnother(other, "Elsewhere");
	await other
		.getByRole("button", { name: "Organization: Elsewhere" })
		.waitFor();
	const elsewhere = /\/o\/([\w-]{32})/.exec(other.url())?.[1] ?? "";
	await joinOrganization(served.database, person, elsewhere, "member");

	const page = await served.openPageAs(person, membersPath(served));
	await page.getByRole("button", { name: "Leave Acme …" }).click();
	await page.getByRole("button", { name: "Leave the organization" }).click();
	await page.getByText("You have left Acme.").waitFor();
	await page.getByRole("button", { name: "Organization: Elsewhere" }).waitFor();
	await page.goto(membersPath(served));
	await page
		.getByRole("heading", { name: "You no longer belong to Acme" })
		.waitFor();
});

test("Escape and a click outside leave a dialog open while it saves, so a refusal is seen", async () => {
	const other = await served.makePerson("member");
	const page = await served.openPageAs(
		await served.makePerson("admin"),
		membersPath(served),
	);
	const isAllowed = Promise.withResolvers<void>();
	await page.route("**/api/console/updateMember", async (route) => {
		await isAllowed.promise;
		await route.fulfill({
			status: 400,
			json: { error: "bad_request", message: "Refused by the test." },
		});
	});
	await row(page, other.email)
		.getByRole("button", { name: /^Actions/ })
		.click();
	await page.getByRole("menuitem", { name: /^Change role/ }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("radio", { name: /^Viewer/ }).check();
	const asked = page.waitForRequest("**/api/console/updateMember");
	await dialog.getByRole("button", { name: "Change the role" }).click();
	await asked;
	await page.keyboard.press("Escape");
	await page.mouse.click(5, 5);
	isAllowed.resolve();
	await dialog.getByText("Refused by the test.").waitFor();
	await page.keyboard.press("Escape");
	await page.getByRole("button", { name: "Discard it" }).click();
	await dialog.waitFor({ state: "detached" });
});

test("an administrator makes a password reset link and resets lost two-factor authentication", async () => {
	const admin = await served.makePerson("admin");
	const member = await served.makePerson("member");
	await served.database.owner.query(
		"update users set two_factor_enabled = true where id = $1",
		[member.id],
	);
	const page = await served.openPageAs(
		admin,
		membersPath(served, `?q=${member.email}`),
	);
	await row(page, member.name).getByText("On", { exact: true }).waitFor();
	await choose(page, member.name, "Password reset link …");
	await page.getByRole("button", { name: "Make the link" }).click();
	const link = await page
		.getByLabel("Password reset link", { exact: true })
		.innerText();
	expect(link).toMatch(/\/reset-password#asy_rst_\w+$/);
	await page.getByRole("button", { name: "I have copied it" }).click();
	await choose(page, member.name, "Reset two-factor …");
	await page.getByRole("button", { name: "Reset two-factor" }).click();
	await row(page, member.name).getByText("Off", { exact: true }).waitFor();

	await visit(page, membersPath(served, `?q=${admin.email}`));
	await page.getByRole("button", { name: `Actions for ${admin.name}` }).click();
	await page.getByRole("menuitem", { name: "Change role …" }).waitFor();
	await expect.poll(() => page.getByRole("menuitem").count()).toBe(1);
});

test("the address of the list of members contains its search, filters and order", async () => {
	const viewer = await served.makePerson("viewer");
	await makeApiToken(served.database, viewer);
	const page = await served.openPageAs(
		viewer,
		membersPath(served, "?role=viewer"),
	);
	await row(page, viewer.email).waitFor();
	const administrators = page.getByRole("cell", { name: "Administrator" });
	expect(await administrators.count()).toBe(0);
	await page.getByRole("button", { name: "Clear filters" }).hover();
	await axe(page);
	await page.getByRole("button", { name: "Clear Role" }).press("Enter");
	await administrators.first().waitFor();
	await page.getByRole("button", { name: "Name" }).click();
	await expect.poll(() => page.url()).toContain("sort=name");
	await page.getByLabel("Search members").fill("nobody at all");
	await page.getByRole("heading", { name: "No member matches" }).waitFor();
	await page.getByRole("button", { name: "Show all members" }).click();
	await row(page, viewer.email).waitFor();
});

test("only administrators change the organization's name, description and intervals", async () => {
	const device = await served.activateDevice();
	expect(device.id).toBeTruthy();
	const address = `/o/${served.organizationId}/settings/organization`;
	const admin = await served.openPageAs(
		await served.makePerson("admin"),
		address,
	);
	await admin.getByText(/active device/).waitFor();
	await screenshot(admin, "organization");
	await axe(admin);
	await admin.getByLabel("Name").fill("");
	await admin.getByRole("button", { name: "Save" }).first().click();
	await admin.getByText("Enter a name.").first().waitFor();
	await admin.getByLabel("Name").fill("Acme");
	await admin.getByLabel("Description").fill("Makes anvils");
	await admin.getByRole("button", { name: "Save" }).first().click();
	await admin.getByText("The organization is saved.").waitFor();
	await admin.getByRole("combobox", { name: "Heartbeat every" }).click();
	await admin.getByRole("option", { name: "15 minutes" }).click();
	await admin
		.getByText("A device without a heartbeat for 31 minutes")
		.waitFor();
	await admin.getByRole("button", { name: "Save" }).last().click();
	await admin.getByText("The intervals are saved.").waitFor();
	await admin.reload();
	await expect
		.poll(() =>
			admin.getByRole("combobox", { name: "Heartbeat every" }).inputValue(),
		)
		.toBe("15 minutes");
	await expect
		.poll(() => admin.getByLabel("Description").inputValue())
		.toBe("Makes anvils");

	const viewer = await served.openPageAs(
		await served.makePerson("viewer"),
		address,
		{ viewport: { width: 375, height: 740 }, colorScheme: "dark" },
	);
	await viewer.getByText("every 15 minutes").waitFor();
	const copy = viewer.getByRole("button", { name: /^Copy ID/ });
	const [button, text] = await Promise.all([
		copy.boundingBox(),
		copy.getByText("Copy", { exact: true }).boundingBox(),
	]);
	const rightOf = (box: typeof text) => (box ? box.x + box.width : 0);
	expect(rightOf(text)).toBeGreaterThan(0);
	expect(rightOf(text)).toBeLessThanOrEqual(rightOf(button));
	expect(await viewer.getByRole("button", { name: "Save" }).count()).toBe(0);
	expect(await viewer.getByRole("textbox").count()).toBe(0);
	await screenshot(viewer, "organization-viewer-375-dark");
	await axe(viewer);
	await visit(viewer, membersPath(served));
	await viewer.getByRole("table").waitFor();
	await screenshot(viewer, "members-viewer-375-dark");
	await axe(viewer);
});

test("the page of a member says how the member signs in, and an administrator acts there", async () => {
	const admin = await served.makePerson("admin");
	const member = await served.makePerson("viewer");
	await makeApiToken(served.database, member);
	const theirs = await served.openPage();
	await theirs.goto(membersPath(served, `/${member.id}`));
	await signIn(theirs, member);
	await theirs.getByText("Only administrators see this page").waitFor();
	await theirs.getByRole("heading", { name: "Member", level: 1 }).waitFor();

	const page = await served.openPageAs(admin, membersPath(served));
	await page.getByRole("link", { name: member.name, exact: true }).click();
	await page.getByRole("heading", { name: member.name, level: 1 }).waitFor();
	const ways = page.getByRole("region", { name: "Sign-in" });
	await ways.getByText("Password", { exact: true }).waitFor();
	await ways.getByRole("link", { name: "1", exact: true }).waitFor();
	expect(await ways.getByText("None yet in this organization").count()).toBe(0);
	await axe(page);
	await screenshot(page, "settings/member");
	await choose(page, member.name, "Change role …");
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("radio", { name: "Member" }).check();
	await dialog.getByRole("button", { name: /Change|Save/ }).click();
	await page
		.getByRole("region", { name: "Membership" })
		.getByText("Member", { exact: true })
		.waitFor();
	await choose(page, member.name, "Remove …");
	await page.getByRole("button", { name: "Remove the member" }).click();
	await page.waitForURL(/settings\/members$/);
	await row(page, admin.name).waitFor();
	// The page may show the list that it kept until the new one arrives.
	await row(page, member.name).waitFor({ state: "detached" });
});
