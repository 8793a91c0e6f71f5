import type { PoolClient } from "pg";
import { z } from "zod";
import { findPersonOf } from "../organizations/person-of-member.ts";
import type { Filter } from "./filter.ts";
import { quoted } from "./no-match-messages.ts";

/** Largest number of people that the text of a filter may match. */
const MAX_PEOPLE = 1000;

/** Selects the people of organization $1 whose name or address contains the text. */
const found = (parameter: string) => `
	select p.id::text
	from find_records('people', array[${parameter}::text], ${MAX_PEOPLE}) f (id)
	join people p on p.organization_id = $1 and p.id = f.id
	where search_fold(p.full_name || ' ' || p.primary_email_address)
		like search_pattern(${parameter}::text)`;

/**
 * The text that stands for the caller, so that an address or a saved view is right for everybody.
 */
const ME = "me";

export const NOBODY_IS_ME =
	"nobody in the register People has your e-mail address; add yourself with addPeople";

/** The caller's own person, or null if the register has none. */
interface Own {
	person: string | null;
}

/** Finds the person of the user who asks. */
export async function findOwn(
	client: PoolClient,
	organizationId: string,
): Promise<Own> {
	const { rows } = await client.query<{ user_id: string }>(
		"select current_setting('assay.user_id', true) as user_id",
	);
	const person = await findPersonOf(
		client,
		organizationId,
		rows[0]?.user_id || null,
	);
	return { person: person ?? null };
}

const textOf = (value: unknown) => String(value).trim();
export const isMe = (value: unknown) => textOf(value).toLowerCase() === ME;
const isOwn = (value: unknown): value is Own => typeof value === "object";

/** Returns a filter of the column by the name or address of the person in it. */
export function personFilter(column: string): Filter {
	return {
		schema: z
			.string()
			.max(200, { abort: true })
			.refine((text) => text.trim() !== "", "must not be empty")
			.describe("Name part, or me"),
		resolve: async (client, organizationId, value) =>
			isMe(value) ? findOwn(client, organizationId) : value,
		isPinned: true,
		sql: (parameter, value) => {
			if (isOwn(value)) return `t.${column} = ${parameter}`;
			// Groups of devices were once stored with "me", and nobody asks when they are matched.
			if (isMe(value)) return `(${parameter}::text is null)`;
			return `t.${column} = any(array(${found(parameter)}))`;
		},
		toParameter: (value) => (isOwn(value) ? value.person : textOf(value)),
		whyNone: async (client, organizationId, value) => {
			if (isMe(value)) {
				const { person } = await findOwn(client, organizationId);
				return person ? undefined : NOBODY_IS_ME;
			}
			const { rowCount } = await client.query(found("$2"), [
				organizationId,
				textOf(value),
			]);
			return rowCount
				? undefined
				: `nobody's name or address contains ${quoted(String(value))}; listPeople lists the people`;
		},
	};
}
