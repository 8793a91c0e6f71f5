import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { withTenant } from "../db/pool.ts";
import type { FirstLooks, Poller } from "../jobs/poller.ts";
import { retrySeconds } from "../jobs/retry.ts";
import { type NoAnswer, startSender, type TakenJob } from "../jobs/sender.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { OutgoingRule } from "../outgoing/outgoing-address.ts";
import { type Answer, post } from "../outgoing/post.ts";
import { openText, type Secrets, sealText } from "../sign-in/sealed-text.ts";
import type { ChatKind } from "./channel-kinds.ts";
import { chatPayload } from "./chat-payloads.ts";
import { GIVEN_UP_AFTER_DAYS, giveUpChat } from "./given-up-chat.ts";
import { hideAddress } from "./hide-address.ts";
import { type News, readNews } from "./news.ts";

const MAX_SENDING = 16;
const MAX_OF_ORGANIZATION = 4;
/** A request takes at most 15 s. A process that has not reported by then has died. */
const TAKEN_SECONDS = 60;
/** With waits of at most four hours, the last attempt is about 16 hours after the first. */
const MAX_ATTEMPTS = 12;
const MAX_WAIT_SECONDS = 4 * 3600;

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

interface Result {
	body: string;
	answer?: Answer;
	failure?: string;
}

/**
 * Sends queued messages to chats. Each chat has at most one request at a time, so a receiver that
 * hangs holds up only its own channel.
 */
export function startChatSender(parts: ChatSenderParts): Poller {
	const { pool, mail, log } = parts;
	return startSender<Taken, Result>({
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
			noteResult(client, taken, result, mail !== undefined),
		wakeMailer: mail?.wake,
		firstLooks: parts.firstLooks,
		log,
	});
}

async function send(
	parts: ChatSenderParts,
	taken: Taken,
): Promise<Result | undefined> {
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
			answer: { ...answer, text: hideAddress(answer.text, address) },
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

/** Stores the result of an attempt. Returns true if mails to administrators were queued. */
async function noteResult(
	client: PoolClient,
	{ organization_id, id, channel_id, attempts }: Taken,
	result: Result | NoAnswer,
	sendsMail: boolean,
): Promise<boolean> {
	const { answer, failure, body }: Partial<Result> = result;
	const isDelivered =
		answer !== undefined && answer.status >= 200 && answer.status < 300;
	const state = isDelivered
		? "DELIVERED"
		: attempts >= MAX_ATTEMPTS
			? "FAILED"
			: "QUEUED";
	const { rowCount } = await client.query(
		`update notification_messages set
			state = $4, delivered_at = case when $4 = 'DELIVERED' then now() end,
			due_at = case when $4 = 'QUEUED' then now() + $5 * interval '1 second' end,
			attempted_at = now(), duration_ms = $6, answer_status = $7, answer = $8, failure = $9,
			body = coalesce($10, body)
		where organization_id = $1 and id = $2 and attempts = $3 and state = 'QUEUED'`,
		[
			organization_id,
			id,
			attempts,
			state,
			retrySeconds(attempts, MAX_WAIT_SECONDS),
			answer?.durationMs,
			answer?.status,
			answer?.text.slice(0, 1000),
			failure,
			body,
		],
	);
	// Another process has taken the message in the meantime.
	if (rowCount === 0) return false;
	const { rows } = await client.query<{ is_over: boolean }>(
		`update notification_channels
		set failing_since = case when $3 then null else coalesce(failing_since, now()) end
		where organization_id = $1 and id = $2 and not ($3 and failing_since is null)
		returning is_enabled and failing_since < now() - $4 * interval '1 day' as is_over`,
		[organization_id, channel_id, isDelivered, GIVEN_UP_AFTER_DAYS],
	);
	if (!rows[0]?.is_over) return false;
	await giveUpChat(client, organization_id, channel_id, sendsMail);
	return sendsMail;
}
