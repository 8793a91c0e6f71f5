import type { PoolClient } from "pg";
import { z } from "zod";
import { findNames } from "../records/names-by-id.ts";
import { MAX_NAMED } from "./max-named.ts";

const DAYS = 14;
const MAX_SHOWN = 200;

export const discussion = z
	.array(
		z.object({
			comment_id: z.string(),
			kind: z.string(),
			record_id: z.string(),
			record_name: z.string().nullable(),
			author_name: z.string(),
			text: z.string().describe(`At most ${MAX_SHOWN} characters`),
			is_mention: z.boolean(),
			created_at: z.string(),
		}),
	)
	.describe(
		`Comments of others within ${DAYS} days that mention the caller or are on records that the caller watches`,
	);

/** Returns the newest comments that concern the user. */
export async function readDiscussion(
	client: PoolClient,
	organizationId: string,
	userId: string | null,
): Promise<z.output<typeof discussion>> {
	const { rows } = await client.query<
		Omit<z.output<typeof discussion>[number], "record_name">
	>({
		name: "overview.discussion",
		text: `
			select c.id as comment_id, c.record_kind as kind, c.record_id, c.author_name,
				left(c.text, ${MAX_SHOWN}) as text, $2::text = any(c.mentioned_ids) as is_mention, c.created_at
			from record_comments c
			where c.organization_id = $1 and c.created_at > now() - interval '${DAYS} days'
				and c.author_id <> $2::text and ($2::text = any(c.mentioned_ids) or exists (
					select from record_watches w
					where w.organization_id = $1 and w.user_id = $2::text and w.record_id = c.record_id
				))
			order by c.created_at desc, c.id desc
			limit ${MAX_NAMED}`,
		values: [organizationId, userId],
	});
	if (rows.length === 0) return [];
	const ids = [...new Set(rows.map(({ record_id }) => record_id))];
	const names = new Map(
		(await findNames(client, organizationId, ids)).map(({ id, name }) => [
			id,
			name,
		]),
	);
	return rows.map((row) => ({
		...row,
		record_name: names.get(row.record_id) ?? null,
	}));
}
