import type { PoolClient } from "pg";

/**
 * SQL for the next morning of a weekday (1: Monday) in the transaction's organization. Mornings are
 * at 7:00 in the organization's time zone.
 */
export const nextDigest = (weekday: string) => `(
	select min(d.at) from (
		select x.day, (x.day + time '07:00') at time zone x.time_zone as at
		from (
			select (now() at time zone o.time_zone)::date + n as day, o.time_zone
			from organizations o, generate_series(0, 7) n
			where o.id = current_setting('assay.organization_id')
		) x
	) d
	where d.at > now() and extract(isodow from d.day) = ${weekday}
)`;

/** Moves the next weekly mails to the morning of the organization's new time zone. */
export async function moveDigests(
	client: PoolClient,
	organizationId: string,
): Promise<void> {
	await client.query(
		`update notification_channels c set next_digest_at = ${nextDigest("c.digest_weekday")}
		where c.organization_id = $1 and c.next_digest_at is not null`,
		[organizationId],
	);
}
