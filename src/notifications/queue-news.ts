import type { PoolClient } from "pg";
import type { DividedHandler, StoredEvent } from "../events/types.ts";
import { makeId } from "../id.ts";
import { type ChannelKind, isChat, MAX_EVENTS } from "./channel-kinds.ts";

/** Seconds for which a message collects events before it is sent. */
const COLLECTED = { chat: 10, mail: 60 } as const;

/** Shortest time, in seconds, between two messages to a chat, and between two mails to a person. */
const APART = { chat: 60, mail: 3600 } as const;

/** Events in the database wait for this name followed by the id of a channel. */
const HANDLER = "notifications";

interface Channel {
	id: string;
	kind: ChannelKind;
	event_types: string[];
}

/**
 * Makes the handler that tells events to the channels that want them, with one part for each
 * channel. A channel that fails therefore keeps no other channel from its events. While a message
 * waits, further events go into it. However much happens, a chat gets one message a minute and a
 * person one mail an hour. The weekly mails do not come from here.
 */
export function makeQueueNews(sendsMail: boolean): DividedHandler {
	return {
		name: HANDLER,
		divide: async (client, organizationId) => {
			const { rows } = await client.query<Channel>(
				"select id, kind, event_types from notification_channels where organization_id = $1 and is_enabled order by id",
				[organizationId],
			);
			return rows.flatMap((channel) => {
				const queue = queueOf(channel.kind, sendsMail);
				if (!queue) return [];
				return {
					name: `${HANDLER} ${channel.id}`,
					handle: async (client, organizationId, events) => {
						const told = events.filter(({ type }) =>
							channel.event_types.includes(type),
						);
						if (told.length === 0) return;
						await queue(client, organizationId, channel.id, told);
					},
				};
			});
		},
	};
}

/** Returns the function that stores what a channel of this kind is told, if it is told anything. */
function queueOf(kind: ChannelKind, sendsMail: boolean) {
	if (isChat(kind)) return queueMessage;
	return sendsMail && kind === "ADMINISTRATORS" ? queueMails : undefined;
}

/** SQL for `event_ids` with the ids $3 added, and for the number of those beyond the limit. */
const ADDED = `
	event_ids = (event_ids || $3::bigint[])[1:${MAX_EVENTS}],
	further_events = further_events
		+ greatest(0, cardinality(event_ids) + cardinality($3::bigint[]) - ${MAX_EVENTS})`;

async function queueMessage(
	client: PoolClient,
	organizationId: string,
	channelId: string,
	events: StoredEvent[],
): Promise<void> {
	const ids = events.map(({ id }) => id);
	const { rowCount } = await client.query(
		`update notification_messages set ${ADDED}
		where organization_id = $1 and channel_id = $2 and state = 'QUEUED' and attempts = 0
			and not is_test`,
		[organizationId, channelId, ids],
	);
	if (rowCount) return;
	await client.query(
		`insert into notification_messages (organization_id, id, channel_id, event_ids, due_at)
		values ($1::text, $4, $2::text, $3::bigint[], greatest(
			now() + ${COLLECTED.chat} * interval '1 second',
			(
				select max(m.created_at) from notification_messages m
				where m.organization_id = $1 and m.channel_id = $2 and not m.is_test
			) + ${APART.chat} * interval '1 second'
		))`,
		[
			organizationId,
			channelId,
			ids,
			makeId(organizationId, "notification_message"),
		],
	);
}

async function queueMails(
	client: PoolClient,
	organizationId: string,
	channelId: string,
	events: StoredEvent[],
): Promise<void> {
	const ids = events.map(({ id }) => id);
	await client.query(
		`update mails set ${ADDED}
		where organization_id = $1 and channel_id = $2 and state = 'QUEUED' and attempts = 0
			and kind = 'EVENTS'`,
		[organizationId, channelId, ids],
	);
	const { rows } = await client.query<{ user_id: string }>(
		`select s.user_id from memberships s
		where s.organization_id = $1 and s.role = 'admin' and not exists (
			select from mails m
			where m.organization_id = $1 and m.channel_id = $2 and m.user_id = s.user_id
				and m.state = 'QUEUED' and m.attempts = 0
		)`,
		[organizationId, channelId],
	);
	if (rows.length === 0) return;
	await client.query(
		`insert into mails (organization_id, id, kind, channel_id, event_ids, user_id, due_at)
		select $1::text, g.id, 'EVENTS', $2::text, $3::bigint[], g.user_id, greatest(
			now() + ${COLLECTED.mail} * interval '1 second',
			(
				select max(m.created_at) from mails m
				where m.organization_id = $1 and m.channel_id = $2 and m.user_id = g.user_id
			) + ${APART.mail} * interval '1 second'
		)
		from unnest($4::text[], $5::text[]) g (id, user_id)`,
		[
			organizationId,
			channelId,
			ids,
			rows.map(() => makeId(organizationId, "mail")),
			rows.map(({ user_id }) => user_id),
		],
	);
}
