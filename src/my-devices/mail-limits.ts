import type { PoolClient } from "pg";

/**
 * Largest number of links that the service mails in a day for an organization that a user made, and
 * for all such organizations together. Otherwise everybody could send mails to strangers.
 */
export const MAX_MAILS_OF_ORGANIZATION_A_DAY = 5;
const MAX_MAILS_OF_ALL_A_DAY = 50;

/** Returns true if the service may mail this many more links for the organization today. */
export async function mayMailPeople(
	client: PoolClient,
	count: number,
): Promise<boolean> {
	const { rows } = await client.query<{ may: boolean }>(
		"select may_mail_people($1, $2, $3) as may",
		[count, MAX_MAILS_OF_ORGANIZATION_A_DAY, MAX_MAILS_OF_ALL_A_DAY],
	);
	return rows[0]?.may ?? false;
}
