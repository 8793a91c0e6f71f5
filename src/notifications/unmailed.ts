import type { PoolClient } from "pg";

/** Notes on a channel how many people got no mail because of the limit, and when. */
export async function noteUnmailed(
	client: PoolClient,
	organizationId: string,
	channelId: string,
	count: number,
): Promise<void> {
	await client.query(
		`update notification_channels
		set unmailed_count = $3, unmailed_at = case when $3 > 0 then now() end
		where organization_id = $1 and id = $2`,
		[organizationId, channelId, count],
	);
}

/** Forgets on all channels who got no mail, because the organization has no limit any more. */
export async function forgetUnmailed(
	client: PoolClient,
	organizationId: string,
): Promise<void> {
	await client.query(
		`update notification_channels set unmailed_count = 0, unmailed_at = null
		where organization_id = $1 and unmailed_count > 0`,
		[organizationId],
	);
}
