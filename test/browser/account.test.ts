import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { PASSWORD } from "../support/console-client.ts";
import { joinOrganization, type TestUser } from "../support/people.ts";
import { totp } from "../support/totp.ts";
import {
	axe,
	screenshot,
	signIn,
	startConsole,
	type TestConsole,
} from "./browser.ts";
import { pressEscape, settled } from "./settled.ts";

const NEW_PASSWORD = "a different battery";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

const openAccount = (person: TestUser, options = {}) =>
	served.openPageAs(person, "/account", options);
const section = (page: Page, name: string) =>
	page.getByRole("region", { name, exact: true });
const button = (page: Page, name: string) =>
	page.getByRole("button", { name, exact: true });
const heading = (page: Page, name: string) =>
	page.getByRole("heading", { name, level: 1 });

test("the account page fits wide and narrow screens, in light and dark", async () => {
	const person = await served.makePerson("member");
	for (const [name, options] of [
		["account", {}],
		["account-dark", { colorScheme: "dark" }],
		["account-375", { viewport: { width: 375, height: 740 } }],
	] as const) {
		const page = await openAccount(person, options);
		await section(page, "Sessions").getByText("This session").waitFor();
		if (name !== "account-375") await axe(page);
		const width = await page.evaluate("document.documentElement.scrollWidth");
		expect(width).toBeLessThanOrEqual(options.viewport?.width ?? 1280);
		await page.setViewportSize({
			width: options.viewport?.width ?? 1280,
			height: 1700,
		});
		await screenshot(page, name);
	}
});

test("a new name is shown everywhere, and an empty one is rejected beside the field", async () => {
	const page = await openAccount(await served.makePerson("viewer"));
	const profile = section(page, "Profile");
	await profile.getByLabel("Name").fill("");
	await profile.getByRole("button", { name: "Save" }).click();
	await profile.getByText("Enter a name.").waitFor();
	await profile.getByLabel("Name").fill("Ada Lovelace");
	await profile.getByRole("button", { name: "Save" }).click();
	await page.getByText("Your name is saved.").waitFor();
	await button(page, "Your account").click();
	await page.getByRole("menu").getByText("Ada Lovelace").waitFor();
});

test("setting a new password asks for the current one and ends other sessions if wanted, and the new one signs in", async () => {
	const person = await served.makePerson("member");
	const other = await openAccount(person);
	const page = await openAccount(person);
	const password = section(page, "Password");
	const change = async (present: string, next: string) => {
		await password.getByLabel("Current password").fill(present);
		await password.getByLabel("New password").fill(next);
		await password.getByRole("button", { name: "Change the password" }).click();
	};
	await change(PASSWORD, "short");
	await password
		.getByText("Use at least 12 characters", { exact: false })
		.last()
		.waitFor();
	await change("not the password", NEW_PASSWORD);
	await password.getByText("This is not your current password.").waitFor();
	await axe(page);
	await screenshot(page, "account-password-refused");
	await change(PASSWORD, NEW_PASSWORD);
	await page.getByText("Your password is changed.").waitFor();
	await page.reload();
	await heading(page, "Account and security").waitFor();
	await other.reload();
	await heading(other, "Sign in").waitFor();
	await signIn(other, person, NEW_PASSWORD);
	await heading(other, "Account and security").waitFor();
});

