import type { PoolClient } from "pg";
import { retrySeconds } from "../jobs/retry.ts";
import type { TakenJob } from "../jobs/sender.ts";
import { mailAdministrators } from "../organizations/mail-administrators.ts";
import { DISABLED_AFTER_DAYS } from "./disabled-after.ts";
import type { Answer } from "./post.ts";

/** A queue of messages to receivers that an organization has named. */
export interface OutgoingQueue {
	/** The table of the messages. */
	messages: "webhook_deliveries" | "notification_messages";
	/** The table of their receivers, with `is_enabled` and `failing_since`. */
	receivers: "webhooks" | "notification_channels";
	/** The column of `messages` that names the receiver. */
	receiver: "webhook_id" | "channel_id";
	/** Attempts after which a message has failed. */
	maxAttempts: number;
	/** Longest wait between two attempts, in seconds. */
	maxWaitSeconds: number;
	/** The statement that disables the receiver $2 of the organization $1. */
	disable: string;
	/** The mail that tells the administrators that their receiver was disabled. */
	mail: "WEBHOOK_GIVEN_UP" | "CHAT_GIVEN_UP";
}

export interface Attempt {
	answer?: Answer;
	/** Why no answer came. */
	failure?: string;
	/** The body that was sent, if the message had none stored. */
	body?: string;
}

/**
 * Stores the result of an attempt to send a message. A receiver that has failed for more days than
 * DISABLED_AFTER_DAYS is disabled, and its queued messages fail. If `sendsMail`, administrators then
 * get a mail. Returns true if mails were queued.
 */
export async function noteAttempt(
	client: PoolClient,
	queue: OutgoingQueue,
	{ organization_id, id, attempts }: TakenJob,
	receiverId: string,
	{ answer, failure, body }: Attempt,
	sendsMail: boolean,
): Promise<boolean> {
	const isDelivered =
		answer !== undefined && answer.status >= 200 && answer.status < 300;
	const state = isDelivered
		? "DELIVERED"
		: attempts >= queue.maxAttempts
			? "FAILED"
			: "QUEUED";
	const { rowCount } = await client.query(
		`update ${queue.messages} set
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
			retrySeconds(attempts, queue.maxWaitSeconds),
			answer?.durationMs,
			answer?.status,
			answer?.text,
			failure,
			body,
		],
	);
	// Another process has taken the message in the meantime.
	if (rowCount === 0) return false;
	const { rows } = await client.query<{ is_over: boolean }>(
		`update ${queue.receivers}
		set failing_since = case when $3 then null else coalesce(failing_since, now()) end
		where organization_id = $1 and id = $2 and not ($3 and failing_since is null)
		returning is_enabled and failing_since < now() - $4 * interval '1 day' as is_over`,
		[organization_id, receiverId, isDelivered, DISABLED_AFTER_DAYS],
	);
	if (!rows[0]?.is_over) return false;
	await client.query(queue.disable, [organization_id, receiverId]);
	await client.query(
		`update ${queue.messages} set state = 'FAILED', due_at = null
		where organization_id = $1 and ${queue.receiver} = $2 and state = 'QUEUED'`,
		[organization_id, receiverId],
	);
	if (!sendsMail) return false;
	const about =
		queue.receiver === "webhook_id"
			? { webhookId: receiverId }
			: { channelId: receiverId };
	return mailAdministrators(client, {
		kind: queue.mail,
		organizationId: organization_id,
		...about,
	});
}
