import type { BrowserContextOptions, Page } from "playwright-core";
import { type CallByName, callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import { startConsole, type TestConsole } from "./browser.ts";

export interface SampleRegisters extends TestConsole {
	admin: TestUser;
	ids: { ada: string; theft: string; grown: string };
	/** Calls an operation as the administrator. */
	use: CallByName;
	/** Calls an operation that adds something to the organization. */
	add: CallByName;
	/** Returns the address of a page of a register, such as `risk/new`. */
	at: (path: string) => string;
	/** Opens a page of a register. */
	open: (
		person: TestUser,
		path: string,
		options?: BrowserContextOptions,
	) => Promise<Page>;
}

/**
 * Starts the service with 24 risks: a theft, a risk that has grown and has no owner, and 22
 * accepted ones. Ada owns all except the one without an owner.
 */
export async function startWithRisks(
	settings: Record<string, string> = {},
): Promise<SampleRegisters> {
	const served = await startConsole(settings);
	const admin = await served.makePerson("admin");
	const use: CallByName = (name, input) =>
		callByName(served.database, admin, name, input);
	const add: CallByName = (name, input) =>
		use(name, { organization_id: served.organizationId, ...input });
	const risk = async (name: string, fields: object = {}) => {
		const added = await add("addRisk", {
			...{ name, category: "Security", treatment: "MITIGATED" },
			...{ inherent_likelihood: 4, inherent_impact: 4 },
			...{ residual_likelihood: 2, residual_impact: 2 },
			...fields,
		});
		return String(added.risk.id);
	};
	const { people } = await add("addPeople", {
		full_name: "Ada Lovelace",
		primary_email_address: "ada@example.com",
		kind: "EMPLOYEE",
	});
	const ada = String(people.id);
	const theft = await risk("Laptop theft", {
		owner_id: ada,
		note: "Seen twice",
	});
	const grown = await risk("A risk that grew", {
		residual_impact: 5,
		residual_likelihood: 5,
	});
	for (let number = 1; number <= 22; number++) {
		await risk(`Accepted risk ${String(number).padStart(2, "0")}`, {
			treatment: "ACCEPTED",
			owner_id: ada,
		});
	}
	const at = (path: string) => `/o/${served.organizationId}/r/${path}`;
	return {
		...served,
		...{ admin, ids: { ada, theft, grown }, use, add, at },
		open: (person, path, options = {}) =>
			served.openPageAs(person, at(path), options),
	};
}

/** Returns a function that reads the names in the list on the page. */
export const names = (page: Page) => () =>
	page.locator("tbody a.data-table-link").allInnerTexts();

export const heading = (page: Page, name: string) =>
	page.getByRole("heading", { name, level: 1 });
