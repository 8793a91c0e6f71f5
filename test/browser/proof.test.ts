import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inviteMember } from "../../src/organizations/invitation-operations.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { createPasswordResetLink } from "../../src/sign-in/account-operations.ts";
import { PASSWORD } from "../support/console-client.ts";
import {
	callAs,
	joinOrganization,
	makeApiToken,
	type TestUser,
} from "../support/people.ts";
import { totp } from "../support/totp.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";
import { typeInto } from "./settled.ts";

const NEW_PASSWORD = "a different battery";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

const button = (page: Page, name: string) =>
	page.getByRole("button", { name, exact: true });
const heading = (page: Page, name: string) =>
	page.getByRole("heading", { name, level: 1 });

/** Makes the last password or code of each of the user's sessions older than ten minutes. */
const ageProofs = (person: TestUser) =>
	served.database.owner.query(
		"update sessions set proved_at = now() - interval '11 minutes' where user_id = $1",
		[person.id],
	);

/** Returns the number of organizations that the token can reach, or 0 if the token is rejected. */
async function reachOf(token: string): Promise<number> {
	const answer = await fetch(
		`${served.service.url}/api/mcp/tools/listOrganizations`,
		{ headers: { authorization: `Bearer ${token}` } },
	);
	if (!answer.ok) return 0;
	const { organizations } = (await answer.json()) as { organizations: [] };
	return organizations.length;
}

/** Starts to create a token more than ten minutes after the user entered the password. */
async function createTokenLate(person: TestUser, name: string): Promise<Page> {
	const page = await served.openPageAs(
		person,
		`/o/${served.organizationId}/settings/api-tokens?token=new`,
	);
	await ageProofs(person);
	await page.getByLabel("Name").fill(name);
	await button(page, "Create the token").click();
	await proofDialog(page).waitFor();
	return page;
}

const proofDialog = (page: Page) =>
	page.getByRole("dialog", { name: "Confirm that it is you" });

test("creating a token ten minutes after signing in asks for the password again, and continues if it is right", async () => {
	const person = await served.makePerson("viewer");
	const page = await createTokenLate(person, "late");
	const dialog = proofDialog(page);
	await dialog.getByLabel("Your password").waitFor();
	// Without a second factor, the dialog does not offer to use a code.
	expect(await dialog.getByText("Use a code instead").count()).toBe(0);
	await axe(page);
	await screenshot(page, "proof-password");
	await dialog.getByLabel("Your password").fill("not the password");
	await dialog.getByRole("button", { name: "Confirm" }).click();
	await dialog.getByText("This is not your current password").waitFor();
	await dialog.getByLabel("Your password").fill(PASSWORD);
	await dialog.getByRole("button", { name: "Confirm" }).click();
	const token = await page.getByLabel("API token", { exact: true }).innerText();
	expect(await reachOf(token)).toBe(1);
});

test("the password field has the focus, also if the profile loads after the dialog has opened", async () => {
	const person = await served.makePerson("viewer");
	const page = await served.openPageAs(
		person,
		`/o/${served.organizationId}/settings/api-tokens?token=new`,
	);
	await ageProofs(person);
	await page.getByLabel("Name").fill("keyboard");
	const dialog = proofDialog(page);
	const close = dialog.locator("button[aria-label=Close]:focus");
	// The profile stays away until the dialog has put the focus on its only button.
	await page.route("**/getProfile*", async (route) => {
		await close.waitFor();
		await route.continue();
	});
	await button(page, "Create the token").click();
	await dialog.getByLabel("Your password").waitFor();
	await screenshot(page, "proof-focus");
	await typeInto(dialog.getByLabel("Your password"), PASSWORD);
	await page.keyboard.press("Enter");
	const token = await page.getByLabel("API token", { exact: true }).innerText();
	expect(await reachOf(token)).toBe(1);
});

test("if the user closes the password dialog, no token is created", async () => {
	const person = await served.makePerson("viewer");
	const page = await createTokenLate(person, "cancelled");
	await proofDialog(page).getByRole("button", { name: "Cancel" }).click();
	await proofDialog(page).waitFor({ state: "detached" });
	await page
		.getByText("Nothing was changed, because you did not confirm")
		.first()
		.waitFor();
	const { rows } = await served.database.owner.query(
		"select from api_tokens where user_id = $1",
		[person.id],
	);
	expect(rows).toEqual([]);
});

test("a user with a second factor may enter a code instead of the password", async () => {
	const person = await served.makePerson("viewer");
	const page = await served.openPageAs(person, "/account");
	const send = (path: string, data: object) =>
		page.request.post(`/api/auth/two-factor/${path}`, {
			data,
			headers: { origin: served.service.url },
		});
	const begun = await send("enable", { password: PASSWORD });
	const { totpURI, backupCodes } = await begun.json();
	expect((await send("verify-totp", { code: totp(totpURI) })).ok()).toBe(true);
	for (const makeCode of [
		() => totp(totpURI, 1),
		() => backupCodes[0] as string,
	]) {
		await page.goto(
			`/o/${served.organizationId}/settings/api-tokens?token=new`,
		);
		await ageProofs(person);
		await page.getByLabel("Name").fill("by code");
		await button(page, "Create the token").click();
		const dialog = proofDialog(page);
		await dialog.getByRole("button", { name: "Use a code instead" }).click();
		await axe(page);
		await dialog.getByLabel("Code").fill("wrong-codes");
		await dialog.getByRole("button", { name: "Confirm" }).click();
		await dialog.getByText("This recovery code is wrong").waitFor();
		await screenshot(page, "proof-code");
		await dialog.getByLabel("Code").fill(makeCode());
		await dialog.getByRole("button", { name: "Confirm" }).click();
		const token = page.getByLabel("API token", { exact: true });
		expect(await reachOf(await token.innerText())).toBe(1);
	}
});

