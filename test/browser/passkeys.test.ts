import type { CDPSession, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PASSWORD } from "../support/console-client.ts";
import { findFreePort } from "../support/free-port.ts";
import type { TestUser } from "../support/people.ts";
import {
	axe,
	screenshot,
	signIn,
	startConsole,
	type TestConsole,
} from "./browser.ts";

let served: TestConsole;
let base: string;
beforeAll(async () => {
	const port = await findFreePort();
	base = `http://localhost:${port}`;
	served = await startConsole({ ASSAY_PORT: String(port) });
});
afterAll(() => served.close());

const button = (page: Page, name: string) =>
	page.getByRole("button", { name, exact: true });
const section = (page: Page, name: string) =>
	page.getByRole("region", { name, exact: true });

interface Device {
	page: Page;
	cdp: CDPSession;
	authenticatorId: string;
}

/** Opens a page in a browser with an authenticator that checks its user's fingerprint. */
async function openWithAuthenticator(
	options: { isUserVerified?: boolean; colorScheme?: "dark" } = {},
): Promise<Device> {
	const page = await served.openPage({
		baseURL: base,
		...(options.colorScheme && { colorScheme: options.colorScheme }),
	});
	const cdp = await page.context().newCDPSession(page);
	await cdp.send("WebAuthn.enable");
	const { authenticatorId } = await cdp.send(
		"WebAuthn.addVirtualAuthenticator",
		{
			options: {
				protocol: "ctap2",
				transport: "internal",
				hasResidentKey: true,
				hasUserVerification: true,
				isUserVerified: options.isUserVerified ?? true,
				automaticPresenceSimulation: true,
			},
		},
	);
	return { page, cdp, authenticatorId };
}

/** Says whether the authenticator answers by itself, as if somebody touched it at once. */
const setTouch = ({ cdp, authenticatorId }: Device, enabled: boolean) =>
	cdp.send("WebAuthn.setAutomaticPresenceSimulation", {
		authenticatorId,
		enabled,
	});

/** Says whether the authenticator recognizes its user's finger. */
const setVerified = (
	cdp: CDPSession,
	authenticatorId: string,
	isUserVerified: boolean,
) => cdp.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });

async function signInWithPassword({ page }: Device, person: TestUser) {
	await page.goto("/sign-in?to=/account");
	await signIn(page, person);
	await page.getByRole("heading", { name: "Account and security" }).waitFor();
}

async function addPasskey({ page }: Device, name: string): Promise<void> {
	const passkeys = section(page, "Passkeys");
	await passkeys.getByRole("button", { name: "Add a passkey …" }).click();
	const dialog = page.getByRole("dialog", { name: "Add a passkey" });
	await dialog.getByLabel("Name").fill(name);
	await dialog.getByRole("button", { name: "Continue" }).click();
	await passkeys.getByText(name, { exact: true }).waitFor();
}

test("a person adds a passkey, signs in with it from the list under the field, and removes it", async () => {
	const person = await served.makePerson("admin");
	const device = await openWithAuthenticator();
	const { page, cdp, authenticatorId } = device;
	await signInWithPassword(device, person);
	await section(page, "Passkeys")
		.getByText("You have no passkey yet.")
		.waitFor();
	await addPasskey(device, "Work laptop");
	await axe(page);
	await section(page, "Passkeys").scrollIntoViewIfNeeded();
	await screenshot(page, "passkeys-account");
	const { credentials } = await cdp.send("WebAuthn.getCredentials", {
		authenticatorId,
	});
	expect(credentials).toMatchObject([
		{ rpId: "localhost", isResidentCredential: true },
	]);
	// The authenticator answers the page's own offer, as if the person chose it from the list.
	await page.context().clearCookies();
	await page.goto("/sign-in?to=/account");
	await page.getByRole("heading", { name: "Account and security" }).waitFor();
	await section(page, "Sessions")
		.getByText(/with the passkey Work laptop/)
		.waitFor();
	await section(page, "Passkeys")
		.getByText(/last used/)
		.waitFor();
	await button(page, "Remove Work laptop").click();
	const confirm = page.getByRole("dialog", { name: "Remove this passkey?" });
	await confirm.getByRole("button", { name: "Remove" }).click();
	await section(page, "Passkeys")
		.getByText("You have no passkey yet.")
		.waitFor();
	await page.context().clearCookies();
	await page.goto("/sign-in");
	await page.getByText(/The passkey was rejected/).waitFor();
	await axe(page);
});

