import { operations } from "../../../src/operations.ts";
import { makeSetupLink } from "../../../src/organizations/first-setup.ts";
import { createOrganization } from "../../../src/organizations/organization-store.ts";
import { PASSWORD, sendTo } from "../../support/console-client.ts";
import { makeReferences } from "../../support/record-values.ts";
import type { TestService } from "../../support/service.ts";
import { makeSignIn, type Walk } from "./callers.ts";
import { useDevices } from "./devices.ts";
import { useDocuments } from "./documents.ts";
import { useMembers, useOrganizations, useTokens } from "./members.ts";
import { useOutgoing } from "./outgoing.ts";
import { useProviders } from "./providers.ts";
import { useFrameworks, useRecords, useRegisters } from "./records.ts";

/**
 * Calls every operation once, in an order in which each one finds the data that it needs. Returns
 * the answer to each operation: `200`, or the status and the error.
 */
export async function useEverything(
	running: TestService,
): Promise<Map<string, string>> {
	const answered = new Map<string, string>();
	const { service, database, organizationId: organization_id } = running;
	const { url } = service;
	// A setup link is accepted only while there are no users, so it comes first.
	await sendTo(url, "/api/setup");
	const setup = await makeSetupLink(database.pool, url);
	await sendTo(url, "/api/setup", {
		token: setup?.split("#")[1] ?? "",
		organization_name: "First",
		name: "Grace",
		email: "grace@example.com",
		password: PASSWORD,
	});

	const signIn = await makeSignIn(running, answered);
	const admin = await signIn("admin", organization_id);
	const { use } = admin;
	const elsewhere = await createOrganization(database.pool, "Elsewhere");
	const other = await signIn("admin", elsewhere);

	const references = await makeReferences({ call: use }, organization_id);
	const walk: Walk = {
		running,
		organization_id,
		elsewhere,
		signIn,
		admin,
		other,
		references,
	};
	await useRegisters(walk);
	await useRecords(walk);
	const documentId = await useDocuments(walk);
	await useFrameworks(walk, documentId);
	await useDevices(walk);
	await useTokens(walk);
	await useMembers(walk);
	await useOutgoing(walk);
	await useProviders(walk);
	await useOrganizations(walk);
	await use("getFrameworkCoverage", { id: references.framework[0] });
	// These functions need nothing but the organization.
	for (const { name, tenant } of operations) {
		if (!answered.has(name)) {
			await use(name, tenant === null ? {} : { organization_id });
		}
	}
	await sendTo(url, "/api/auth/sign-out", {}, { cookie: admin.cookie });
	await fetch(`${url}/health/ready`);
	await fetch(service.metricsUrl ?? "");
	return answered;
}
