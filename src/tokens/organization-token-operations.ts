import type { PoolClient } from "pg";
import { z } from "zod";
import { setOrganization, setUser } from "../db/transaction-settings.ts";
import { notFound } from "../invoke.ts";
import { type Context, defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { idSchema } from "../records/text-schemas.ts";
import { revoke } from "./api-token-operations.ts";
import {
	type ApiToken,
	apiToken,
	findApiToken,
	listTokens,
} from "./api-token-store.ts";
import { reachedBy } from "./scopes.ts";

const admin = {
	toolset: "api_tokens",
	surface: "console",
	access: "admin",
	tenant: "organization_id",
} as const;

export const listOrganizationApiTokens = defineOperation({
	...admin,
	name: "listOrganizationApiTokens",
	title: "List the API tokens that reach an organization",
	description:
		"List the API tokens of all members of an organization, with their users, their last use and their calls of the last 30 days. Only calls that concerned this organization count.",
	isReadOnly: true,
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({ api_tokens: z.array(apiToken) }),
	run: async ({ client, membership: { organizationId } }) => ({
		api_tokens: (await listTokens(client, "organization")).map((token) =>
			asSeenIn(organizationId, token),
		),
	}),
});

export const revokeOrganizationApiToken = defineOperation({
	...admin,
	name: "revokeOrganizationApiToken",
	title: "Revoke an API token of a member",
	description:
		"Revoke an API token that reaches the organization, whichever member it belongs to and whatever else it reaches. This cannot be undone.",
	isDestructive: true,
	isIdempotent: true,
	input: z.strictObject({
		organization_id: organizationId(),
		id: idSchema("api_token").describe("Id of the API token"),
	}),
	output: z.object({ api_token: apiToken }),
	run: async (context, input) => {
		const isReaching = await reachesOrganization(context.client, input.id);
		const find = () => findApiToken(context.client, input.id, true);
		const token = isReaching && (await find());
		if (!token) throw notFound(input.id);
		const reached = reachedBy(
			token.scopes,
			await organizationsOfUser(context, token.user.id),
		);
		await revoke(context, token, reached);
		const revoked = (await find()) ?? token;
		return { api_token: asSeenIn(context.membership.organizationId, revoked) };
	},
});

/**
 * Returns the token as one organization may see it. Other organizations that the token reaches are
 * left out.
 */
function asSeenIn(organizationId: string, token: ApiToken): ApiToken {
	const { organization_ids } = token.scopes;
	return {
		...token,
		scopes: {
			...token.scopes,
			organization_ids: organization_ids && [organizationId],
		},
	};
}

/** Returns true if the token reaches the transaction's organization. */
async function reachesOrganization(
	client: PoolClient,
	id: string,
): Promise<boolean> {
	const { rowCount } = await client.query(
		`select from api_tokens t
		join memberships m on m.user_id = t.user_id
		where t.id = $1 and m.organization_id = current_setting('assay.organization_id')
			and (t.organization_ids is null or m.organization_id = any (t.organization_ids))
			and is_token_accepted(m.organization_id, t.sign_in_organization_id, t.created_at)`,
		[id],
	);
	return rowCount === 1;
}

/**
 * Returns the organizations in which a token's user is a member. The transaction's organization may
 * not see the user's other memberships. The transaction is therefore switched to the user for this
 * query and switched back afterwards.
 */
async function organizationsOfUser(
	{ client, membership, principal }: Context,
	userId: string,
): Promise<string[]> {
	const become = (organizationId: string, asUserId: string) =>
		client.query(`${setOrganization(organizationId)}; ${setUser(asUserId)}`);
	await become("", userId);
	const { rows } = await client.query<{ organization_id: string }>(
		"select organization_id from memberships where user_id = $1",
		[userId],
	);
	await become(membership.organizationId, principal.userId ?? "");
	return rows.map((row) => row.organization_id);
}
