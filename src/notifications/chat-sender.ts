import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { withTenant } from "../db/pool.ts";
import type { FirstLooks, Poller } from "../jobs/poller.ts";
import { startSender, type TakenJob } from "../jobs/sender.ts";
import type { Mailer } from "../mail/mailer.ts";
import {
	type Attempt,
	noteAttempt,
	type OutgoingQueue,
} from "../outgoing/note-attempt.ts";
import type { OutgoingRule } from "../outgoing/outgoing-address.ts";
import { post } from "../outgoing/post.ts";
import { openText, type Secrets, sealText } from "../sign-in/sealed-text.ts";
import type { ChatKind } from "./channel-kinds.ts";
import { chatPayload } from "./chat-payloads.ts";
import { hideAddress } from "./hide-address.ts";
import { type News, readNews } from "./news.ts";

const MAX_SENDING = 16;
const MAX_OF_ORGANIZATION = 4;
/** A request takes at most 15 s. A process that has not reported by then has died. */
const TAKEN_SECONDS = 60;
const QUEUE: OutgoingQueue = {
	messages: "notification_messages",
	receivers: "notification_channels",
	receiver: "channel_id",
	// With waits of at most four hours, the last attempt is about 16 hours after the first.
	maxAttempts: 12,
	maxWaitSeconds: 4 * 3600,
	disable:
		"update notification_channels set is_enabled = false, updated_at = now() where organization_id = $1 and id = $2",
	mail: "CHAT_GIVEN_UP",
};
const MAX_ANSWER = 1000;

export interface ChatSenderParts extends Secrets {
	pool: Pool;
	baseUrl: string;
	rule: OutgoingRule;
	mail?: Mailer | undefined;
	firstLooks?: FirstLooks | undefined;
	log: Logger;
}

interface Taken extends TakenJob {
	channel_id: string;
}

interface Message {
	kind: ChatKind;
	sealed_address: string;
	is_test: boolean;
	event_ids: string[];
	further_events: number;
}

/**
 * Sends queued messages to chats. Each chat has at most one request at a time, so a receiver that
 * hangs holds up only its own channel.
 */
export function startChatSender(parts: ChatSenderParts): Poller {
	const { pool, mail, log } = parts;
	return startSender<Taken, Attempt>({
		name: "notifications",
		pool,
		maxSending: MAX_SENDING,
		maxOfOrganization: MAX_OF_ORGANIZATION,
		take: async (count, inProgress, full) => {
			const { rows } = await pool.query<Taken>(
				"select * from take_notification_messages($1, $2, $3, $4, $5)",
				[
					count,
					inProgress.map(({ channel_id }) => channel_id),
					MAX_OF_ORGANIZATION,
					full,
					TAKEN_SECONDS,
				],
			);
			return rows;
		},
		send: (taken) => send(parts, taken),
		note: (client, taken, result) =>
			noteAttempt(
				client,
				QUEUE,
				taken,
				taken.channel_id,
				result,
				mail !== undefined,
			),
		wakeMailer: mail?.wake,
		firstLooks: parts.firstLooks,
		log,
	});
}

async function send(
	parts: ChatSenderParts,
	taken: Taken,
): Promise<Attempt | undefined> {
	const prepared = await withTenant(
		parts.pool,
		taken.organization_id,
		async (client) => {
			const message = await readMessage(client, taken);
			if (!message) return undefined;
			const news = await newsOf(client, taken, message, parts.baseUrl);
			return {
				address: await readAddress(client, taken, message, parts),
				body: JSON.stringify(chatPayload(message.kind, news)),
			};
		},
	);
	if (!prepared) return undefined;
	const { address, body } = prepared;
	if (address === undefined) {
		return {
			body,
			failure:
				"the address cannot be decrypted, because the secret of the service was changed; enter the address again",
		};
	}
	const headers = { "content-type": "application/json" };
	return post(address, body, headers, parts.rule).then(
		(answer) => ({
			body,
			answer: {
				...answer,
				text: hideAddress(answer.text, address).slice(0, MAX_ANSWER),
			},
		}),
		(error: Error) => ({
			body,
			failure: hideAddress(error.message, address).slice(0, 500),
		}),
	);
}

/**
 * Returns the address of a chat. If it is encrypted with a former secret of the service, it is
 * encrypted again.
 */
async function readAddress(
	client: PoolClient,
	{ organization_id, channel_id }: Taken,
	{ sealed_address }: Message,
	secrets: Secrets,
): Promise<string | undefined> {
	const purpose = "notification address";
	const opened = openText(sealed_address, purpose, channel_id, secrets);
	if (opened && !opened.isCurrent) {
		await client.query(
			`update notification_channels set sealed_address = $4
			where organization_id = $1 and id = $2 and sealed_address = $3`,
			[
				organization_id,
				channel_id,
				sealed_address,
				sealText(opened.text, purpose, channel_id, secrets),
			],
		);
	}
	return opened?.text;
}

async function readMessage(
	client: PoolClient,
	{ organization_id, id }: Taken,
): Promise<Message | undefined> {
	const { rows } = await client.query<Message>(
		`select c.kind, c.sealed_address, m.is_test, m.event_ids, m.further_events
		from notification_messages m
		join notification_channels c
			on c.organization_id = m.organization_id and c.id = m.channel_id
		where m.organization_id = $1 and m.id = $2`,
		[organization_id, id],
	);
	return rows[0];
}

async function newsOf(
	client: PoolClient,
	{ organization_id }: Taken,
	{ is_test, event_ids, further_events }: Message,
	baseUrl: string,
): Promise<News> {
	const url = `${baseUrl}/o/${organization_id}`;
	if (is_test) {
		return {
			title: "Test message of Assay",
			lines: ["This is a test. Assay can send messages to this chat."],
			url,
		};
	}
	const news = await readNews(
		client,
		organization_id,
		event_ids,
		further_events,
		baseUrl,
	);
	return news ?? { title: "Events in Assay", lines: ["Open Assay."], url };
}
