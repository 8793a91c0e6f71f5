import type { PoolClient } from "pg";

/**
 * Largest number of mails that the service sends in a day to people who are not members, for an
 * organization that a user made. The next limit is for all such organizations together. Without
 * limits, everybody could send mails to strangers. Members have joined themselves, so mails to them
 * do not count.
 */
export const MAX_MAILS_OF_ORGANIZATION_A_DAY = 5;
const MAX_MAILS_OF_ALL_A_DAY = 50;

/**
 * Returns the people to whom the service may send a mail now: all members, and the first of the
 * others, as many as the limits allow.
 */
export async function chooseMailable<Person extends { is_member: boolean }>(
	client: PoolClient,
	people: readonly Person[],
): Promise<Person[]> {
	if (people.every(({ is_member }) => is_member)) return [...people];
	const { rows } = await client.query<{ left: number }>(
		"select mails_left_to_people($1, $2) as left",
		[MAX_MAILS_OF_ORGANIZATION_A_DAY, MAX_MAILS_OF_ALL_A_DAY],
	);
	let left = rows[0]?.left ?? 0;
	return people.filter(({ is_member }) => is_member || left-- > 0);
}
