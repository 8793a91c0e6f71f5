import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PASSWORD } from "../support/console-client.ts";
import { joinOrganization, makeApiToken } from "../support/people.ts";
import {
	axe,
	screenshot,
	signIn,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

const path = (query = "") =>
	`/o/${served.organizationId}/settings/members${query}`;
const row = (page: Page, name: string) =>
	page.getByRole("row").filter({ hasText: name });

async function choose(page: Page, name: string, item: string): Promise<void> {
	await page.getByRole("button", { name: `Actions for ${name}` }).click();
	await page.getByRole("menuitem", { name: item }).click();
}

/**
 * Creates the account of a user who has the invitation link, with the request that its page sends.
 */
async function join(page: Page, link: string, name: string): Promise<void> {
	const answer = await page.request.post("/api/join", {
		data: { token: link.split("#")[1], name, password: PASSWORD },
		headers: { origin: served.service.url },
	});
	expect(answer.status()).toBe(200);
}

async function auditEntry(page: Page, action: string): Promise<void> {
	await visit(page, `/o/${served.organizationId}/settings/audit-log`);
	await page.getByRole("button", { name: action }).first().click();
}

test("a user invited by link joins in another browser, changes role and is removed, and the audit log shows it", async () => {
	const page = await served.openPageAs(
		await served.makePerson("admin"),
		path(),
	);
	await page.getByRole("button", { name: "Invite a member" }).click();
	await page.getByLabel("E-mail address").fill("grace");
	await page.getByRole("button", { name: "Invite", exact: true }).click();
	await page.getByText(/^Must be an e-mail address/).waitFor();
	await screenshot(page, "members-invite");
	await axe(page);
	await page.getByLabel("E-mail address").fill("grace@example.com");
	await page.getByRole("radio", { name: "Viewer" }).check();
	await page.getByRole("button", { name: "Invite", exact: true }).click();
	await page.getByText("No mail was sent").waitFor();
	const first = await page
		.getByLabel("Invitation link", { exact: true })
		.innerText();
	await screenshot(page, "members-invited");
	await axe(page);
	await page.getByRole("button", { name: "Done" }).click();

	const open = page.getByRole("region", { name: "Open invitations" }).last();
	await open.getByText("grace@example.com").waitFor();
	await screenshot(page, "members");
	await axe(page);
	await page
		.getByRole("button", { name: "New link for grace@example.com" })
		.click();
	await page.getByRole("button", { name: "Invite", exact: true }).click();
	const link = await page
		.getByLabel("Invitation link", { exact: true })
		.innerText();
	expect(link).not.toBe(first);
	await page.getByRole("button", { name: "Done" }).click();

	const theirs = await served.openPage();
	await join(theirs, link, "Grace");
	await theirs.goto(path());
	await signIn(theirs, { email: "grace@example.com" });
	await row(theirs, "Grace").getByText("Viewer").waitFor();
	expect(await theirs.getByRole("button", { name: /^Actions/ }).count()).toBe(
		0,
	);
	for (const name of ["Invite a member", "New link"]) {
		expect(await theirs.getByRole("button", { name }).count()).toBe(0);
	}
	await screenshot(theirs, "members-viewer");
	await axe(theirs);

	await page.reload();
	await choose(page, "Grace", "Change role …");
	await page.getByRole("radio", { name: "Member" }).check();
	await screenshot(page, "members-role");
	await axe(page);
	await page.getByRole("button", { name: "Change the role" }).click();
	await row(page, "Grace").getByText("Member", { exact: true }).waitFor();
	await expect.poll(() => page.getByText("grace@example.com").count()).toBe(1);
	await auditEntry(page, "Update member");
	const details = page.getByRole("dialog", { name: /Update member/ });
	const change = details.getByRole("row", { name: /Role/ });
	await expect
		.poll(() => change.getByRole("cell").allInnerTexts())
		.toEqual(["Viewer", "Member"]);
	await screenshot(page, "audit-entry-role");
	await axe(page);

	await page.goto(path());
	await choose(page, "Grace", "Remove …");
	await screenshot(page, "members-remove");
	await axe(page);
	await page.getByRole("button", { name: "Remove the member" }).click();
	await row(page, "Grace").waitFor({ state: "detached" });
	await theirs.goto(path());
	await theirs
		.getByRole("heading", { name: "You no longer belong to Acme" })
		.waitFor();
	await auditEntry(page, "Remove member");
	await page
		.getByRole("dialog", { name: /Remove member/ })
		.getByRole("row", { name: /Role/ })
		.getByText("Member")
		.waitFor();
});

test("an auditor is invited with one button as a viewer who may read the audit log until a last day", async () => {
	const page = await served.openPageAs(
		await served.makePerson("admin"),
		path(),
	);
	await page.getByRole("button", { name: "Invite a member" }).first().click();
	const dialog = page.getByRole("dialog");
	await dialog.getByLabel("E-mail address").fill("auditor@example.com");
	await dialog.getByRole("radio", { name: "Member" }).click();
	await dialog.getByRole("button", { name: "Fill in for an auditor" }).click();
	expect(await dialog.getByRole("radio", { name: "Viewer" }).isChecked()).toBe(
		true,
	);
	expect(await dialog.getByLabel("May read the audit log").isChecked()).toBe(
		true,
	);
	const last = await dialog.getByLabel("Last day").inputValue();
	expect(Date.parse(last)).toBeGreaterThan(Date.now() + 85 * 86_400_000);
	await axe(page);
	await screenshot(page, "invite-auditor");
	await dialog.getByRole("button", { name: "Invite", exact: true }).click();
	await page
		.getByRole("dialog", { name: "Send the invitation link" })
		.waitFor();
	const { rows } = await served.database.owner.query(
		"select role, ends_on::text, reads_audit_log from invitations where email = 'auditor@example.com'",
	);
	expect(rows).toEqual([
		{ role: "viewer", ends_on: last, reads_audit_log: true },
	]);
});

test("an open invitation is revoked, and its link no longer works", async () => {
	const page = await served.openPageAs(
		await served.makePerson("admin"),
		path(),
	);
	await page.getByRole("button", { name: "Invite a member" }).click();
	await page.getByLabel("E-mail address").fill("linus@example.com");
	await page.getByRole("button", { name: "Invite", exact: true }).click();
	const link = await page
		.getByLabel("Invitation link", { exact: true })
		.innerText();
	await page.getByRole("button", { name: "Done" }).click();
	await page
		.getByRole("button", { name: "Revoke the invitation of linus@example.com" })
		.click();
	await page
		.getByRole("dialog")
		.getByRole("button", { name: "Revoke the invitation" })
		.click();
	const open = page.getByRole("cell", {
		name: "linus@example.com",
		exact: true,
	});
	await open.waitFor({ state: "detached" });
	const answer = await page.request.post("/api/join", {
		data: { token: link.split("#")[1], name: "Linus", password: PASSWORD },
		headers: { origin: served.service.url },
	});
	expect(answer.status()).toBe(400);
});

test("the only administrator cannot give up the role, and the page says why", async () => {
	const page = await served.openPageAs(
		await served.makePerson("admin"),
		`/o/${served.organizationId}/settings/organization`,
	);
	await page
		.getByRole("button", { name: "Create another organization" })
		.click();
	await page.getByLabel("Name").last().fill("Alone");
	await page.getByRole("button", { name: "Create the organization" }).click();
	await page.getByRole("button", { name: "Organization: Alone" }).waitFor();
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
	await other
		.getByRole("button", { name: "Create another organization" })
		.click();
	await other.getByLabel("Name").last().fill("Elsewhere");
	await other.getByRole("button", { name: "Create the organization" }).click();
	await other
		.getByRole("button", { name: "Organization: Elsewhere" })
		.waitFor();
	const elsewhere = /\/o\/([\w-]{32})/.exec(other.url())?.[1] ?? "";
	await joinOrganization(served.database, person, elsewhere, "member");

	const page = await served.openPageAs(person, path());
	await page.getByRole("button", { name: "Leave Acme …" }).click();
	await page.getByRole("button", { name: "Leave the organization" }).click();
	await page.getByText("You have left Acme.").waitFor();
	await page.getByRole("button", { name: "Organization: Elsewhere" }).waitFor();
	await page.goto(path());
	await page
		.getByRole("heading", { name: "You no longer belong to Acme" })
		.waitFor();
});

test("an administrator makes a password reset link and resets lost two-factor authentication", async () => {
	const admin = await served.makePerson("admin");
	const member = await served.makePerson("member");
	await served.database.owner.query(
		"update users set two_factor_enabled = true where id = $1",
		[member.id],
	);
	const page = await served.openPageAs(admin, path(`?q=${member.email}`));
	await row(page, member.name).getByText("On", { exact: true }).waitFor();
	await choose(page, member.name, "Password reset link …");
	await page.getByRole("button", { name: "Make the link" }).click();
	const link = await page
		.getByLabel("Password reset link", { exact: true })
		.innerText();
	expect(link).toMatch(/\/reset-password#asy_rst_\w+$/);
	await page.getByRole("button", { name: "Done" }).click();
	await choose(page, member.name, "Reset two-factor …");
	await page.getByRole("button", { name: "Reset two-factor" }).click();
	await row(page, member.name).getByText("Off", { exact: true }).waitFor();

	await visit(page, path(`?q=${admin.email}`));
	await page.getByRole("button", { name: `Actions for ${admin.name}` }).click();
	await page.getByRole("menuitem", { name: "Change role …" }).waitFor();
	await expect.poll(() => page.getByRole("menuitem").count()).toBe(1);
});

test("the address of the list of members contains its search, filters and order", async () => {
	const viewer = await served.makePerson("viewer");
	await makeApiToken(served.database, viewer);
	const page = await served.openPageAs(viewer, path("?role=viewer"));
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
	expect(
		await admin.getByRole("combobox", { name: "Heartbeat every" }).inputValue(),
	).toBe("15 minutes");
	expect(await admin.getByLabel("Description").inputValue()).toBe(
		"Makes anvils",
	);

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
	await visit(viewer, path());
	await viewer.getByRole("table").waitFor();
	await screenshot(viewer, "members-viewer-375-dark");
	await axe(viewer);
});

test("many people are invited from a file, after its wrong lines were shown, and their links are saved", async () => {
	const page = await served.openPageAs(
		await served.makePerson("admin"),
		path(),
	);
	await page.getByRole("button", { name: "Invite many" }).click();
	const input = page.locator("input[type=file]");
	const choose = (text: string) =>
		input.setInputFiles({
			name: "people.csv",
			mimeType: "text/csv",
			buffer: Buffer.from(text),
		});
	await choose("email,role\nann@example.com,owner\nbea@example.com,\n");
	await page.getByText("Line 2: role must be one of").waitFor();
	const invite = page.getByRole("button", { name: /^Invite 1 member/ });
	expect(await invite.isDisabled()).toBe(true);
	// A browser reports no change if the input still holds the file that is chosen again.
	expect(await input.inputValue()).toBe("");
	await axe(page);
	await screenshot(page, "members-invite-many-wrong");
	await choose(
		"E-mail,Full name,Role\nann@example.com,Ann,viewer\nbea@example.com,Bea,\n",
	);
	await page.getByRole("button", { name: "Invite 2 members" }).waitFor();
	await page
		.getByText("2 members will be invited (1 as viewer, 1 as member).")
		.waitFor();
	await page.getByText("Not read: Full name.").waitFor();
	expect(await page.getByText("Line 2:").count()).toBe(0);
	const lines = Array.from({ length: 60 }, (_, n) => `many-${n}@example.com`);
	await choose(`email\n${lines.join("\n")}\n`);
	await page.getByRole("button", { name: "Invite 60 members" }).click();
	await page.getByText("60 members get no mail").waitFor();
	await axe(page);
	await screenshot(page, "members-invite-many-done");
	const lost = page.getByText("The links are lost when you close");
	await page.getByRole("button", { name: "Done" }).click();
	await lost.waitFor();
	await axe(page);
	await page.getByRole("button", { name: "Close without the links" }).waitFor();
	const [download] = await Promise.all([
		page.waitForEvent("download"),
		page.getByRole("button", { name: "Save the links as CSV" }).click(),
	]);
	const saved = await readFile(await download.path(), "utf8");
	expect(saved.trim().split("\r\n")).toHaveLength(61);
	expect(saved).toMatch(
		/"many-59@example\.com",member,http.*\/invitation#asy_inv_/,
	);
	await lost.waitFor({ state: "hidden" });
	await page.getByRole("button", { name: "Done" }).click();
	const rows = page.locator("section[aria-label='Open invitations'] tbody tr");
	await expect.poll(() => rows.count()).toBe(50);
	await page.getByRole("button", { name: /^Show more/ }).click();
	await expect.poll(() => rows.count()).toBeGreaterThan(59);
});

test("the page of a member says how the member signs in, and an administrator acts there", async () => {
	const admin = await served.makePerson("admin");
	const member = await served.makePerson("viewer");
	await makeApiToken(served.database, member);
	const theirs = await served.openPage();
	await theirs.goto("/");
	await signIn(theirs, member);
	await theirs.waitForURL(/\/o\//);
	await visit(theirs, path(`/${member.id}`));
	await theirs.getByText("Only administrators see this page").waitFor();
	await theirs.getByRole("heading", { name: "Member", level: 1 }).waitFor();

	const page = await served.openPageAs(admin, path());
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
