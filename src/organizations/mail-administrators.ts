import type { PoolClient } from "pg";
import { type MailKind, queueMail } from "../mail/queue.ts";

/** Queues a mail to each administrator of the transaction's organization, except for the caller. */
export async function mailOtherAdministrators(
	client: PoolClient,
	kind: MailKind,
	organizationId: string,
	callerId: string | null,
): Promise<void> {
	const { rows } = await client.query<{ user_id: string }>(
		"select user_id from memberships where organization_id = $1 and role = 'admin' and user_id is distinct from $2",
		[organizationId, callerId],
	);
	for (const { user_id: userId } of rows) {
		await queueMail(client, { kind, organizationId, userId });
	}
}
