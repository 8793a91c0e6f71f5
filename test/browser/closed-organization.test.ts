import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import {
	openOrganization,
	suspendOrganization,
} from "../../src/organizations/closures.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { systemPrincipal } from "../../src/principal.ts";
import { joinOrganization } from "../support/people.ts";
import { until } from "../support/until.ts";
import { axe, screenshot, startConsole, type TestConsole } from "./browser.ts";

let served: TestConsole;
beforeAll(async () => {
	served = await startConsole();
});
afterAll(() => served.close());

/** Waits until the service refuses requests, because it reads from time to time what is closed. */
async function untilNoticed(page: Page, organization_id: string) {
	const { service } = served;
	await until("the service notices", async () => {
		service.wake();
		const answer = await page.request.post("/api/console/getOrganization", {
			data: { organization_id },
			headers: { origin: service.url },
		});
		return answer.status() === 403;
	});
}

test("the page of a suspended organization says why, and goes on by itself when it is open again", async () => {
	const { organizationId, database, service } = served;
	const person = await served.makePerson("member");
	const page = await served.openPageAs(person, `/o/${organizationId}/r/risk`);
	await page.getByRole("heading", { name: "Risks", level: 1 }).waitFor();
	await withTenant(database.pool, organizationId, (client) =>
		suspendOrganization(
			client,
			systemPrincipal(),
			organizationId,
			"the yearly audit is frozen",
		),
	);
	const closed = page.getByText(
		"Acme is suspended: the yearly audit is frozen",
	);
	await untilNoticed(page, organizationId);
	await page.reload();
	await closed.waitFor();
	await axe(page);
	await screenshot(page, "closed-organization");
	await page.goto("/");
	await closed.waitFor();
	await withTenant(database.pool, organizationId, (client) =>
		openOrganization(client, systemPrincipal(), organizationId, "SUSPENDED"),
	);
	service.wake();
	await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
});

test("an administrator deletes an organization by typing its name, and goes on in another one", async () => {
	const { database } = served;
	const doomed = await createOrganization(database.pool, "Doomed Ltd");
	const person = await served.makePerson("admin", doomed);
	await joinOrganization(database, person, served.organizationId, "member");
	const page = await served.openPageAs(
		person,
		`/o/${doomed}/settings/organization`,
	);
	const ask = page.getByRole("button", { name: "Delete the organization" });
	await ask.click();
	const dialog = page.getByRole("dialog", { name: "Delete Doomed Ltd?" });
	await dialog.getByLabel("Name of the organization").fill("Doomed");
	await dialog.getByLabel("Reason").fill("It was sold.");
	const confirm = dialog.getByRole("button", { name: "Delete Doomed Ltd" });
	await confirm.click();
	await dialog.getByText("Enter the name exactly").waitFor();
	await axe(page);
	await screenshot(page, "delete-organization");
	await dialog.getByLabel("Name of the organization").fill("Doomed Ltd");
	await confirm.click();
	await dialog.waitFor({ state: "detached" });
	await untilNoticed(page, doomed);
	await page.goto(`/o/${doomed}/r/risk`);
	await page.getByText("Doomed Ltd is closed and will be deleted on").waitFor();
	await page.getByText("It was sold.").waitFor();
	await page
		.getByRole("link", { name: "Go to your other organization" })
		.click();
	await page.getByRole("heading", { name: "Home", level: 1 }).waitFor();
	const { rows } = await database.owner.query(
		"select actor_name from audit_entries where operation = 'deleteOrganization'",
	);
	expect(rows).toEqual([{ actor_name: person.name }]);
});
