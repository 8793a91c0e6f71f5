import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { withTenant } from "../db/pool.ts";
import { checkStates } from "../devices/check-states.ts";
import { isConnectionTrouble } from "../errors.ts";
import { makeId } from "../id.ts";
import { type FirstLooks, type Poller, startPoller } from "../jobs/poller.ts";
import type { Mailer } from "../mail/mailer.ts";
import { chooseMailable } from "../my-devices/mail-limits.ts";
import { IS_MEMBER } from "../organizations/person-of-member.ts";
import { IS_STAFF } from "../organizations/staff.ts";
import { nextDigest } from "./next-digest.ts";
import { overdueWork } from "./overdue-mail.ts";
import { noteUnmailed } from "./unmailed.ts";

const POLL_MS = 60_000;

/** People with a device that fails a check, in grace or not. */
const OWNERS = `
	select c.owner_id as people_id from (${checkStates({})}) c
	where c.owner_id is not null and c.state in ('FAILING', 'IN_GRACE')`;

interface Due {
	id: string;
	kind: "DEVICE_OWNERS" | "OVERDUE_WORK";
}

/**
 * Queues the weekly mails when they are due. They are queued in the transaction that sets the time
 * of the next ones, so each is queued once, however many processes there are. A person who has
 * nothing to do gets no mail.
 */
export function startDigests(
	pool: Pool,
	mail: Mailer,
	log: Logger,
	firstLooks?: FirstLooks,
): Poller {
	return startPoller(
		"weekly mails",
		POLL_MS,
		async () => {
			const { rows } = await pool.query<{ id: string }>(
				"select id from organizations_with_due_digests() as id",
			);
			let queued = 0;
			for (const { id } of rows) {
				await withTenant(pool, id, (client) => queueDigests(client, id)).then(
					() => queued++,
					(err) => {
						// The other organizations must not wait for what is wrong with this one.
						if (isConnectionTrouble(err)) throw err;
						log.error(
							{ err, organization: id },
							"the weekly mails of an organization have to wait",
						);
					},
				);
			}
			if (queued > 0) mail.wake();
			return queued > 0;
		},
		log,
		firstLooks,
	);
}

async function queueDigests(
	client: PoolClient,
	organizationId: string,
): Promise<void> {
	const { rows } = await client.query<Due>(
		`update notification_channels c
		set next_digest_at = ${nextDigest("c.digest_weekday")}
		where c.organization_id = $1 and c.is_enabled and c.next_digest_at <= now()
		returning c.id, c.kind`,
		[organizationId],
	);
	for (const { id, kind } of rows) {
		const isDevices = kind === "DEVICE_OWNERS";
		const unmailed = await queueFor(client, organizationId, {
			channelId: id,
			kind: isDevices ? "DEVICE_DIGEST" : "OVERDUE_WORK",
			people: isDevices
				? OWNERS
				: `select w.people_id from (${overdueWork()}) w`,
		});
		await noteUnmailed(client, organizationId, id, unmailed);
	}
}

/**
 * Queues a mail for each person that the SQL `people` finds and who has not stopped these mails. If
 * there is a limit, the people who have waited the longest for such a mail come first. Returns how
 * many people get none because of the limit.
 */
async function queueFor(
	client: PoolClient,
	organizationId: string,
	wanted: { channelId: string; kind: string; people: string },
): Promise<number> {
	const { rows } = await client.query<{ id: string; is_member: boolean }>(
		`select p.id, ${IS_MEMBER} as is_member from people p
		left join (
			select m.people_id, max(m.created_at) as at from mails m
			where m.organization_id = $1 and m.channel_id = $3 and m.kind = $2
			group by m.people_id
		) last on last.people_id = p.id
		where p.organization_id = $1 and p.id in (${wanted.people}) and ${IS_STAFF}
			and not exists (
				select from notification_stops s
				where s.organization_id = $1 and s.people_id = p.id and s.kind = $2
			)
			and not exists (
				select from mails m
				where m.organization_id = $1 and m.people_id = p.id and m.kind = $2
					and m.state = 'QUEUED'
			)
		order by last.at nulls first, p.id`,
		[organizationId, wanted.kind, wanted.channelId],
	);
	const mailed = await chooseMailable(client, rows);
	await client.query(
		`insert into mails (organization_id, id, kind, channel_id, people_id, is_to_member)
		select $1, g.id, $2, $3, g.people_id, g.is_member
		from unnest($4::text[], $5::text[], $6::boolean[]) g (id, people_id, is_member)`,
		[
			organizationId,
			wanted.kind,
			wanted.channelId,
			mailed.map(() => makeId(organizationId, "mail")),
			mailed.map(({ id }) => id),
			mailed.map(({ is_member }) => is_member),
		],
	);
	return rows.length - mailed.length;
}
