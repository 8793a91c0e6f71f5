import type { Client, Pool } from "pg";

export interface MailCounts {
	queued: number;
	/** Queued mails with at least one failed attempt. */
	retrying: number;
	/** Mails of the last two days that are not tried any more. */
	failed: number;
	/** Age of the oldest queued mail. */
	oldest_seconds: number;
}

/** Counts the mails of all organizations. */
export async function readMailCounts(
	client: Pick<Pool | Client, "query">,
): Promise<MailCounts> {
	const { rows } = await client.query<MailCounts>(
		`select queued::float8 as queued, retrying::float8 as retrying, failed::float8 as failed, oldest_seconds
		from count_mails()`,
	);
	if (!rows[0]) throw new Error("count_mails returned no row");
	return rows[0];
}
