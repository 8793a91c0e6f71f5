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
import { signedHeaders, webhookSecret } from "./signature.ts";

const MAX_SENDING = 32;
/** Deliveries to one webhook that are taken together. Others to it wait until these are done. */
const MAX_TO_ONE = 4;
const MAX_OF_ORGANIZATION = 8;
/** A request takes at most 15 s. A process that has not reported by then has died. */
const TAKEN_SECONDS = 60;
const QUEUE: OutgoingQueue = {
	messages: "webhook_deliveries",
	receivers: "webhooks",
	receiver: "webhook_id",
	// With waits of at most six hours, the last attempt is three days after the first. The service then
	// gives up this delivery, and does not disable the webhook if other deliveries succeed.
	maxAttempts: 21,
	maxWaitSeconds: 6 * 3600,
	disable:
		"update webhooks set is_enabled = false, given_up_at = now(), updated_at = now() where organization_id = $1 and id = $2",
	mail: "WEBHOOK_GIVEN_UP",
};

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

/**
 * Sends queued deliveries. A delivery that is repeated has the same webhook-id. A receiver that
 * hangs holds up only its own webhook.
 */
export function startDeliverer(parts: DelivererParts): Poller {
	const { pool, mail, log } = parts;
	return startSender<Taken, Attempt>({
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
			noteAttempt(
				client,
				QUEUE,
				taken,
				taken.webhook_id,
				result,
				mail !== undefined,
			),
		wakeMailer: mail?.wake,
		firstLooks: parts.firstLooks,
		log,
	});
}

async function deliver(
	{ pool, secret, previousSecret, rule }: DelivererParts,
	taken: Taken,
): Promise<Attempt | undefined> {
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
