import type { PoolClient } from "pg";
import type { Change } from "../operation.ts";

/**
 * Returns the audit log's descriptions of the user's live API tokens that reach the organization.
 * They are recorded when a membership begins. The tokens are older than the membership, so this
 * organization's log does not mention them yet.
 */
export async function reachingTokens(
	client: PoolClient,
	organizationId: string,
	userId: string | null,
): Promise<Change[]> {
	const { rows } = await client.query<{
		id: string;
		name: string;
		email: string;
		created_at: Date;
	}>(
		`select t.id, t.name, u.email, t.created_at
		from api_tokens t join users u on u.id = t.user_id
		where t.user_id = $1 and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
			and (t.organization_ids is null or $2 = any (t.organization_ids))
			and is_token_accepted($2, t.sign_in_organization_id, t.created_at)
		order by t.created_at, t.id`,
		[userId, organizationId],
	);
	return rows.map(({ id, name, email, created_at }) => ({
		kind: "api_token",
		id,
		name,
		fields: {
			reaches: { after: "THIS_ORGANIZATION" },
			user: { after: email },
			created_at: { after: created_at },
		},
		organizationId,
	}));
}
