import type { PoolClient } from "pg";
import { appendChanges } from "../../audit/log.ts";
import { AppError } from "../../errors.ts";
import type { Principal } from "../../principal.ts";
import { requireOrganization } from "../organization-store.ts";
import {
	type Domain,
	domainChange,
	insertDomain,
	lockDomain,
	markVerified,
	toDomain,
} from "./domain-store.ts";

/**
 * Verifies a domain for the transaction's organization without a TXT record, because the operator
 * says so. Adds it if it is missing. Throws conflict if it is verified for another organization.
 */
export async function verifyByOperator(
	client: PoolClient,
	principal: Principal,
	organizationId: string,
	domain: string,
): Promise<Domain> {
	await requireOrganization(client, organizationId);
	const before =
		(await lockDomain(client, organizationId, { domain })) ??
		(await insertDomain(client, organizationId, domain));
	const after = await markVerified(
		client,
		organizationId,
		before,
		"OPERATOR",
		null,
	);
	if (before.verified_by !== "OPERATOR") {
		await appendChanges(client, principal, "confirmDomain", organizationId, [
			domainChange(organizationId, before, {
				verified_by: {
					...(before.verified_by && { before: before.verified_by }),
					after: "OPERATOR",
				},
			}),
		]);
	}
	return toDomain(after);
}

/** Removes a domain from the transaction's organization. Throws not_found if it is not there. */
export async function removeByOperator(
	client: PoolClient,
	principal: Principal,
	organizationId: string,
	domain: string,
): Promise<void> {
	await requireOrganization(client, organizationId);
	const before = await lockDomain(client, organizationId, { domain });
	if (!before) {
		throw new AppError(
			"not_found",
			`the organization has no domain ${domain}; \`assay org domains ${organizationId}\` lists its domains`,
		);
	}
	await client.query(
		"delete from organization_domains where organization_id = $1 and id = $2",
		[organizationId, before.id],
	);
	await appendChanges(client, principal, "deleteDomain", organizationId, [
		domainChange(organizationId, before, {
			domain: { before: domain },
			...(before.verified_by && {
				verified_by: { before: before.verified_by },
			}),
		}),
	]);
}
