import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { makeSetupLink } from "../../src/organizations/first-setup.ts";
import { inviteMember } from "../../src/organizations/invitation-operations.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { PASSWORD } from "../support/console-client.ts";
import { createDatabaseForTest } from "../support/database.ts";
import { callAs, type TestUser } from "../support/people.ts";
import { startAssay } from "../support/program.ts";
import {
	axe,
	screenshot,
	signIn,
	startConsole,
	type TestConsole,
} from "./browser.ts";

let served: TestConsole;
let admin: TestUser;
beforeAll(async () => {
	served = await startConsole();
	admin = await served.makePerson("admin");
});
afterAll(() => served.close());

const heading = (page: Page, name: string) =>
	page.getByRole("heading", { name, level: 1 });

/** Returns the path of an invitation link. */
async function invite(email: string): Promise<string> {
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
	const { pathname, hash } = new URL(invitation_url);
	return `${pathname}${hash}`;
}

test("the page of a setup link that was replaced says so before the user types anything", async () => {
	const apart = await startConsole();
	onTestFinished(() => apart.close());
	const { pool } = apart.database;
	const replaced = await makeSetupLink(pool, apart.service.url);
	await makeSetupLink(pool, apart.service.url);
	const page = await apart.openPage();
	await page.goto(replaced ?? "");
	await heading(page, "This setup link no longer works").waitFor();
	await page.getByText("npx assay setup-link").waitFor();
	await axe(page);
	await screenshot(page, "setup-replaced");
});

test("an invited new user chooses a name and a password and joins the organization", async () => {
	const page = await served.openPage();
	const link = await invite("grace@example.com");
	await page.goto(link);
	await heading(page, "Join Acme").waitFor();
	// The secret is removed from the address, and the page still knows it after a reload.
	expect(page.url()).not.toContain("asy_");
	await page.reload();
	await heading(page, "Join Acme").waitFor();
	await axe(page);
	await screenshot(page, "invitation-new");
	await expect
		.poll(() => page.getByLabel("E-mail address").inputValue())
		.toBe("grace@example.com");
	await page.getByRole("button", { name: "Join Acme" }).click();
	await page.locator("input[aria-invalid=true]").first().waitFor();
	await page.getByLabel("Your name").fill("Grace");
	await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
	await page.getByRole("button", { name: "Join Acme" }).click();
	await heading(page, "Home").waitFor();
	expect(page.url()).toContain(served.organizationId);
	await page.goto(link);
	await heading(page, "This invitation no longer works").waitFor();
	await axe(page);
	await screenshot(page, "invitation-used");
});

test("an invited user with an account signs in and accepts", async () => {
	const elsewhere = await createOrganization(served.database.pool, "Beta");
	const other = await served.makePerson("viewer", elsewhere);
	const page = await served.openPage();
	await page.goto(await invite(other.email));
	await page.getByText("If you already have an account").waitFor();
	await axe(page);
	await screenshot(page, "invitation-account");
	await page.getByRole("link", { name: "sign in" }).click();
	await heading(page, "Sign in").waitFor();
	expect(page.url()).not.toContain("asy_");
	await signIn(page, other);
	await page.getByRole("button", { name: "Join Acme" }).click();
	await heading(page, "Home").waitFor();
});

test("the page of another user's invitation says so and lets the user sign out and continue", async () => {
	const viewer = await served.makePerson("viewer");
	const link = await invite("linus@example.com");
	const page = await served.openPageAs(viewer, link);
	await page.getByText(`You are signed in as ${viewer.email}`).waitFor();
	await axe(page);
	await screenshot(page, "invitation-other");
	await page.getByRole("button", { name: "Sign out and continue" }).click();
	await page.getByLabel("Your name").waitFor();
});

test("an invitation without its secret asks for the complete link", async () => {
	const page = await served.openPage();
	await page.goto("/invitation");
	await heading(page, "This link is not complete").waitFor();
	await axe(page);
});

/**
 * This code runs in the page. `headings` collects the text of every first heading that is shown
 * from now on.
 */
const NOTE_HEADINGS = `
	window.headings = new Set();
	new MutationObserver(() => {
		for (const { innerText } of document.querySelectorAll("h1, h2")) headings.add(innerText);
	}).observe(document.body, { childList: true, subtree: true, characterData: true });
`;

test("the link that `assay start` prints works once and creates the first administrator, who sees the first steps", async () => {
	const database = await createDatabaseForTest();
	const started = await startAssay({ DATABASE_URL: database.url });
	onTestFinished(async () => {
		await started.stop("SIGTERM");
	});
	const page = await served.openPage({ baseURL: started.url });
	await page.goto("/");
	await page.getByText("Nobody has an account yet").waitFor();
	await axe(page);
	await screenshot(page, "sign-in-before-setup");
	await page.getByRole("link", { name: "How to get one" }).click();
	await page.getByText("npx assay setup-link").waitFor();
	await axe(page);
	await screenshot(page, "setup-without-link");

	const printed = started.setupUrl ?? "";
	await page.goto(printed.slice(0, -3));
	await heading(page, "This link is not complete").waitFor();
	await screenshot(page, "setup-broken");
	await page.goto(printed);
	await heading(page, "Set up Assay").waitFor();
	await screenshot(page, "setup");
	await axe(page);
	await page.getByLabel("Name of the organization").fill("Acme");
	await page.getByLabel("Your e-mail address").fill("ada@example.com");
	await page.getByLabel("Password", { exact: true }).fill("short");
	await page.getByRole("button", { name: "Set up Assay" }).click();
	await page.locator("input[aria-invalid=true]").first().waitFor();
	await screenshot(page, "setup-refused");
	await axe(page);
	await page.getByLabel("Your name").fill("Ada");
	const password = page.getByLabel("Password", { exact: true });
	await password.fill(PASSWORD);
	await page.getByRole("button", { name: "Show password" }).press("Enter");
	await expect.poll(() => password.getAttribute("type")).toBe("text");
	await page.getByRole("button", { name: "Hide password" }).click();
	await expect.poll(() => password.getAttribute("type")).toBe("password");
	// Even if the next page loads slowly, the old page must not show a message that no longer
	// applies.
	await page.evaluate(NOTE_HEADINGS);
	const isTold = Promise.withResolvers<void>();
	await page.route("**/listOrganizations", async (route) => {
		await isTold.promise;
		await route.continue();
	});
	const isMade = Promise.withResolvers<void>();
	await page.route("**/api/setup", async (route) => {
		await isMade.promise;
		await route.continue();
	});
	await page.getByRole("button", { name: "Set up Assay" }).click();
	const progress = page.getByRole("status");
	await progress.getByText("Creating the organization and your").waitFor();
	await screenshot(page, "setup-at-work");
	isMade.resolve();
	await progress.getByText("Opening the first steps … (3 of 3)").waitFor();
	isTold.resolve();
	await heading(page, "First steps").waitFor();
	const headings = (await page.evaluate("[...headings]")) as string[];
	expect(headings).toContain("First steps");
	expect(headings).not.toContain("Assay is set up");
	expect(headings).not.toContain("This setup link no longer works");
	for (const step of [
		"Choose what to comply with",
		"Install the agent on this computer",
		"Invite your colleagues",
		"Create an API token",
	]) {
		await page.getByRole("link", { name: step }).waitFor();
	}
	await screenshot(page, "after-setup");
	await axe(page);
	await page.goto(printed);
	await heading(page, "Assay is set up").waitFor();
	await axe(page);
});
