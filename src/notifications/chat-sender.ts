import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { withTenant } from "../db/pool.ts";
import { type Poller, startPoller } from "../jobs/poller.ts";
import { retrySeconds } from "../jobs/retry.ts";
import type { OutgoingRule } from "../webhooks/outgoing-address.ts";
import { type Answer, post } from "../webhooks/post.ts";
import type { ChatKind } from "./channel-kinds.ts";
import { chatPayload } from "./chat-payloads.ts";
import { GIVEN_UP_AFTER_DAYS, giveUpChat } from "./given-up-chat.ts";
import { type News, readNews } from "./news.ts";
import { openAddress, type Secrets, sealAddress } from "./sealed-address.ts";

const POLL_MS = 5_000;
const MAX_SENDING = 16;
/**
 * Messages of one organization that are taken together. An organization with as many in progress
 * waits, so chats that hang do not hold up other organizations.
 */
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
	sendsMail: boolean;
	log: Logger;
}

interface Taken {
	organization_id: string;
	id: string;
	channel_id: string;
	attempts: number;
}

interface Message {
	kind: ChatKind;
	sealed_address: string;
	is_test: boolean;
	event_ids: string[];
	further_events: number;
	organization_name: string;
}

type Result = { answer: Answer } | { failure: string };

/**
 * Sends queued messages to chats. A message is sent at least once: a process that dies between
 * sending and noting it leaves the message to the next attempt. Each chat has at most one request
 * at a time, so a receiver that hangs holds up only its own channel.
 */
export function startChatSender(parts: ChatSenderParts): Poller {
	const { pool, log } = parts;
	const sending = new Map<Promise<void>, Taken>();
	let failure: unknown;

	function start(taken: Taken): void {
		const done = send(parts, taken)
			.catch((error: unknown) => {
				failure = error;
			})
			.finally(() => {
				sending.delete(done);
				poller.wake();
			});
		sending.set(done, taken);
	}

	const poller = startPoller(
		"notifications",
		POLL_MS,
		async () => {
			if (failure !== undefined) {
				const error = failure;
				failure = undefined;
				throw error;
			}
			const free = MAX_SENDING - sending.size;
			if (free === 0) return false;
			const inProgress = [...sending.values()];
			const { rows } = await pool.query<Taken>(
				"select * from take_notification_messages($1, $2, $3, $4, $5)",
				[
					free,
					inProgress.map(({ channel_id }) => channel_id),
					MAX_OF_ORGANIZATION,
					[...Map.groupBy(inProgress, (one) => one.organization_id)]
						.filter(([, ofOne]) => ofOne.length >= MAX_OF_ORGANIZATION)
						.map(([id]) => id),
					TAKEN_SECONDS,
				],
			);
			for (const taken of rows) start(taken);
			return rows.length > 0;
		},
		log,
	);
	return {
		wake: poller.wake,
		idle: async () => {
			await poller.idle();
			while (sending.size > 0) {
				await Promise.all(sending.keys());
				await poller.idle();
			}
		},
		stop: async () => {
			await poller.stop();
			await Promise.all(sending.keys());
		},
	};
}

async function send(parts: ChatSenderParts, taken: Taken): Promise<void> {
	const { pool, rule, baseUrl } = parts;
	const inTenant = <R>(work: (client: PoolClient) => Promise<R>) =>
		withTenant(pool, taken.organization_id, work);
	const prepared = await inTenant(async (client) => {
		const message = await readMessage(client, taken);
		if (!message) return undefined;
		const news = await newsOf(client, taken, message, baseUrl);
		const { sealed_address } = message;
		const opened = openAddress(sealed_address, taken.channel_id, parts);
		if (opened && !opened.isCurrent) {
			await client.query(
				`update notification_channels set sealed_address = $4
				where organization_id = $1 and id = $2 and sealed_address = $3`,
				[
					taken.organization_id,
					taken.channel_id,
					sealed_address,
					sealAddress(opened.address, taken.channel_id, parts),
				],
			);
		}
		return {
			address: opened?.address,
			body: JSON.stringify(chatPayload(message.kind, news)),
		};
	});
	if (!prepared) return;
	const { address, body } = prepared;
	const result: Result =
		address === undefined
			? {
					failure:
						"the address cannot be decrypted, because the secret of the service was changed; enter the address again",
				}
			: await post(
					address,
					body,
					{ "content-type": "application/json" },
					rule,
				).then(
					(answer) => ({
						answer: { ...answer, text: withoutAddress(answer.text, address) },
					}),
					(error: Error) => ({
						failure: withoutAddress(error.message, address).slice(0, 500),
					}),
				);
	await inTenant((client) =>
		noteResult(client, taken, body, result, parts.sendsMail),
	);
}

/**
 * Leaves the address, which is a secret, out of an error or an answer. Error pages often repeat the
 * path. A text that was cut may end with the beginning of it.
 */
function withoutAddress(text: string, address: string): string {
	const { pathname, search, hash } = new URL(address);
	const secrets = [
		address,
		pathname + search + hash,
		pathname + search,
		pathname,
	]
		.flatMap((part) => [part, unescaped(part)])
		.filter((part) => part.length > 1);
	let rest = text;
	for (const secret of secrets) rest = rest.replaceAll(secret, "[address]");
	for (const secret of secrets) {
		for (let length = secret.length; length >= MIN_BEGINNING; length--) {
			if (!rest.endsWith(secret.slice(0, length))) continue;
			rest = `${rest.slice(0, -length)}[address]`;
			break;
		}
	}
	return rest;
}

/** A shorter beginning of an address tells nothing. */
const MIN_BEGINNING = 12;

function unescaped(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return text;
	}
}

async function readMessage(
	client: PoolClient,
	{ organization_id, id }: Taken,
): Promise<Message | undefined> {
	const { rows } = await client.query<Message>(
		`select c.kind, c.sealed_address, m.is_test, m.event_ids, m.further_events,
			o.name as organization_name
		from notification_messages m
		join notification_channels c
			on c.organization_id = m.organization_id and c.id = m.channel_id
		join organizations o on o.id = m.organization_id
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

async function noteResult(
	client: PoolClient,
	{ organization_id, id, channel_id, attempts }: Taken,
	body: string,
	result: Result,
	sendsMail: boolean,
): Promise<void> {
	const answer = "answer" in result ? result.answer : undefined;
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
			body = $10
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
			"failure" in result ? result.failure : null,
			body,
		],
	);
	// Another process has taken the message in the meantime.
	if (rowCount === 0) return;
	const { rows } = await client.query<{ is_over: boolean }>(
		`update notification_channels
		set failing_since = case when $3 then null else coalesce(failing_since, now()) end
		where organization_id = $1 and id = $2 and not ($3 and failing_since is null)
		returning is_enabled and failing_since < now() - $4 * interval '1 day' as is_over`,
		[organization_id, channel_id, isDelivered, GIVEN_UP_AFTER_DAYS],
	);
	if (rows[0]?.is_over) {
		await giveUpChat(client, organization_id, channel_id, sendsMail);
	}
}
