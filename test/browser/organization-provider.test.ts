import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { verify } from "../scim/stand.ts";
import { findFreePort } from "../support/free-port.ts";
import {
	CLIENT_ID,
	CLIENT_SECRET,
	type IdentityProvider,
	startIdentityProvider,
} from "../support/identity-provider.ts";
import type { TestUser } from "../support/people.ts";
import {
	axe,
	screenshot,
	signIn,
	startConsole,
	type TestConsole,
} from "./browser.ts";

let provider: IdentityProvider;
let served: TestConsole;
let base: string;
beforeAll(async () => {
	provider = await startIdentityProvider();
	const port = await findFreePort();
	base = `http://localhost:${port}`;
	served = await startConsole(
		{
			ASSAY_PORT: String(port),
			ASSAY_OUTGOING_NETWORKS: "127.0.0.1",
			ASSAY_OAUTH: "on",
		},
		provider.issuer,
	);
	await verify(served.database, served.organizationId, "example.com");
});
afterAll(async () => {
	await served.close();
	await provider.close();
});

const region = (page: Page, name: string) =>
	page.getByRole("region", { name, exact: true }).first();
const button = (page: Page, name: string) =>
	page.getByRole("button", { name, exact: true });
const atProvider = ({ id, email }: TestUser) =>
	provider.signInAs({ sub: id, email, email_verified: true, name: "Ada" });

/**
 * Checks the page with axe. If SCREENSHOTS is set, takes screenshots of it with a wide and a narrow
 * window, light and dark.
 */
async function look(page: Page, name: string, shown?: string) {
	await axe(page);
	if (!process.env.SCREENSHOTS) return;
	for (const width of [1440, 390]) {
		await page.setViewportSize({ width, height: 900 });
		for (const colorScheme of ["light", "dark"] as const) {
			await page.emulateMedia({ colorScheme });
			if (shown) await region(page, shown).scrollIntoViewIfNeeded();
			await screenshot(page, `${name}-${width}-${colorScheme}`);
		}
	}
	await page.emulateMedia({ colorScheme: "light" });
	await page.setViewportSize({ width: 1280, height: 800 });
}

