import type { PoolClient } from "pg";
import { badFields } from "../errors.ts";
import { listed, quoted } from "../records/no-match-messages.ts";
import { CHECK_KEYS, findCanonical } from "./terms.ts";

/** The canonical keys in a text, for descriptions and errors. */
export const CHECK_KEYS_TEXT = CHECK_KEYS.join(", ");

/**
 * Returns the keys that a caller may mean by a text. If the text is the key or the name of a
 * canonical check, in any case, it means that check. Otherwise it means a key that an agent has
 * made up, in the spelling of the text or in capitals or small letters.
 */
export function checkKeysOf(text: string): string[] {
	const canonical = findCanonical(text);
	if (canonical) return [canonical];
	return [...new Set([text, text.toUpperCase(), text.toLowerCase()])];
}

/**
 * Returns the key of the one check that a caller means. Throws bad_request for `field` if no
 * device of the organization has reported the check.
 */
export async function findCheckKey(
	client: PoolClient,
	organizationId: string,
	text: string,
	field = "check_key",
): Promise<string> {
	const keys = checkKeysOf(text);
	const [first] = keys;
	if (first !== undefined && keys.length === 1) return first;
	const { rows } = await client.query<{ check_key: string }>(
		`select k.check_key from unnest($2::text[]) with ordinality k (check_key, place)
		where exists (
			select from posture_spans s where s.organization_id = $1 and s.check_key = k.check_key
		)
		order by k.place
		limit 1`,
		[organizationId, keys],
	);
	const found = rows[0]?.check_key;
	if (found !== undefined) return found;
	const message = await whyNoCheck(client, organizationId, text);
	throw badFields([
		{
			field,
			message: message ?? "must be the key or the name of a check",
		},
	]);
}

/** Largest number of an organization's own checks that an error lists. */
const MAX_LISTED = 30;

/**
 * Returns a message that no device of the organization has reported the check. The message lists
 * the reported ones. Returns undefined if a device has reported the check, or if it is canonical.
 */
export async function whyNoCheck(
	client: PoolClient,
	organizationId: string,
	text: string,
): Promise<string | undefined> {
	const keys = checkKeysOf(text);
	if (CHECK_KEYS.some((key) => keys.includes(key))) return undefined;
	const { rows } = await client.query<{
		is_reported: boolean;
		others: string[];
	}>(
		`select
			exists (
				select from posture_spans s where s.organization_id = $1 and s.check_key = any($2)
			) as is_reported,
			array(
				select distinct s.check_key from posture_spans s
				where s.organization_id = $1 and s.is_current and s.check_key <> all($3)
				order by s.check_key
				limit ${MAX_LISTED + 1}
			) as others`,
		[organizationId, keys, CHECK_KEYS],
	);
	const [found] = rows;
	if (!found || found.is_reported) return undefined;
	const own =
		found.others.length > 0
			? `; agents of this organization also report ${listed(found.others)}`
			: "";
	return `no device has reported the check ${quoted(text)}; the checks are ${CHECK_KEYS_TEXT}${own}`;
}
