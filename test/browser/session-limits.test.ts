import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { joinOrganization, type TestUser } from "../support/people.ts";
import {
	axe,
	screenshot,
	signIn,
	startConsole,
	type TestConsole,
	visit,
} from "./browser.ts";
import { settled } from "./settled.ts";

let served: TestConsole;
let settings: string;
beforeAll(async () => {
	served = await startConsole();
	settings = `/o/${served.organizationId}/settings/sign-in`;
});
afterAll(() => served.close());

const card = (page: Page) =>
	page.getByRole("region", { name: "Sessions", exact: true });

/** Chooses a limit in the card of the sessions. */
async function choose(page: Page, label: string, option: string) {
	await card(page).getByRole("combobox", { name: label }).click();
	await page.getByRole("option", { name: option, exact: true }).click();
}

/**
 * Changes the user's sessions as if they had not been used for this long. A request that is still on
 * its way would end the session before the test has left the page.
 */
async function leave(page: Page, person: TestUser, interval: string) {
	await settled(page);
	await served.database.owner.query(
		"update sessions set last_used_at = now() - $2::interval where user_id = $1",
		[person.id, interval],
	);
}

test("an administrator limits sessions, a member of one organization is signed out, and one of two signs in again for this one", async () => {
	const admin = await served.makePerson("admin");
	const page = await served.openPageAs(admin, settings);
	await choose(page, "End a session when it was not used for", "30 minutes");
	await choose(page, "End every session after", "12 hours");
	await axe(page);
	await card(page).scrollIntoViewIfNeeded();
	await screenshot(page, "session-limits");
	await card(page).getByRole("button", { name: "Save" }).click();
	await page.getByText("The limits of sessions are saved.").waitFor();
	await page.reload();
	await expect
		.poll(() =>
			card(page)
				.getByRole("combobox", { name: "End every session after" })
				.inputValue(),
		)
		.toBe("12 hours");
	await page.setViewportSize({ width: 390, height: 844 });
	await card(page).scrollIntoViewIfNeeded();
	await screenshot(page, "session-limits-390");

	const member = await served.makePerson("member");
	const away = await served.openPageAs(member, "/account");
	await away.getByRole("heading", { name: "Account and security" }).waitFor();
	await leave(away, member, "31 minutes");
	await visit(away, `/o/${served.organizationId}/devices`);
	await away.getByText("You have been signed out").waitFor();
	await signIn(away, member);
	await away.getByRole("heading", { name: "Devices", level: 1 }).waitFor();

	const second = await createOrganization(served.database.pool, "Second");
	const guest = await served.makePerson("member");
	await joinOrganization(served.database, guest, second, "viewer");
	const visiting = await served.openPageAs(
		guest,
		`/o/${second}/settings/organization`,
		{ colorScheme: "dark" },
	);
	await visiting.getByRole("heading", { name: "Organization" }).waitFor();
	await leave(visiting, guest, "31 minutes");
	await visiting.goto(`/o/${served.organizationId}/devices`);
	await visiting
		.getByRole("heading", { name: "Your session has ended here" })
		.waitFor();
	await visiting
		.getByText("Acme ends sessions after 30 minutes without use")
		.waitFor();
	await axe(visiting);
	await screenshot(visiting, "session-limits-ended-dark");
	await visiting.getByRole("link", { name: "Sign in again" }).click();
	await signIn(visiting, guest);
	await visiting.getByRole("heading", { name: "Devices", level: 1 }).waitFor();
});
