import { z } from "zod";
import { notFound } from "../../invoke.ts";
import { type Context, defineOperation } from "../../operation.ts";
import { organizationId } from "../../records/list-pages.ts";
import { idSchema } from "../../records/text-schemas.ts";
import { requireFreshProof } from "../../sign-in/fresh-proof.ts";
import { domainSchema } from "./domain-name.ts";
import {
	type DomainRow,
	domainChange,
	domainShape,
	insertDomain,
	lockDomain,
	readDomains,
	toDomain,
} from "./domain-store.ts";

const admin = {
	toolset: "members",
	surface: "console",
	access: "admin",
	tenant: "organization_id",
} as const;

const one = {
	organization_id: organizationId(),
	id: idSchema("domain").describe("Id of the domain"),
};
const answer = z.object({ domain: domainShape });

export const listDomains = defineOperation({
	...admin,
	name: "listDomains",
	title: "List domains",
	description:
		"List the mail domains of an organization with the TXT record that verifies each, and its state.",
	isReadOnly: true,
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({ domains: z.array(domainShape) }),
	run: async ({ client, membership }) => {
		const rows = await readDomains(client, membership.organizationId);
		return { domains: rows.map(toDomain) };
	},
});

export const addDomain = defineOperation({
	...admin,
	name: "addDomain",
	title: "Add a domain",
	description:
		"Add a mail domain of the organization. It has no effect until it is verified. Returns the TXT record to publish.",
	input: z.strictObject({
		organization_id: organizationId(),
		domain: domainSchema().describe("Full name, such as example.com"),
	}),
	output: answer,
	run: async (context, { domain }) => {
		const { client, membership } = context;
		const row = await insertDomain(client, membership.organizationId, domain);
		context.changed(
			domainChange(membership.organizationId, row, {
				domain: { after: domain },
			}),
		);
		return { domain: toDomain(row) };
	},
});

export const verifyDomain = defineOperation({
	...admin,
	name: "verifyDomain",
	title: "Verify a domain",
	description:
		"Look for the TXT record of a domain now. The look takes a few seconds in the background; listDomains shows what it found.",
	isIdempotent: true,
	input: z.strictObject(one),
	output: answer,
	run: async (context, { id }) => {
		await requireFreshProof(context);
		const { client, membership, services } = context;
		const row = await requireDomain(context, id);
		// A domain that the operator verified needs no record.
		if (row.verified_by === "OPERATOR") return { domain: toDomain(row) };
		const { rows } = await client.query<{ check_requested_at: string }>(
			`update organization_domains set check_requested_at = now(), next_check_at = now()
			where organization_id = $1 and id = $2 returning check_requested_at`,
			[membership.organizationId, id],
		);
		if (!row.check_requested_at) {
			context.changed(
				domainChange(membership.organizationId, row, {
					check: { after: "REQUESTED" },
				}),
			);
		}
		context.afterCommit(() => services.wakeDomainChecks?.());
		return { domain: toDomain({ ...row, ...rows[0] }) };
	},
});

export const deleteDomain = defineOperation({
	...admin,
	name: "deleteDomain",
	title: "Delete a domain",
	description:
		"Delete a domain. Nobody with an address in it is provisioned or signed in through it any more. Members stay.",
	isDestructive: true,
	input: z.strictObject(one),
	output: z.object({ deleted_domain_id: z.string() }),
	run: async (context, { id }) => {
		await requireFreshProof(context);
		const { client, membership } = context;
		const row = await requireDomain(context, id);
		await client.query(
			"delete from organization_domains where organization_id = $1 and id = $2",
			[membership.organizationId, id],
		);
		context.changed(
			domainChange(membership.organizationId, row, {
				domain: { before: row.domain },
				...(row.verified_by && { verified_by: { before: row.verified_by } }),
			}),
		);
		return { deleted_domain_id: id };
	},
});

export const domainOperations = [
	listDomains,
	addDomain,
	verifyDomain,
	deleteDomain,
] as const;

async function requireDomain(
	{ client, membership }: Context,
	id: string,
): Promise<DomainRow> {
	const row = await lockDomain(client, membership.organizationId, { id });
	if (!row) throw notFound(id);
	return row;
}
