import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inviteMember } from "../../src/organizations/invitation-operations.ts";
import { findFreePort } from "../support/free-port.ts";
import {
	type IdentityProvider,
	startIdentityProvider,
} from "../support/identity-provider.ts";
import { callAs } from "../support/people.ts";
import {
	axe,
	screenshot,
	signIn,
	startConsole,
	type TestConsole,
} from "./browser.ts";

const EMERGENCY = "emergency@example.com";

let provider: IdentityProvider;
let served: TestConsole;
let base: string;
/** A service where only the emergency account has a password. */
let strict: Awaited<ReturnType<typeof start>>;
beforeAll(async () => {
	provider = await startIdentityProvider();
	({ served, base } = await start());
	strict = await start({ ASSAY_PASSWORD_SIGN_IN: EMERGENCY });
});
afterAll(async () => {
	await served.close();
	await strict.served.close();
	await provider.close();
});

async function start(settings: Record<string, string> = {}) {
	const port = await findFreePort();
	const address = `http://localhost:${port}`;
	provider.allow(address);
	const console_ = await startConsole(
		{
			ASSAY_PORT: String(port),
			...provider.settings("example.com"),
			...settings,
		},
		provider.issuer,
	);
	return { served: console_, base: address };
}

const link = (page: Page, name: string) =>
	page.getByRole("link", { name, exact: true });
const heading = (page: Page, name: string) =>
	page.getByRole("heading", { name, level: 1 });
const atProvider = (sub: string, email: string) =>
	provider.signInAs({ sub, email, email_verified: true, name: "Ada Example" });

test("a person signs in with the provider, reaches the wanted page and confirms in a new tab", async () => {
	const person = await served.makePerson("admin");
	atProvider("ada", person.email);
	const page = await served.openPage({ baseURL: base });
	const wanted = `/o/${served.organizationId}/settings/api-tokens?token=new`;
	await page.goto(wanted);
	await link(page, "Continue with Example Inc.").waitFor();
	await axe(page);
	await screenshot(page, "sign-in-provider");
	await link(page, "Continue with Example Inc.").click();
	await page.waitForURL(`**${wanted}`);

	await served.database.owner.query(
		"update sessions set proved_at = now() - interval '11 minutes'",
	);
	await page.getByLabel("Name").fill("Claude");
	await page.getByRole("button", { name: "Create the token" }).click();
	await link(page, "Confirm with Example Inc.").waitFor();
	await axe(page);
	await screenshot(page, "provider-confirm");
	const [tab] = await Promise.all([
		page.context().waitForEvent("page"),
		link(page, "Confirm with Example Inc.").click(),
	]);
	await heading(tab, "You have confirmed").waitFor();
	await axe(tab);
	await screenshot(tab, "provider-confirmed");
	await page.getByText("asy_pat_").first().waitFor();
});

test("an invited person joins through the provider without a password", async () => {
	const admin = await served.makePerson("admin");
	const email = "grace@example.com";
	const { invitation_url } = await callAs(
		served.database,
		admin,
		inviteMember,
		{
			organization_id: served.organizationId,
			email,
			role: "member",
		},
	);
	atProvider("grace", email);
	const page = await served.openPage({ baseURL: base });
	const { pathname, hash } = new URL(invitation_url);
	await page.goto(pathname + hash);
	await page.getByLabel("Your name").waitFor();
	await axe(page);
	await screenshot(page, "invitation-provider");
	await link(page, "Continue with Example Inc.").click();
	await page.waitForURL(`**/o/${served.organizationId}**`);
	await page.goto("/account");
	await page
		.getByText("You have none. You sign in with Example Inc.")
		.waitFor();
	expect(await page.getByText("Two-factor authentication").count()).toBe(0);
	await axe(page);
	await screenshot(page, "account-provider");
});

test("somebody who may not sign in learns why, and can try again", async () => {
	atProvider("eve", "eve@example.com");
	const page = await served.openPage({ baseURL: base });
	await page.goto("/sign-in");
	await link(page, "Continue with Example Inc.").click();
	await page.getByText("nobody has invited you").waitFor();
	await axe(page);
	await screenshot(page, "provider-not-invited");
	await link(page, "Continue with Example Inc.").waitFor();
	await page.goto("/sign-in?problem=constructor");
	await page.getByText("Something went wrong").waitFor();
	await page.goto("/confirmed?problem=OTHER_ACCOUNT");
	await heading(page, "You have not confirmed").waitFor();
});

test("where only emergency accounts have passwords, the form is out of the way and still works", async () => {
	const page = await strict.served.openPage({ baseURL: strict.base });
	await page.goto("/sign-in");
	await link(page, "Continue with Example Inc.").waitFor();
	expect(await page.getByLabel("E-mail address").count()).toBe(0);
	await screenshot(page, "sign-in-provider-only");
	await page
		.getByRole("button", { name: "Sign in with an emergency password" })
		.click();
	const person = await strict.served.makePerson("admin");
	await signIn(page, person);
	await page.getByText("sign in with Example Inc.").waitFor();
	await axe(page);
	await strict.served.database.owner.query(
		"update users set email = $1 where id = $2",
		[EMERGENCY, person.id],
	);
	await signIn(page, { email: EMERGENCY });
	await page.waitForURL(`**/o/${strict.served.organizationId}**`);
});
