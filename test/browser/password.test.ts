import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createPasswordResetLink } from "../../src/sign-in/account-operations.ts";
import { callAs, makeApiToken } from "../support/people.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";
import {
	axe,
	screenshot,
	signIn,
	startConsole,
	type TestConsole,
} from "./browser.ts";

const NEW_PASSWORD = "a different battery";

let sink: SmtpSink;
let served: TestConsole;
beforeAll(async () => {
	sink = await openSmtpSink();
	served = await startConsole({
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
});
afterAll(async () => {
	await served.close();
	sink.close();
});

const heading = (page: Page, name: string) =>
	page.getByRole("heading", { name, level: 1 });

test("the mailed link sets a forgotten password and works once", async () => {
	const person = await served.makePerson("member");
	await makeApiToken(served.database, person);
	const page = await served.openPage();
	await page.goto("/sign-in");
	await page.getByRole("link", { name: "Forgot your password?" }).click();
	await heading(page, "Forgot your password?").waitFor();
	await axe(page);
	await screenshot(page, "forgot");
	await page.getByLabel("E-mail address").fill(person.email);
	await page.getByRole("button", { name: "Send me a link" }).click();
	await heading(page, "Check your mail").waitFor();
	await axe(page);
	await screenshot(page, "forgot-sent");

	// In a test, the service does not listen at the address that it puts into mails.
	const [link = ""] =
		/\/reset-password#asy_rst_\w+/.exec((await sink.next()).text) ?? [];
	await page.goto(link);
	await heading(page, "Set a new password").waitFor();
	await expect
		.poll(() => page.getByLabel("Account").inputValue())
		.toBe(person.email);
	await page.getByLabel("New password").fill("short");
	await page.getByRole("button", { name: "Set the password" }).click();
	await page.locator("[aria-invalid=true]").waitFor();
	await axe(page);
	await screenshot(page, "reset-refused");
	await page.getByLabel("New password").fill(NEW_PASSWORD);
	await page.getByRole("button", { name: "Set the password" }).click();
	await heading(page, "Your password is set").waitFor();
	await page.getByText("Your API token was revoked").waitFor();
	await axe(page);
	await screenshot(page, "reset-done");
	await page.getByRole("link", { name: "Sign in" }).click();
	await signIn(page, person, NEW_PASSWORD);
	await heading(page, "Home").waitFor();

	await page.goto(link);
	await heading(page, "This link no longer works").waitFor();
	await axe(page);
	await screenshot(page, "reset-used");
	await page.goto("/reset-password");
	await heading(page, "This link is not complete").waitFor();
});

test("an administrator's link sets the password too", async () => {
	const admin = await served.makePerson("admin");
	const person = await served.makePerson("viewer");
	const { reset_url } = await callAs(
		served.database,
		admin,
		createPasswordResetLink,
		{ organization_id: served.organizationId, user_id: person.id },
	);
	const page = await served.openPage({ viewport: { width: 375, height: 740 } });
	await page.goto(`/reset-password${new URL(reset_url).hash}`);
	await page.getByLabel("New password").fill(NEW_PASSWORD);
	await screenshot(page, "reset-375");
	await page.getByRole("button", { name: "Set the password" }).click();
	await heading(page, "Your password is set").waitFor();
});

test("a service without mail tells a user who has forgotten the password who can help", async () => {
	const apart = await startConsole();
	onTestFinished(() => apart.close());
	const page = await apart.openPage({ colorScheme: "dark" });
	await page.goto("/forgot-password");
	await page.getByText("This service sends no mail").waitFor();
	await axe(page);
	await screenshot(page, "forgot-no-mail-dark");
	expect(await page.getByRole("textbox").count()).toBe(0);
});