/** Opens the two-factor dialogs on the account page. Also signs the user in in another browser. */
function secondFactorOf(page: Page, person: TestUser) {
	const twoFactor = section(page, "Two-factor authentication");
	const dialog = page.getByRole("dialog");
	const codes = dialog.getByLabel("Recovery codes", { exact: true });
	const givePassword = async (action: string, password = PASSWORD) => {
		await dialog.getByLabel("Your password").fill(password);
		await dialog.getByRole("button", { name: action, exact: true }).click();
	};
	return {
		twoFactor,
		dialog,
		codes,
		givePassword,
		begin: () => twoFactor.getByRole("button", { name: "Turn on …" }).click(),
		// The key is shown in groups of four characters, because people type it.
		readKey: async () => {
			const key = await dialog.getByLabel("Key", { exact: true }).innerText();
			expect(key.trim()).toMatch(/^([A-Z2-7]{4} )+[A-Z2-7]{1,4}$/);
			return key.replaceAll(/\s/g, "");
		},
		readCodes: async () => (await codes.innerText()).trim().split(/\s+/),
		confirm: async (code: string) => {
			await dialog.getByLabel("Code", { exact: true }).fill(code);
			await button(page, "Turn on").click();
		},
		signInElsewhere: async (
			elsewhere: Page,
			kind: "Code" | "Recovery code",
			code = "",
		) => {
			await elsewhere.context().clearCookies();
			await elsewhere.goto("/sign-in?to=/account");
			await signIn(elsewhere, person);
			await heading(elsewhere, "Two-factor code").waitFor();
			if (kind === "Recovery code") {
				await button(elsewhere, "Use a recovery code instead").click();
			}
			await elsewhere.getByLabel(kind, { exact: true }).fill(code);
			await button(elsewhere, "Continue").click();
		},
	};
}

test("a second factor is required from its first correct code on, until it is turned off with the password", async () => {
	const person = await served.makePerson("member");
	const page = await openAccount(person);
	const factor = secondFactorOf(page, person);
	const { dialog, twoFactor } = factor;
	await factor.begin();
	await factor.givePassword("Continue", "not the password");
	await dialog.getByText("This is not your current password.").waitFor();
	await factor.givePassword("Continue");
	await dialog.getByRole("img", { name: /QR code/ }).waitFor();
	await axe(page);
	await screenshot(page, "two-factor-scan");
	const key = await factor.readKey();
	await factor.confirm("000000");
	await dialog
		.getByText("This code is wrong, expired or already used")
		.waitFor();
	const first = totp(key);
	await factor.confirm(first);
	await factor.codes.waitFor();
	await dialog.getByRole("button", { name: "I have saved them" }).click();
	await twoFactor.getByText("On", { exact: true }).waitFor();

	const elsewhere = await served.openPage();
	await factor.signInElsewhere(elsewhere, "Code", "000000");
	await elsewhere
		.getByText("This code is wrong, expired or already used")
		.waitFor();
	await axe(elsewhere);
	await screenshot(elsewhere, "second-step-wrong");
	// The app still shows the code that turned two-factor authentication on, but each code works
	// only once.
	await elsewhere.getByLabel("Code", { exact: true }).fill(first);
	await button(elsewhere, "Continue").click();
	// The message of the code before has the same words.
	await settled(elsewhere);
	await elsewhere.getByText("already used").waitFor();
	await elsewhere.getByLabel("Code", { exact: true }).fill(totp(key, 1));
	await button(elsewhere, "Continue").click();
	await heading(elsewhere, "Account and security").waitFor();

	await twoFactor.getByRole("button", { name: "Turn off …" }).click();
	await axe(page);
	await screenshot(page, "two-factor-off");
	await factor.givePassword("Turn off");
	await twoFactor.getByText("Off", { exact: true }).waitFor();
	await elsewhere.context().clearCookies();
	await elsewhere.goto("/sign-in?to=/account");
	await signIn(elsewhere, person);
	await heading(elsewhere, "Account and security").waitFor();
});

