import type { Pool } from "pg";
import type { SessionProvider } from "../principal.ts";
import { isVerifiedDomain } from "./providers/verified-domain.ts";
import type { Reach } from "./session-limits.ts";

/**
 * Returns the organization's provider that vouched for the user of a session. Returns undefined if it
 * was switched off or deleted a moment ago. `pool` connects as assay_identity.
 */
export async function findSessionProvider(
	pool: Pool,
	email: string,
	id: string,
): Promise<SessionProvider | undefined> {
	const { rows } = await pool.query<{ organization_id: string }>(
		"select organization_id from identity_providers where id = $1 and is_enabled",
		[id],
	);
	const [row] = rows;
	if (!row) return undefined;
	const { organization_id: organizationId } = row;
	const isOwnUser = await isVerifiedDomain(pool, organizationId, email);
	return { id, organizationId, isConfined: !isOwnUser };
}

/**
 * Returns what a session reaches. A session that began with the identity provider of an organization
 * reaches only that organization, because its administrators decide what their provider says.
 */
export function confineReach(
	reach: Reach,
	provider: SessionProvider | undefined,
): Reach {
	if (!provider?.isConfined) return reach;
	const isReached = ({ organizationId }: { organizationId: string }) =>
		organizationId === provider.organizationId;
	return {
		...reach,
		memberships: reach.memberships.filter(isReached),
		closed: reach.closed.filter(isReached),
		unnoted: reach.unnoted.filter((id) => id === provider.organizationId),
	};
}
