import type { PoolClient } from "pg";
import { makeId } from "../id.ts";
import { chooseMailable } from "../my-devices/mail-limits.ts";
import { IS_MEMBER } from "../organizations/person-of-member.ts";
import { IS_STAFF } from "../organizations/staff.ts";
import { noteUnmailed } from "./unmailed.ts";

/** Seconds for which a mail collects failures before it is sent. */
const COLLECTED_SECONDS = 60;

/** Shortest time, in seconds, between two of these mails to a person. */
const APART_SECONDS = 600;

/**
 * The devices whose owners `p` have to be told: those that have joined one of the nonconformities
 * $2 in this transaction, `since` its start, and those that got another owner while they were in
 * one. A device that comes back to a nonconformity is no news for somebody who was told before.
 */
const TO_TELL = `
	nonconformity_devices f
	join nonconformities n on n.organization_id = $1 and n.id = f.nonconformity_id
		and n.severity = 'MAJOR'
	join devices d on d.organization_id = $1 and d.id = f.device_id
	join people p on p.organization_id = $1 and p.id = d.owner_id and ${IS_STAFF}
	where f.organization_id = $1 and f.until is null
		and (f.is_owner_new or f.nonconformity_id = any ($2::text[]) and f.since = now())
		and not exists (
			select from nonconformity_devices e
			left join mails m on m.organization_id = $1 and m.id = e.alert_mail_id
			where e.organization_id = $1 and e.device_id = f.device_id
				and e.nonconformity_id = f.nonconformity_id and e.alert_mail_id is not null
				-- Mails are kept for a month.
				and (m.people_id = p.id or m.id is null and not f.is_owner_new)
		)`;

/**
 * Queues a mail for each owner of a device that has just joined a nonconformity of severity MAJOR,
 * and for each new owner of a device that is in one. While a mail waits, further failures of the
 * same person go into it, so a storm is one mail a person. Nobody is told unless the organization
 * has the channel for owners of devices.
 */
export async function queueDeviceAlerts(
	client: PoolClient,
	organizationId: string,
	nonconformityIds: string[],
): Promise<void> {
	await queueMails(client, organizationId, nonconformityIds);
	await client.query(
		"update nonconformity_devices set is_owner_new = false where organization_id = $1 and is_owner_new",
		[organizationId],
	);
}

async function queueMails(
	client: PoolClient,
	organizationId: string,
	nonconformityIds: string[],
): Promise<void> {
	const { rows: channels } = await client.query<{ id: string }>(
		`select id from notification_channels
		where organization_id = $1 and kind = 'DEVICE_OWNERS' and is_enabled`,
		[organizationId],
	);
	const [channel] = channels;
	if (!channel) return;
	const { rows: owners } = await client.query<Owner>(
		`select distinct p.id, ${IS_MEMBER} as is_member from ${TO_TELL}`,
		[organizationId, nonconformityIds],
	);
	if (owners.length === 0) return;
	// The lock keeps the mailer from taking a mail to which this transaction adds.
	const { rows: waiting } = await client.query<{ id: string; people: string }>(
		`select m.id, m.people_id as people from mails m
		where m.organization_id = $1 and m.channel_id = $2 and m.kind = 'DEVICE_ALERT'
			and m.state = 'QUEUED' and m.attempts = 0
		order by m.id for update`,
		[organizationId, channel.id],
	);
	const mailOf = new Map(waiting.map(({ id, people }) => [people, id]));
	const others = owners.filter(({ id }) => !mailOf.has(id));
	const mailed = await chooseMailable(client, others);
	if (mailed.length < others.length) {
		const unmailed = others.length - mailed.length;
		await noteUnmailed(client, organizationId, channel.id, unmailed);
	}
	if (mailed.length > 0) {
		for (const { id } of mailed) mailOf.set(id, makeId(organizationId, "mail"));
		await insertMails(client, organizationId, channel.id, {
			people: mailed,
			mails: mailed.map(({ id }) => mailOf.get(id) as string),
		});
	}
	await client.query(
		`update nonconformity_devices x set alert_mail_id = g.mail_id
		from (select f.position, p.id as people_id from ${TO_TELL}) t
		join unnest($3::text[], $4::text[]) g (people_id, mail_id) on g.people_id = t.people_id
		where x.organization_id = $1 and x.position = t.position`,
		[
			organizationId,
			nonconformityIds,
			[...mailOf.keys()],
			[...mailOf.values()],
		],
	);
}

interface Owner {
	id: string;
	is_member: boolean;
}

async function insertMails(
	client: PoolClient,
	organizationId: string,
	channelId: string,
	{ people, mails }: { people: readonly Owner[]; mails: string[] },
): Promise<void> {
	await client.query(
		`insert into mails (organization_id, id, kind, channel_id, people_id, is_to_member, due_at)
		select $1::text, g.id, 'DEVICE_ALERT', $2::text, g.people_id, g.is_member, greatest(
			now() + ${COLLECTED_SECONDS} * interval '1 second',
			last.queued_at + ${APART_SECONDS} * interval '1 second'
		)
		from unnest($3::text[], $4::text[], $5::boolean[]) g (id, people_id, is_member)
		left join (
			select m.people_id, max(m.created_at) as queued_at from mails m
			where m.organization_id = $1 and m.channel_id = $2 and m.kind = 'DEVICE_ALERT'
				and m.created_at > now() - ${APART_SECONDS} * interval '1 second'
			group by m.people_id
		) last on last.people_id = g.people_id`,
		[
			organizationId,
			channelId,
			mails,
			people.map(({ id }) => id),
			people.map(({ is_member }) => is_member),
		],
	);
}