test("an administrator sets a provider up, makes it the only way in, and others are led to it", async () => {
	const admin = await served.makePerson("admin");
	await served.database.owner.query(
		`insert into passkeys (id, user_id, rp_id, credential_id, public_key, name, can_sign_in, is_synced)
		values ($1::text, $1, 'localhost', convert_to($1::text, 'UTF8'), '\\x00', 'Key', true, false)`,
		[admin.id],
	);
	// Otherwise the first sign-in with the provider would be the first proof, and remove the password.
	await served.database.owner.query(
		"update users set address_proof = 'LINK' where id = $1",
		[admin.id],
	);
	const settings = `/o/${served.organizationId}/settings/sign-in`;
	const page = await served.openPage({ baseURL: base });
	await page.goto(settings);
	await signIn(page, admin);
	await button(page, "Add an identity provider").waitFor();
	await served.database.owner.query(
		"update users set two_factor_enabled = true where id = $1",
		[admin.id],
	);

	await button(page, "Add an identity provider").click();
	await page.getByLabel("Name").fill("Example Inc.");
	await page.getByLabel("Issuer").fill("login.example.com");
	await page.getByLabel("Client id").fill(CLIENT_ID);
	await page
		.getByRole("textbox", { name: "Client secret" })
		.fill(CLIENT_SECRET);
	await page.getByLabel("Roles by group").fill("Security team = admin");
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("button", { name: "Save" }).click();
	await page.getByText("must be the https address of the provider").waitFor();
	await look(page, "provider-dialog");
	await page.getByLabel("Issuer").fill(provider.issuer);
	await dialog.getByRole("button", { name: "Save" }).click();
	const setUp = page.getByRole("group", { name: "Set up Example Inc." });
	provider.allowRedirect(
		await setUp.getByLabel("Redirect address", { exact: true }).innerText(),
	);
	expect(
		await setUp
			.getByLabel("Address after signing out", { exact: true })
			.innerText(),
	).toBe(`${base}/sign-in`);
	await look(page, "provider-set-up", "Identity providers");

	atProvider(admin);
	const [tab] = await Promise.all([
		page.context().waitForEvent("page"),
		setUp.getByRole("link", { name: "Test Example Inc." }).click(),
	]);
	await tab.getByRole("heading", { name: "The test succeeded" }).waitFor();
	await look(tab, "provider-tested");
	await tab.close();
	await page.reload();
	await button(page, "Switch on: Example Inc.").click();
	await region(page, "Identity providers")
		.getByText("On", { exact: true })
		.waitFor();
	await look(page, "provider-on", "Identity providers");

	const rule = region(page, "Only the identity provider");
	await rule.getByText("choose an emergency account").waitFor();
	await rule.getByRole("combobox", { name: "Emergency accounts" }).click();
	await page.getByRole("option", { name: admin.email }).click();
	await page.keyboard.press("Escape");
	await rule.getByRole("button", { name: "Save" }).click();
	await rule.getByText("sign in with the identity provider").last().waitFor();
	const ownSignIn = rule.getByRole("link", {
		name: "Sign in with Example Inc.",
	});
	const { searchParams } = new URL(
		(await ownSignIn.getAttribute("href")) ?? "",
		base,
	);
	expect(searchParams.get("to")).toBe(settings);
	await look(page, "only-provider-off", "Only the identity provider");

	// The domain is verified, so the address leads to the provider.
	const boss = await served.openPage({ baseURL: base });
	await boss.goto(settings);
	await button(boss, "Sign in with your company").click();
	await boss.getByLabel("Your address at work").fill(admin.email);
	await look(boss, "company-sign-in");
	await button(boss, "Continue").click();
	await boss.waitForURL(`**${settings}`);
	await button(boss, "Accept only the provider").click();
	await look(boss, "only-provider-confirm");
	await boss
		.getByRole("dialog")
		.getByRole("button", { name: "Accept only the provider" })
		.click();
	await region(boss, "Only the identity provider").getByText("Since").waitFor();
	await look(boss, "only-provider-on", "Only the identity provider");

	const member = await served.makePerson("member");
	const locked = await served.openPage({ baseURL: base });
	const devices = `/o/${served.organizationId}/devices`;
	await locked.goto(devices);
	await signIn(locked, member);
	await locked.getByText("Acme accepts only its identity provider").waitFor();
	await look(locked, "locked-out");

	// The consent page of a program names the organization, and the provider leads back to it.
	const callback = `${base}/callback`;
	await served.database.owner.query(
		"insert into oauth_clients (id, name, redirect_uris, is_registered) values ('of-a-test', 'Helpful Client', array[$1], true)",
		[callback],
	);
	const request = new URLSearchParams({
		client_id: "of-a-test",
		redirect_uri: callback,
		response_type: "code",
		code_challenge: "x".repeat(43),
		code_challenge_method: "S256",
		state: "12345678901234567890",
	});
	await locked.goto(`/oauth/authorize?${request}`);
	await locked.getByText("Acme accepts only its identity provider").waitFor();
	await look(locked, "connect-app-locked-out");
	atProvider(member);
	await locked
		.getByRole("link", { name: "Continue with Example Inc." })
		.click();
	await locked.getByText("The program reaches Acme.").waitFor();
	expect(new URLSearchParams(new URL(locked.url()).hash.slice(1))).toEqual(
		request,
	);

	const other = await served.makePerson("member");
	const again = await served.openPage({ baseURL: base });
	await again.goto(devices);
	await signIn(again, other);
	await again.getByText("Acme accepts only its identity provider").waitFor();
	atProvider(other);
	await again.getByRole("link", { name: "Continue with Example Inc." }).click();
	await again.waitForURL(`**/o/${served.organizationId}**`);
	await again.getByRole("link", { name: "Devices" }).first().waitFor();
	expect(
		await again.getByText("accepts only its identity provider").count(),
	).toBe(0);
});