test("when a user accepts an invitation, only the ticked tokens can reach the organization", async () => {
	const { database } = served;
	const elsewhere = await createOrganization(database.pool, "Beta");
	const person = await served.makePerson("viewer", elsewhere);
	const chosen = await makeApiToken(database, person, { name: "laptop" });
	const left = await makeApiToken(database, person, { name: "forgotten" });
	const { invitation_url } = await callAs(
		database,
		await served.makePerson("admin"),
		inviteMember,
		{
			organization_id: served.organizationId,
			email: person.email,
			role: "viewer",
		},
	);
	const page = await served.openPageAs(
		person,
		`/invitation${new URL(invitation_url).hash}`,
	);
	const box = (name: string) => page.getByRole("checkbox", { name });
	await box("forgotten").waitFor();
	expect(await box("laptop").isChecked()).toBe(true);
	await box("forgotten").uncheck();
	await axe(page);
	await screenshot(page, "invitation-tokens");
	await button(page, "Join Acme").click();
	await heading(page, "Home").waitFor();
	expect(await reachOf(chosen.token)).toBe(2);
	expect(await reachOf(left.token)).toBe(1);
});

test("the reset page revokes API tokens, unless the user unticks it", async () => {
	const { database, organizationId } = served;
	const admin = await served.makePerson("admin");
	for (const keepsTokens of [false, true]) {
		const person = await served.makePerson("viewer");
		const { token } = await makeApiToken(database, person);
		const { reset_url } = await callAs(
			database,
			admin,
			createPasswordResetLink,
			{ organization_id: organizationId, user_id: person.id },
		);
		const page = await served.openPage();
		await page.goto(`/reset-password${new URL(reset_url).hash}`);
		const box = page.getByRole("checkbox", { name: "Revoke my API token" });
		await box.waitFor();
		expect(await box.isChecked()).toBe(true);
		if (keepsTokens) await box.uncheck();
		await page.getByLabel("New password").fill(NEW_PASSWORD);
		await button(page, "Set the password").click();
		await heading(page, "Your password is set").waitFor();
		const said = keepsTokens
			? "Your API token still works"
			: "Your API token was revoked";
		await page.getByText(said).waitFor();
		expect(await reachOf(token)).toBe(keepsTokens ? 1 : 0);
	}
});

test("a new password revokes only the API tokens that the user ticks", async () => {
	const person = await served.makePerson("viewer");
	const stolen = await makeApiToken(served.database, person, { name: "old" });
	const kept = await makeApiToken(served.database, person, { name: "mine" });
	const page = await served.openPageAs(person, "/account");
	const password = page.getByRole("region", { name: "Password", exact: true });
	const box = (name: RegExp) => password.getByRole("checkbox", { name });
	await box(/^mine/).waitFor();
	for (const name of [/^All 2/, /^mine/, /^old/]) {
		expect(await box(name).isChecked()).toBe(false);
	}
	await box(/^All 2/).check();
	expect(await box(/^old/).isChecked()).toBe(true);
	await box(/^mine/).uncheck();
	expect(await box(/^All 2/).isChecked()).toBe(false);
	await axe(page);
	await screenshot(page, "account-tokens");
	await password.getByLabel("Current password").fill("not the password");
	await password.getByLabel("New password").fill(NEW_PASSWORD);
	await button(page, "Change the password").click();
	await password.getByText("This is not your current password").waitFor();
	expect(await reachOf(stolen.token)).toBe(1);
	await password.getByLabel("Current password").fill(PASSWORD);
	await button(page, "Change the password").click();
	await page.getByText("Your password is changed").waitFor();
	await expect.poll(() => reachOf(stolen.token)).toBe(0);
	expect(await reachOf(kept.token)).toBe(1);
});

test("signing out everywhere else revokes the ticked API tokens too", async () => {
	const person = await served.makePerson("viewer");
	await joinOrganization(
		served.database,
		person,
		await createOrganization(served.database.pool, "Beta"),
		"viewer",
	);
	const stolen = await makeApiToken(served.database, person, { name: "old" });
	const kept = await makeApiToken(served.database, person, { name: "mine" });
	await served.openPageAs(person, "/account");
	const page = await served.openPageAs(person, "/account");
	await button(page, "Sign out everywhere else …").click();
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("checkbox", { name: /^old/ }).check();
	await axe(page);
	await screenshot(page, "sessions-tokens");
	await dialog.getByRole("button", { name: "Sign out" }).click();
	await dialog.waitFor({ state: "detached" });
	expect(await reachOf(stolen.token)).toBe(0);
	expect(await reachOf(kept.token)).toBe(2);
});
