import { z } from "zod";
import { enforceLimit } from "../db/enforce-limit.ts";
import { AppError } from "../errors.ts";
import { makeId } from "../id.ts";
import { queueTestMail } from "../mail/operations.ts";
import { defineOperation } from "../operation.ts";
import { isChat } from "./channel-kinds.ts";
import { admin, one, readChannel } from "./channel-record.ts";

const MAX_LISTED = 100;
/** Test messages to all chats of an organization. */
const MAX_TESTS_AN_HOUR = 20;

export const testNotificationChannel = defineOperation({
	...admin,
	name: "testNotificationChannel",
	title: "Test a notification channel",
	description:
		"Send a test message to the chat of a channel, or a test mail to yourself for a channel that mails.",
	input: z.strictObject(one),
	output: z.object({ sent_to: z.enum(["CHAT", "YOURSELF"]) }),
	run: async (context, { id }) => {
		const { client, membership, services } = context;
		const { organizationId } = membership;
		const { kind, name } = await readChannel(context, id);
		if (!isChat(kind)) {
			await queueTestMail(context);
			return { sent_to: "YOURSELF" as const };
		}
		await enforceLimit(client, {
			lock: `notification tests ${organizationId}`,
			from: `notification_messages m
				join notification_channels c
					on c.organization_id = m.organization_id and c.id = m.channel_id
				where c.organization_id = $1 and m.is_test and m.created_at > now() - interval '1 hour'`,
			values: [organizationId],
			max: MAX_TESTS_AN_HOUR,
			error: tooManyTests,
		});
		await client.query(
			"insert into notification_messages (organization_id, id, channel_id, is_test) values ($1, $2, $3, true)",
			[organizationId, makeId(organizationId, "notification_message"), id],
		);
		context.afterCommit(() => services.wakeChatSender?.());
		context.changed({
			kind: "notification_channel",
			id,
			name,
			fields: { test: { after: "QUEUED" } },
		});
		return { sent_to: "CHAT" as const };
	},
});

export const listNotificationDeliveries = defineOperation({
	...admin,
	name: "listNotificationDeliveries",
	title: "List deliveries of notifications",
	description: `List the last ${MAX_LISTED} messages and mails of a channel, newest first, with the answer to each.`,
	isReadOnly: true,
	input: z.strictObject(one),
	output: z.object({
		deliveries: z.array(
			z.object({
				id: z.string(),
				what: z.string().describe("TEST, EVENTS, or the kind of mail"),
				event_count: z.int(),
				recipient: z.string().nullable(),
				state: z.enum(["QUEUED", "DELIVERED", "FAILED", "NOT_NEEDED"]),
				attempts: z.int(),
				created_at: z.string(),
				delivered_at: z.string().nullable(),
				next_attempt_at: z.string().nullable(),
				body: z.string().nullable().describe("What was sent to a chat"),
				duration_ms: z.int().nullable(),
				answer_status: z.int().nullable(),
				answer: z.string().nullable(),
				failure: z.string().nullable(),
			}),
		),
	}),
	run: async (context, { id }) => {
		const { client, membership } = context;
		await readChannel(context, id);
		const { rows } = await client.query(
			`(
				select m.id, case when m.is_test then 'TEST' else 'EVENTS' end as what,
					cardinality(m.event_ids) + m.further_events as event_count,
					c.address_host as recipient, m.state, m.attempts, m.created_at, m.delivered_at,
					m.due_at as next_attempt_at, m.body, m.duration_ms, m.answer_status, m.answer, m.failure
				from notification_messages m
				join notification_channels c
					on c.organization_id = m.organization_id and c.id = m.channel_id
				where m.organization_id = $1 and m.channel_id = $2
				order by m.created_at desc limit ${MAX_LISTED}
			) union all (
				select m.id, m.kind, cardinality(m.event_ids) + m.further_events,
					coalesce(u.email, p.primary_email_address),
					case m.state when 'SENT' then 'DELIVERED' else m.state end, m.attempts, m.created_at,
					m.sent_at, m.due_at, null, null, null, null, m.failure_text
				from mails m
				left join users u on u.id = m.user_id
				left join people p on p.organization_id = m.organization_id and p.id = m.people_id
				where m.organization_id = $1 and m.channel_id = $2
				order by m.created_at desc limit ${MAX_LISTED}
			)
			order by created_at desc, id limit ${MAX_LISTED}`,
			[membership.organizationId, id],
		);
		return { deliveries: rows };
	},
});

function tooManyTests(): AppError {
	return new AppError(
		"bad_request",
		`the organization has sent ${MAX_TESTS_AN_HOUR} test messages within an hour, which is the maximum; try again later`,
	);
}
