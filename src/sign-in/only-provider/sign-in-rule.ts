import type { PoolClient } from "pg";
import { appendChanges } from "../../audit/log.ts";
import { AppError, badFields } from "../../errors.ts";
import type { Context } from "../../operation.ts";
import { requireOrganization } from "../../organizations/organization-store.ts";
import type { Principal } from "../../principal.ts";

/** The rule of an organization that accepts only its identity provider. */
export interface SignInRule {
	since: Date;
	accepts_older_tokens: boolean;
}

/** Returns the rule of the transaction's organization. Returns undefined if it accepts every sign-in. */
export async function readSignInRule(
	client: PoolClient,
	organizationId: string,
): Promise<SignInRule | undefined> {
	const { rows } = await client.query<SignInRule>(
		"select since, accepts_older_tokens from sign_in_rules where organization_id = $1",
		[organizationId],
	);
	return rows[0];
}

/**
 * Makes changes of the rule, of the emergency accounts and of the providers follow each other.
 * Returns the name of the transaction's organization.
 */
export async function lockSignInRule(
	client: PoolClient,
	organizationId: string,
): Promise<string | null> {
	const { rows } = await client.query<{ name: string }>(
		"select name from organizations where id = $1 for no key update",
		[organizationId],
	);
	return rows[0]?.name ?? null;
}

/**
 * Throws bad_request if the provider is the last one that is on and the organization accepts nothing
 * else. If the installation's provider vouched for the caller, there is that one.
 */
export async function requireOtherProvider(
	{ client, principal }: Pick<Context, "client" | "principal">,
	provider: { organization_id: string; id: string; is_enabled: boolean },
): Promise<void> {
	const { organization_id: organizationId, id, is_enabled } = provider;
	if (!is_enabled) return;
	await lockSignInRule(client, organizationId);
	if (!(await readSignInRule(client, organizationId))) return;
	const { rowCount } = await client.query(
		"select from identity_providers where organization_id = $1 and id <> $2 and is_enabled limit 1",
		[organizationId, id],
	);
	const isOfInstallation =
		principal.signInOrganizationId === organizationId && !principal.provider;
	if (rowCount || isOfInstallation) return;
	throw badFields([
		{
			field: "is_enabled",
			message:
				"must stay true for the last identity provider while the organization accepts nothing else; first let members sign in without it",
		},
	]);
}

/**
 * Lets members reach the transaction's organization without its provider again, because the operator
 * says so. Throws conflict if they do already.
 */
export async function endSignInRule(
	client: PoolClient,
	principal: Principal,
	organizationId: string,
): Promise<void> {
	await requireOrganization(client, organizationId);
	const { rows } = await client.query<{ name: string }>(
		`delete from sign_in_rules r using organizations o
		where r.organization_id = $1 and o.id = r.organization_id returning o.name`,
		[organizationId],
	);
	if (!rows[0]) {
		throw new AppError(
			"conflict",
			"the organization accepts every way to sign in already",
		);
	}
	await appendChanges(client, principal, "updateSignInRule", organizationId, [
		{
			kind: "organization",
			id: organizationId,
			name: rows[0].name,
			fields: { only_provider: { before: true, after: false } },
			organizationId,
		},
	]);
}
