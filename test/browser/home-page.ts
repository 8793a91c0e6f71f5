import type { BrowserContextOptions } from "playwright-core";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import type { Role } from "../../src/principal.ts";
import { callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import type { TestConsole } from "./browser.ts";

/** Calls an operation as the user who opens the page. */
export type Use = (operation: string, input: object) => Promise<void>;

/** Opens the home page as a user with this role. The organization is new unless one is given. */
export async function openHome(
	served: TestConsole,
	role: Role,
	given: {
		organization?: string;
		options?: BrowserContextOptions;
		/** The path of another page of the organization, which is opened instead. */
		path?: string;
		/** Creates what the page shows, before the page is opened. */
		prepare?: (
			use: Use,
			organization: string,
			person: TestUser,
		) => Promise<void>;
	} = {},
) {
	const organization =
		given.organization ??
		(await createOrganization(served.database.pool, "Northwind"));
	const person = await served.makePerson(role, organization);
	const use: Use = (operation, input) =>
		callByName(served.database, person, operation, {
			organization_id: organization,
			...input,
		});
	await given.prepare?.(use, organization, person);
	const page = await served.openPageAs(
		person,
		`/o/${organization}${given.path ?? ""}`,
		given.options,
	);
	return { page, organization, person, use };
}

export const aRisk = (likelihood: number, impact: number) => ({
	name: `Risk ${likelihood} × ${impact}`,
	category: "Availability",
	treatment: "MITIGATED",
	inherent_likelihood: likelihood,
	inherent_impact: impact,
});

/** Returns the day that is so many days from now. */
export const dayFromNow = (days: number) =>
	new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