test("recovery codes are shown once, each signs in once, and new ones replace them", async () => {
	const person = await served.makePerson("member");
	const page = await openAccount(person);
	const factor = secondFactorOf(page, person);
	const { dialog } = factor;
	await factor.begin();
	await factor.givePassword("Continue");
	await factor.confirm(totp(await factor.readKey()));
	await factor.codes.waitFor();
	await dialog.getByText("These are shown once.").waitFor();
	const [first = "", second] = await factor.readCodes();
	expect(await factor.readCodes()).toHaveLength(10);
	// A dialog with content that is shown only once does not close by accident.
	await pressEscape(dialog);
	await dialog.getByText("The codes are lost when you close").waitFor();
	await axe(page);
	await screenshot(page, "two-factor-codes");
	const [download] = await Promise.all([
		page.waitForEvent("download"),
		dialog.getByRole("button", { name: "Download" }).click(),
	]);
	expect(await readFile(await download.path(), "utf8")).toContain(first);
	await dialog.getByRole("button", { name: "Copy" }).click();
	await expect
		.poll(() => page.evaluate("navigator.clipboard.readText()"))
		.toContain(first);
	await dialog.getByRole("button", { name: "I have saved them" }).click();

	const elsewhere = await served.openPage();
	const enter = (code: string | undefined) =>
		factor.signInElsewhere(elsewhere, "Recovery code", code);
	const isRefused = () =>
		elsewhere
			.getByText("This recovery code is wrong or already used.")
			.waitFor();
	// The user types the code without the dash and in capitals.
	await enter(first.replace("-", " ").toUpperCase());
	await heading(elsewhere, "Account and security").waitFor();
	await elsewhere.getByText("9 recovery codes are left.").waitFor();
	await enter(first);
	await isRefused();

	await button(page, "New recovery codes …").click();
	await factor.givePassword("Make new codes");
	await factor.codes.waitFor();
	const [renewed] = await factor.readCodes();
	await dialog.getByRole("button", { name: "I have saved them" }).click();
	await enter(second);
	await isRefused();
	await elsewhere.getByLabel("Recovery code").fill(renewed ?? "");
	await button(elsewhere, "Continue").click();
	await heading(elsewhere, "Account and security").waitFor();
});

test("signing out one session, or all others, ends them in their browsers", async () => {
	const person = await served.makePerson("viewer");
	const phone = await openAccount(person, {
		userAgent:
			"Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/19.0 Mobile/15E148 Safari/604.1",
	});
	const third = await openAccount(person);
	const page = await openAccount(person);
	const sessions = section(page, "Sessions");
	await sessions.getByText("This session").waitFor();
	await expect.poll(() => sessions.getByRole("listitem").count()).toBe(3);
	await screenshot(page, "sessions");
	await button(page, "Sign out Safari on iPhone").click();
	const dialog = page.getByRole("dialog");
	await dialog.getByRole("button", { name: "Sign out" }).click();
	await dialog.waitFor({ state: "detached" });
	await expect.poll(() => sessions.getByRole("listitem").count()).toBe(2);
	await phone.reload();
	await heading(phone, "Sign in").waitFor();
	await third.reload();
	await heading(third, "Account and security").waitFor();
	await button(page, "Sign out everywhere else …").click();
	await axe(page);
	await dialog.getByRole("button", { name: "Sign out" }).click();
	await expect.poll(() => sessions.getByRole("listitem").count()).toBe(1);
	await third.reload();
	await heading(third, "Sign in").waitFor();
	await page.reload();
	await sessions.getByText("This session").waitFor();
});

test("a user can leave an organization, unless they are its last administrator", async () => {
	const only = await createOrganization(served.database.pool, "Beta");
	const person = await served.makePerson("admin", only);
	await joinOrganization(
		served.database,
		person,
		served.organizationId,
		"viewer",
	);
	const page = await openAccount(person);
	const dialog = page.getByRole("dialog");
	await button(page, "Leave Beta").click();
	await dialog.waitFor();
	await axe(page);
	await screenshot(page, "leave-last");
	expect(
		await dialog
			.getByRole("button", { name: "Leave the organization" })
			.count(),
	).toBe(0);
	await dialog.getByRole("button", { name: "Cancel" }).click();
	await button(page, "Leave Acme").click();
	await dialog.getByRole("button", { name: "Leave the organization" }).click();
	await page.waitForURL(`**/o/${only}`);
});

test("the theme and the density can be chosen on the account page too", async () => {
	const page = await openAccount(await served.makePerson("viewer"), {
		colorScheme: "light",
	});
	await section(page, "Appearance").getByText("Dark", { exact: true }).click();
	await expect
		.poll(() =>
			page.evaluate("document.documentElement.dataset.mantineColorScheme"),
		)
		.toBe("dark");
	await section(page, "Appearance").getByText("Compact").click();
	await expect
		.poll(() => page.evaluate("document.documentElement.dataset.density"))
		.toBe("compact");
	await page.getByRole("button", { name: "Light or dark" }).click();
	await page
		.getByRole("menuitem", { name: "Compact" })
		.getByLabel("chosen")
		.waitFor();
});
