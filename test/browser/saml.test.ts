import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeKey } from "../support/certificate.ts";
import { findFreePort } from "../support/free-port.ts";
import { type SamlServer, startSamlServer } from "../support/saml-provider.ts";
import {
	axe,
	screenshot,
	signIn,
	startConsole,
	type TestConsole,
} from "./browser.ts";

const ADA = {
	nameId: "ada-1815",
	attributes: { email: ["ada@example.com"], displayName: ["Ada Lovelace"] },
};

let provider: SamlServer;
let served: TestConsole;
let base: string;
beforeAll(async () => {
	provider = await startSamlServer();
	const port = await findFreePort();
	base = `http://localhost:${port}`;
	served = await startConsole({ ASSAY_PORT: String(port) }, provider.origin);
});
afterAll(async () => {
	await served.close();
	await provider.close();
});

/** Takes a screenshot on a wide and on a narrow screen, light and dark. */
async function screenshots(page: Page, name: string) {
	if (!process.env.SCREENSHOTS) return;
	for (const [width, height] of [
		[1440, 1000],
		[390, 844],
	] as const) {
		for (const colorScheme of ["light", "dark"] as const) {
			await page.setViewportSize({ width, height });
			await page.emulateMedia({ colorScheme });
			await screenshot(page, `saml/${name}-${width}-${colorScheme}`);
		}
	}
	await page.setViewportSize({ width: 1280, height: 800 });
	await page.emulateMedia({ colorScheme: "light" });
}

test("an administrator sets a SAML provider up from its metadata, and people sign in with it or learn why not", async () => {
	const page = await served.openPage({ baseURL: base });
	await page.goto("/sign-in");
	await signIn(page, await served.makePerson("admin"));
	await page.waitForURL(`${base}/o/${served.organizationId}**`);
	await page.goto(`/o/${served.organizationId}/settings/sign-in`);
	const card = page.getByRole("region", { name: "Identity providers" });
	await card.getByRole("button", { name: "Add an identity provider" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByLabel("Name").fill("Example Inc.");
	await dialog.getByRole("combobox", { name: "Protocol" }).click();
	await page.getByRole("option", { name: "SAML 2.0" }).click();
	await axe(page);
	await screenshots(page, "form");

	await dialog.getByLabel("Metadata of the provider").fill("not XML");
	await dialog.getByRole("button", { name: "Read the metadata" }).click();
	await dialog.getByText("must be the metadata of a SAML").waitFor();
	const chosen = page.waitForEvent("filechooser");
	await dialog.getByRole("button", { name: "Choose a file" }).click();
	await (await chosen).setFiles({
		name: "metadata.xml",
		mimeType: "text/xml",
		buffer: Buffer.from(provider.provider.metadata()),
	});
	await expect
		.poll(() => dialog.getByLabel("Address for signing in").inputValue())
		.toBe(provider.provider.signInUrl);
	expect(
		await dialog.getByLabel("Entity id of the provider").inputValue(),
	).toBe(provider.provider.entityId);
	expect(await dialog.getByLabel("Certificates").inputValue()).toContain(
		"BEGIN CERTIFICATE",
	);
	await axe(page);
	await screenshots(page, "form-filled");
	await dialog.getByRole("button", { name: "Save" }).click();

	const setUp = card.getByRole("group", { name: "Set up Example Inc." });
	const address = await setUp
		.getByLabel("Assertion consumer service (ACS)", { exact: true })
		.innerText();
	expect(address).toMatch(/\/api\/sign-in-with-provider\/saml\//);
	await setUp.getByText("valid until").waitFor();
	await axe(page);
	await setUp.scrollIntoViewIfNeeded();
	await screenshots(page, "set-up");

	provider.signInAs(ADA, { audience: "https://wrong.example.com" });
	await testIt(page);
	provider.signInAs(ADA);
	await testIt(page, "The provider signs in ada@example.com.");
	await page.reload();
	await card.getByRole("button", { name: "Switch on: Example Inc." }).click();
	await card.getByText("On", { exact: true }).waitFor();
	await card.getByRole("button", { name: "Set up: Example Inc." }).click();
	const link = await setUp
		.getByLabel("Sign-in link", { exact: true })
		.innerText();

	const other = await served.openPage({ baseURL: base });
	await other.goto(link);
	await other.getByRole("button", { name: "Continue as Ada" }).click();
	await other.waitForURL(`${base}/o/${served.organizationId}**`);
	await other.getByRole("button", { name: "Your account" }).click();
	await other
		.getByRole("menuitem", { name: "Sign out of Example Inc. too" })
		.waitFor();
	await axe(other);
	await screenshots(other, "signed-in");
	await other.getByRole("menuitem", { name: "Account and security" }).click();
	await other.getByText("which vouches for you in one organization").waitFor();
	expect(await other.getByText("Permission denied").count()).toBe(0);
	await axe(other);
	await screenshots(other, "account");
	await other.getByRole("button", { name: "Your account" }).click();
	await other.getByRole("menuitem", { name: "Sign out", exact: true }).click();
	await other.waitForURL(`${base}/sign-in`);

	provider.signInAs(ADA, { key: makeKey() });
	const refused = await served.openPage({ baseURL: base });
	await refused.goto(link);
	await refused.getByRole("button", { name: "Continue as Ada" }).click();
	await refused.getByText("no certificate in the settings").waitFor();
	await axe(refused);
	await screenshots(refused, "refused");
});

/** Tests the provider in a new tab, and expects that it fails without `words`. */
async function testIt(page: Page, words?: string) {
	const [tab] = await Promise.all([
		page.context().waitForEvent("page"),
		page.getByRole("link", { name: "Test Example Inc." }).click(),
	]);
	await tab.getByRole("button", { name: "Continue as Ada" }).click();
	await tab
		.getByText(words ?? "enter the entity id of Assay at the provider")
		.waitFor();
	await axe(tab);
	await screenshots(tab, words ? "tested" : "test-failed");
	await tab.close();
}
