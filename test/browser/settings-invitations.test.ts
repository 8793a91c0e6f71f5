import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { callByName } from "../support/call-by-name.ts";
import { PASSWORD } from "../support/console-client.ts";
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
import { pressEscape } from "./settled.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

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
		membersPath(served),
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
	await page.getByText("Only this computer can open this address.").waitFor();
	await screenshot(page, "members-invited");
	await axe(page);
	await page.getByRole("button", { name: "I have copied it" }).click();

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
	await page.getByRole("button", { name: "I have copied it" }).click();

	const theirs = await served.openPage();
	await join(theirs, link, "Grace");
	await theirs.goto(membersPath(served));
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
	await page.getByText(/^Role of Grace.* changed$/).waitFor();
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

	await visit(page, membersPath(served));
	await choose(page, "Grace", "Remove …");
	await screenshot(page, "members-remove");
	await axe(page);
	await page.getByRole("button", { name: "Remove the member" }).click();
	await row(page, "Grace").waitFor({ state: "detached" });
	await theirs.goto(membersPath(served));
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
		membersPath(served),
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
	await page.getByRole("button", { name: "I have copied it" }).click();
	await page
		.getByRole("row", { name: /auditor@example\.com/ })
		.getByText(/^Until .*; reads the audit log$/)
		.waitFor();
});

test("an open invitation is revoked, and its link no longer works", async () => {
	const page = await served.openPageAs(
		await served.makePerson("admin"),
		membersPath(served),
	);
	await page.getByRole("button", { name: "Invite a member" }).click();
	await page.getByLabel("E-mail address").fill("linus@example.com");
	await page.getByRole("button", { name: "Invite", exact: true }).click();
	const link = await page
		.getByLabel("Invitation link", { exact: true })
		.innerText();
	await page.getByRole("button", { name: "I have copied it" }).click();
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

test("many people are invited from a file, after its wrong lines were shown, and their links are saved", async () => {
	const page = await served.openPageAs(
		await served.makePerson("admin"),
		membersPath(served),
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
	await pressEscape(page.getByRole("dialog"));
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
	await page.getByRole("button", { name: "I have saved them" }).click();
	const rows = page.locator("section[aria-label='Open invitations'] tbody tr");
	await expect.poll(() => rows.count()).toBe(50);
	await page.getByRole("button", { name: /^Show more/ }).click();
	await expect.poll(() => rows.count()).toBeGreaterThan(59);
});

test("the long name of an organization and that of a view stay within their boxes", async () => {
	const name = `Konzern${"x".repeat(60)}`;
	const organization_id = await createOrganization(served.database.pool, name);
	const admin = await served.makePerson("admin", organization_id);
	const use = (tool: string, input: object) =>
		callByName(served.database, admin, tool, { organization_id, ...input });
	const email = "long-name@example.com";
	const { invitation_url } = await use("inviteMember", {
		...{ email, role: "viewer" },
	});
	const visitor = await served.openPage({
		viewport: { width: 390, height: 900 },
	});
	await visitor.goto(`/invitation${new URL(invitation_url).hash}`);
	const join = visitor.getByRole("button", { name: `Join ${name}` });
	await join.waitFor();
	await screenshot(visitor, "invitation-long-name");
	await axe(visitor);
	const room = ({ scrollWidth, clientWidth }: Box) => clientWidth - scrollWidth;
	for (const part of [join, join.getByText(name), visitor.locator("html")]) {
		expect(await part.evaluate(room)).toBeGreaterThanOrEqual(0);
	}

	await use("saveView", {
		...{ list: "task", name, search: { status: "TODO" } },
	});
	const page = await served.openPageAs(admin, `/o/${organization_id}/r/task`);
	await page.getByRole("button", { name: "Views" }).click();
	const item = page.getByRole("menuitem", { name });
	await item.waitFor();
	await screenshot(page, "view-long-name");
	expect(await item.evaluate(room)).toBeGreaterThanOrEqual(0);
});

interface Box {
	scrollWidth: number;
	clientWidth: number;
}
