import type { Pool, PoolClient } from "pg";
import { transaction } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import {
	type ClosedMembership,
	closedOrganizationOf,
	type Principal,
} from "../principal.ts";
import { confinedTo } from "../sign-in/confined-session.ts";

/**
 * Returns the caller's memberships whose last day is over, within the reach of the session or API
 * token. The transaction must have no organization, because only then a user sees all of them.
 */
export async function endedMemberships(
	client: PoolClient,
	principal: Principal,
): Promise<ClosedMembership[]> {
	const { rows } = await client.query<{
		organization_id: string;
		name: string;
		ends_on: string;
	}>(
		`select m.organization_id, o.name, m.ends_on::text as ends_on
		from memberships m join organizations o on o.id = m.organization_id
		where m.user_id = $1 and not is_live_membership(m.organization_id, m.ends_on)
			and ($2::text is null or m.organization_id = $2)
			and not exists (
				select from api_tokens t
				where t.id = $3 and not m.organization_id::text = any (t.organization_ids::text[])
			)
		order by o.name, m.organization_id`,
		[
			principal.userId,
			confinedTo(principal) ?? null,
			principal.token?.id ?? null,
		],
	);
	return rows.map(({ organization_id, name, ends_on }) => ({
		organizationId: organization_id,
		message: `your membership in ${name} ended on ${ends_on}; an administrator of ${name} can give it a new last day`,
		why: "ENDED",
	}));
}

/**
 * Throws forbidden if a call that will be refused concerns an organization in which the caller's
 * membership has ended. `id` is that of the organization or of a record. Without it, the caller must
 * reach no organization.
 */
export async function rejectEnded(
	pool: Pool,
	principal: Principal,
	id: string | undefined,
): Promise<void> {
	const { userId, memberships } = principal;
	if (userId === null || (id === undefined && memberships.length > 0)) return;
	const scope = { userId, isReadOnly: true };
	const ended = await transaction(pool, scope, (client) =>
		endedMemberships(client, principal),
	);
	const found =
		id === undefined
			? ended[0]
			: closedOrganizationOf({ ...principal, closed: ended }, id);
	if (found) throw new AppError("forbidden", found.message);
}
