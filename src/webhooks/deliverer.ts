import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { withTenant } from "../db/pool.ts";
import type { FirstLooks, Poller } from "../jobs/poller.ts";
import { retrySeconds } from "../jobs/retry.ts";
import { type NoAnswer, startSender, type TakenJob } from "../jobs/sender.ts";
import type { Mailer } from "../mail/mailer.ts";
import { queueMail } from "../mail/queue.ts";
import type { OutgoingRule } from "../outgoing/outgoing-address.ts";
import { type Answer, post } from "../outgoing/post.ts";
import { signedHeaders, webhookSecret } from "./signature.ts";

const MAX_SENDING = 32;
/** Deliveries to one webhook that are taken together. Others to it wait until these are done. */
const MAX_TO_ONE = 4;
const MAX_OF_ORGANIZATION = 8;
/** A request takes at most 15 s. A process that has not reported by then has died. */
const TAKEN_SECONDS = 60;
/**
 * With waits of at most six hours, the last attempt is three days after the first. A webhook that
 * accepts everything else is then not disabled, but the delivery is given up.
 */
const MAX_ATTEMPTS = 21;
const MAX_WAIT_SECONDS = 6 * 3600;

/** Days without a success after which a webhook is given up. */
const GIVEN_UP_AFTER_DAYS = 3;

export interface DelivererParts {
	pool: Pool;
	/** The secret of the service, from which signing secrets are derived. */
	secret: string;
	/** The secret that the service had before. Deliveries are signed with both. */
	previousSecret?: string | undefined;
	rule: OutgoingRule;
	mail?: Mailer | undefined;
	firstLooks?: FirstLooks | undefined;
	log: Logger;
}

interface Taken extends TakenJob {
	webhook_id: string;
}

interface Delivery {
	body: string;
	url: string;
	secret_version: number;
	has_previous_secret: boolean;
}

type Result = { answer: Answer } | NoAnswer;

/**
 * Sends queued deliveries. A delivery that is repeated has the same webhook-id. A receiver that
 * hangs holds up only its own webhook.
 */
export function startDeliverer(parts: DelivererParts): Poller {
	const { pool, mail, log } = parts;
	return startSender<Taken, Result>({
		name: "webhooks",
		pool,
		maxSending: MAX_SENDING,
		maxOfOrganization: MAX_OF_ORGANIZATION,
		take: async (count, inProgress, full) => {
			const { rows } = await pool.query<Taken>(
				"select * from take_webhook_deliveries($1, $2, $3, $4, $5, $6)",
				[
					count,
					MAX_TO_ONE,
					[...new Set(inProgress.map(({ webhook_id }) => webhook_id))],
					MAX_OF_ORGANIZATION,
					full,
					TAKEN_SECONDS,
				],
			);
			return rows;
		},
		send: (taken) => deliver(parts, taken),
		note: (client, taken, result) =>
			noteResult(client, taken, result, mail !== undefined),
		wakeMailer: mail?.wake,
		firstLooks: parts.firstLooks,
		log,
	});
}

async function deliver(
	{ pool, secret, previousSecret, rule }: DelivererParts,
	taken: Taken,
): Promise<Result | undefined> {
	const delivery = await withTenant(pool, taken.organization_id, (client) =>
		readDelivery(client, taken),
	);
	if (!delivery) return undefined;
	const { url, body, secret_version, has_previous_secret } = delivery;
	const versions = [
		secret_version,
		...(has_previous_secret ? [secret_version - 1] : []),
	];
	const secrets = [secret, previousSecret]
		.filter((one) => one !== undefined)
		.flatMap((one) =>
			versions.map((version) => webhookSecret(one, taken.webhook_id, version)),
		);
	const now = Math.floor(Date.now() / 1000);
	const headers = signedHeaders(secrets, taken.id, now, body);
	return post(url, body, headers, rule).then(
		(answer) => ({ answer }),
		(error: Error) => ({ failure: error.message.slice(0, 500) }),
	);
}

async function readDelivery(
	client: PoolClient,
	{ organization_id, id }: Taken,
): Promise<Delivery | undefined> {
	const { rows } = await client.query<Delivery>(
		`select d.body, w.url, w.secret_version,
			coalesce(w.previous_secret_until > now(), false) as has_previous_secret
		from webhook_deliveries d
		join webhooks w on w.organization_id = d.organization_id and w.id = d.webhook_id
		where d.organization_id = $1 and d.id = $2`,
		[organization_id, id],
	);
	return rows[0];
}

function isSuccess(result: Result): boolean {
	return (
		"answer" in result &&
		result.answer.status >= 200 &&
		result.answer.status < 300
	);
}

/** Stores the result of an attempt. Returns true if a mail to administrators was queued. */
async function noteResult(
	client: PoolClient,
	{ organization_id, id, webhook_id, attempts }: Taken,
	result: Result,
	sendsMail: boolean,
): Promise<boolean> {
	const answer = "answer" in result ? result.answer : undefined;
	const isDelivered = isSuccess(result);
	const state = isDelivered
		? "DELIVERED"
		: attempts >= MAX_ATTEMPTS
			? "FAILED"
			: "QUEUED";
	const { rowCount } = await client.query(
		`update webhook_deliveries set
			state = $4, delivered_at = case when $4 = 'DELIVERED' then now() end,
			due_at = case when $4 = 'QUEUED' then now() + $5 * interval '1 second' end,
			attempted_at = now(), duration_ms = $6, answer_status = $7, answer = $8, failure = $9
		where organization_id = $1 and id = $2 and attempts = $3 and state = 'QUEUED'`,
		[
			organization_id,
			id,
			attempts,
			state,
			retrySeconds(attempts, MAX_WAIT_SECONDS),
			answer?.durationMs,
			answer?.status,
			answer?.text,
			"failure" in result ? result.failure : null,
		],
	);
	// Another process has taken the delivery in the meantime.
	if (rowCount === 0) return false;
	if (isDelivered) {
		await client.query(
			"update webhooks set failing_since = null where organization_id = $1 and id = $2 and failing_since is not null",
			[organization_id, webhook_id],
		);
		return false;
	}
	const { rows } = await client.query<{ is_over: boolean }>(
		`update webhooks set failing_since = coalesce(failing_since, now())
		where organization_id = $1 and id = $2
		returning is_enabled and failing_since < now() - $3 * interval '1 day' as is_over`,
		[organization_id, webhook_id, GIVEN_UP_AFTER_DAYS],
	);
	if (!rows[0]?.is_over) return false;
	await giveUp(client, organization_id, webhook_id);
	if (!sendsMail) return false;
	return mailAdministrators(client, organization_id, webhook_id);
}

async function giveUp(
	client: PoolClient,
	organizationId: string,
	webhookId: string,
): Promise<void> {
	await client.query(
		"update webhooks set is_enabled = false, given_up_at = now(), updated_at = now() where organization_id = $1 and id = $2",
		[organizationId, webhookId],
	);
	await client.query(
		"update webhook_deliveries set state = 'FAILED', due_at = null where organization_id = $1 and webhook_id = $2 and state = 'QUEUED'",
		[organizationId, webhookId],
	);
}

async function mailAdministrators(
	client: PoolClient,
	organizationId: string,
	webhookId: string,
): Promise<boolean> {
	const { rows } = await client.query<{ user_id: string }>(
		"select user_id from memberships where organization_id = $1 and role = 'admin'",
		[organizationId],
	);
	for (const { user_id: userId } of rows) {
		await queueMail(client, {
			kind: "WEBHOOK_GIVEN_UP",
			organizationId,
			userId,
			webhookId,
		});
	}
	return rows.length > 0;
}
