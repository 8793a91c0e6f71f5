import { type Command, InvalidArgumentError } from "commander";
import type { PoolClient } from "pg";
import { withTenant } from "../db/pool.ts";
import { readDomain } from "../organizations/domains/domain-name.ts";
import {
	type Domain,
	readDomains,
	toDomain,
} from "../organizations/domains/domain-store.ts";
import {
	removeByOperator,
	verifyByOperator,
} from "../organizations/domains/operator-domains.ts";
import {
	parseOrganizationId,
	requireOrganization,
} from "../organizations/organization-store.ts";
import { systemPrincipal } from "../principal.ts";
import { COMMAND } from "../version.ts";
import { print, table } from "./output.ts";
import { withDatabase } from "./with-database.ts";

interface Options {
	json?: boolean;
}

const STATES: Record<Domain["state"], string> = {
	UNVERIFIED: "unverified",
	VERIFIED: "verified",
	RECORD_MISSING: "verified, record missing",
};

function parseDomain(text: string): string {
	const domain = readDomain(text);
	if (domain) return domain;
	throw new InvalidArgumentError(
		"Give the full name of a domain, such as example.com.",
	);
}

/** Adds the commands that list, verify and remove the domains of an organization. */
export function addOrgDomains(org: Command): void {
	org
		.command("domains <id>")
		.description("List the mail domains of an organization.")
		.option("--json", "print the result as JSON")
		.action(async (id: string, options: Options) => {
			const domains = await inOrganization(id, async (client, organizationId) =>
				(await readDomains(client, organizationId)).map(toDomain),
			);
			print(
				options,
				{ domains },
				domains.length === 0
					? `No domains yet. Verify one: ${COMMAND} org verify-domain ${id} <domain>`
					: table(
							["DOMAIN", "STATE", "BY", "SINCE"],
							domains.map((one) => [
								one.domain,
								STATES[one.state],
								one.verified_by?.toLowerCase() ?? "",
								one.verified_at?.slice(0, 10) ?? "",
							]),
						),
			);
		});
	org
		.command("verify-domain")
		.argument("<id>", "id of the organization")
		.argument(
			"<domain>",
			"name of the domain, such as example.com",
			parseDomain,
		)
		.description(
			"Verify a mail domain for an organization without a TXT record. Make sure that the domain belongs to the organization.",
		)
		.option("--json", "print the result as JSON")
		.action(async (id: string, name: string, options: Options) => {
			const domain = await inOrganization(id, (client, organizationId) =>
				verifyByOperator(client, systemPrincipal(), organizationId, name),
			);
			print(
				options,
				{ domain },
				`${name} is verified. ${COMMAND} org remove-domain ${id} ${name} removes it again.`,
			);
		});
	org
		.command("remove-domain")
		.argument("<id>", "id of the organization")
		.argument(
			"<domain>",
			"name of the domain, such as example.com",
			parseDomain,
		)
		.description("Remove a mail domain from an organization. Members stay.")
		.option("--json", "print the result as JSON")
		.action(async (id: string, name: string, options: Options) => {
			await inOrganization(id, (client, organizationId) =>
				removeByOperator(client, systemPrincipal(), organizationId, name),
			);
			print(options, { removed_domain: name }, `${name} is removed.`);
		});
}

function inOrganization<Result>(
	id: string,
	work: (client: PoolClient, organizationId: string) => Promise<Result>,
): Promise<Result> {
	const organizationId = parseOrganizationId(id);
	return withDatabase(({ pool }) =>
		withTenant(pool, organizationId, async (client) => {
			await requireOrganization(client, organizationId);
			return work(client, organizationId);
		}),
	);
}
