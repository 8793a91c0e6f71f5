import type { Client, Pool } from "pg";

export interface ReceiverCounts {
	kind: "webhook" | "chat";
	/** Receivers that are enabled and whose last attempts failed. */
	failing: number;
	/** Receivers that the service disabled after DISABLED_AFTER_DAYS days of failures. */
	disabled: number;
}

/** Counts the webhooks and chats of all organizations that an operator should know about. */
export async function readReceiverCounts(
	client: Pick<Pool | Client, "query">,
): Promise<ReceiverCounts[]> {
	const { rows } = await client.query<ReceiverCounts>(
		"select kind, failing::float8, disabled::float8 from count_failing_receivers()",
	);
	return rows;
}