test("the button signs in with a passkey, and says so when nobody uses one", async () => {
	const person = await served.makePerson("admin");
	const device = await openWithAuthenticator();
	const { page, cdp, authenticatorId } = device;
	await signInWithPassword(device, person);
	await addPasskey(device, "Phone");
	await setTouch(device, false);
	await page.context().clearCookies();
	await page.goto("/sign-in?to=/account");
	await button(page, "Sign in with a passkey").waitFor();
	await axe(page);
	await screenshot(page, "passkeys-sign-in");
	await page.setViewportSize({ width: 390, height: 844 });
	await screenshot(page, "passkeys-sign-in-390");
	// Nobody touches the sensor with the right finger.
	await setVerified(cdp, authenticatorId, false);
	await setTouch(device, true);
	await button(page, "Sign in with a passkey").click();
	await page.getByText(/No passkey was used/).waitFor();
	await axe(page);
	await screenshot(page, "passkeys-sign-in-refused-390");
	await setVerified(cdp, authenticatorId, true);
	await button(page, "Sign in with a passkey").click();
	await page.getByRole("heading", { name: "Account and security" }).waitFor();
	await screenshot(page, "passkeys-account-390");
});

test("a passkey is the second factor after the password, without an authenticator app, and a recovery code helps without it", async () => {
	const person = await served.makePerson("admin");
	const device = await openWithAuthenticator({ colorScheme: "dark" });
	const { page } = device;
	await signInWithPassword(device, person);
	await addPasskey(device, "Phone");
	const twoFactor = section(page, "Two-factor authentication");
	await twoFactor.getByRole("button", { name: "Turn on …" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByLabel("Your password").fill(PASSWORD);
	await dialog.getByRole("button", { name: "Continue" }).click();
	await dialog.getByRole("button", { name: "Use a passkey" }).waitFor();
	await axe(page);
	await screenshot(page, "passkeys-second-factor-dark");
	await dialog.getByRole("button", { name: "Use a passkey" }).click();
	const codes = await dialog
		.getByLabel("Recovery codes", { exact: true })
		.innerText();
	const [code = ""] = /[a-z0-9]{5}-[a-z0-9]{5}/.exec(codes) ?? [];
	await button(page, "I have saved them").click();
	await twoFactor.getByText(/you also give a passkey/).waitFor();
	await setTouch(device, false);
	await page.context().clearCookies();
	await page.goto("/sign-in?to=/account");
	await signIn(page, person);
	await page.getByRole("heading", { name: "Second factor" }).waitFor();
	await axe(page);
	await screenshot(page, "passkeys-second-step-dark");
	await setTouch(device, true);
	await button(page, "Use a passkey").click();
	await page.getByRole("heading", { name: "Account and security" }).waitFor();

	const other = await served.openPage({ baseURL: base });
	await other.goto("/sign-in?to=/account");
	await signIn(other, person);
	await button(other, "Use a recovery code instead").click();
	await other.getByLabel("Recovery code").fill(code);
	await button(other, "Continue").click();
	await other.getByRole("heading", { name: "Account and security" }).waitFor();
});

test("a passkey confirms that it is you, and one without fingerprint or PIN does not", async () => {
	const person = await served.makePerson("admin");
	const device = await openWithAuthenticator();
	const { page, cdp, authenticatorId } = device;
	await signInWithPassword(device, person);
	await addPasskey(device, "Phone");
	await served.database.owner.query(
		"update sessions set proved_at = now() - interval '11 minutes' where user_id = $1",
		[person.id],
	);
	await button(page, "Remove Phone").click();
	await page
		.getByRole("dialog", { name: "Remove this passkey?" })
		.getByRole("button", { name: "Remove" })
		.click();
	const proof = page.getByRole("dialog", { name: "Confirm that it is you" });
	await proof.getByRole("button", { name: "Use a passkey" }).waitFor();
	await axe(page);
	await screenshot(page, "passkeys-proof");
	await setVerified(cdp, authenticatorId, false);
	await proof.getByRole("button", { name: "Use a passkey" }).click();
	await proof.getByText(/No passkey was used/).waitFor();
	await setVerified(cdp, authenticatorId, true);
	await proof.getByRole("button", { name: "Use a passkey" }).click();
	await section(page, "Passkeys")
		.getByText("You have no passkey yet.")
		.waitFor();
});

test("a browser without an authenticator keeps the other ways to sign in", async () => {
	const person = await served.makePerson("admin");
	const page = await served.openPage({ baseURL: base });
	const cdp = await page.context().newCDPSession(page);
	await cdp.send("WebAuthn.enable");
	await page.goto("/sign-in?to=/account");
	await signIn(page, person);
	await page.getByRole("heading", { name: "Account and security" }).waitFor();
	await section(page, "Passkeys")
		.getByText("You have no passkey yet.")
		.waitFor();
});
