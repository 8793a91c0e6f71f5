import type { PoolClient } from "pg";
import { type NewMail, queueMail } from "../mail/queue.ts";

/**
 * Queues a mail to each administrator of the transaction's organization except `exceptUserId`.
 * Returns true if it queued any.
 */
export async function mailAdministrators(
	client: PoolClient,
	mail: Omit<NewMail, "userId"> & { organizationId: string },
	exceptUserId: string | null = null,
): Promise<boolean> {
	const { rows } = await client.query<{ user_id: string }>(
		"select user_id from memberships where organization_id = $1 and role = 'admin' and user_id is distinct from $2",
		[mail.organizationId, exceptUserId],
	);
	for (const { user_id: userId } of rows) {
		await queueMail(client, { ...mail, userId });
	}
	return rows.length > 0;
}
