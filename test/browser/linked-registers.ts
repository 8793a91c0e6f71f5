import type { Page } from "playwright-core";
import { type CallByName, callByName } from "../support/call-by-name.ts";
import type { TestUser } from "../support/people.ts";
import { startConsole, type TestConsole } from "./browser.ts";

interface Scores {
	inherent_likelihood: number;
	inherent_impact: number;
	residual_likelihood: number;
	residual_impact: number;
}

export interface LinkedRegisters extends TestConsole {
	member: TestUser;
	viewer: TestUser;
	/** Calls an operation as the member. */
	use: CallByName;
	/** Calls an operation that adds something to the organization. */
	add: CallByName;
	addRisk: (name: string, scores?: Partial<Scores>) => Promise<string>;
	addMeasure: (
		name: string,
		state?: string,
		others?: object,
	) => Promise<string>;
	addControl: (
		frameworkId: string,
		sectionTitle: string,
		name: string,
		others?: object,
	) => Promise<string>;
	/** Returns the address of a page of a register, such as `risk/new`. */
	at: (path: string) => string;
}

/** Starts the service with empty registers, and with functions that add the records of a test. */
export async function startRegisters(): Promise<LinkedRegisters> {
	const served = await startConsole();
	const member = await served.makePerson("member");
	const viewer = await served.makePerson("viewer");
	const use: CallByName = (name, input) =>
		callByName(served.database, member, name, input);
	const add: CallByName = (name, input) =>
		use(name, { organization_id: served.organizationId, ...input });
	return {
		...served,
		...{ member, viewer, use, add },
		addRisk: async (name, scores = {}) => {
			const { risk } = await add("addRisk", {
				name,
				category: "Security",
				treatment: "MITIGATED",
				inherent_likelihood: 4,
				inherent_impact: 5,
				...scores,
			});
			return risk.id;
		},
		addMeasure: async (name, state = "NOT_STARTED", others = {}) => {
			const { measure } = await add("addMeasure", {
				name,
				category: "Access",
				state,
				...others,
			});
			return measure.id;
		},
		addControl: async (framework_id, section_title, name, others = {}) => {
			const { control } = await add("addControl", {
				framework_id,
				section_title,
				name,
				...others,
			});
			return control.id;
		},
		at: (path) => `/o/${served.organizationId}/r/${path}`,
	};
}

/** Returns the panel of a record's page that lists what is linked with the record. */
export const links = (page: Page) =>
	page.getByRole("region", { name: "Linked records" });
