import { z } from "zod";
import { badFields } from "../errors.ts";
import { notFound } from "../invoke.ts";
import type { Context } from "../operation.ts";
import { DISTINCT } from "../records/distinct.ts";
import { idSchema } from "../records/text-schemas.ts";

const MAX_MENTIONED = 20;

export const comment = z.object({
	id: z.string(),
	record_id: z.string(),
	author_id: z.string(),
	author_name: z.string(),
	text: z.string(),
	mentioned: z
		.array(z.object({ user_id: z.string(), name: z.string() }))
		.describe("Members whom it mentions"),
	created_at: z.string(),
	edited_at: z
		.string()
		.nullable()
		.describe("When its author last corrected it"),
});
export type Comment = z.output<typeof comment>;

export const COLUMNS = `t.id, t.record_id, t.author_id, t.author_name, t.text, t.created_at, t.edited_at, (
	select coalesce(jsonb_agg(jsonb_build_object('user_id', u.id, 'name', u.name) order by u.name, u.id), '[]')
	from memberships m join users u on u.id = m.user_id
	where m.organization_id = t.organization_id and m.user_id = any(t.mentioned_ids)
) as mentioned`;

export const mentionedUserIds = () =>
	z
		.array(idSchema("user"))
		.max(MAX_MENTIONED, { abort: true })
		.refine(...DISTINCT)
		.optional()
		.describe("Members to mention; listMembers returns the ids");

/** Returns a comment. Throws not_found if there is none. */
export async function readComment(
	{ client, membership }: Context,
	id: string,
): Promise<Comment> {
	const { rows } = await client.query<Comment>({
		name: "get.comment",
		text: `select ${COLUMNS} from record_comments t where t.organization_id = $1 and t.id = $2`,
		values: [membership.organizationId, id],
	});
	if (!rows[0]) throw notFound(id);
	return rows[0];
}

/** Throws bad_request for mentioned users who are not members, and names their places. */
export async function requireMembers(
	{ client, membership }: Context,
	ids: readonly string[],
): Promise<void> {
	if (ids.length === 0) return;
	const { rows } = await client.query<{ user_id: string }>(
		"select user_id from memberships where organization_id = $1 and user_id = any($2)",
		[membership.organizationId, ids],
	);
	const members = new Set(rows.map(({ user_id }) => user_id));
	const issues = ids.flatMap((id, at) =>
		members.has(id)
			? []
			: {
					field: `mentioned_user_ids[${at}]`,
					message: `there is no member ${id} in this organization`,
				},
	);
	if (issues.length > 0) throw badFields(issues);
}
