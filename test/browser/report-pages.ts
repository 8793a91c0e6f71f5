import { createOrganization } from "../../src/organizations/organization-store.ts";
import { callByName } from "../support/call-by-name.ts";
import type { TestConsole } from "./browser.ts";

/**
 * Opens a page of a new organization with a framework, risks and a nonconformity. The reader is a
 * viewer by default.
 */
export async function openReport(
	served: TestConsole,
	path: string,
	options = {},
	as?: "admin",
) {
	const organization_id = await createOrganization(
		served.database.pool,
		"Northwind",
	);
	const admin = await served.makePerson("admin", organization_id);
	const use = (name: string, input: object) => {
		return callByName(served.database, admin, name, {
			...(!("id" in input) && { organization_id }),
			...input,
		});
	};
	await use("addStarters", {
		framework: "nis-2",
		measures: ["mfa", "backups"],
		risks: ["phishing", "data-loss"],
	});
	await use("addRisk", {
		name: "=1+1",
		category: "Formulas",
		treatment: "ACCEPTED",
		inherent_likelihood: 1,
		inherent_impact: 1,
	});
	await use("addNonconformity", {
		title: "No log",
		severity: "MAJOR",
		root_cause: "Nobody looked",
	});
	const reader = as
		? admin
		: await served.makePerson("viewer", organization_id);
	const page = await served.openPageAs(
		reader,
		`/o/${organization_id}/${path}`,
		options,
	);
	return { page, organization_id, use };
}
