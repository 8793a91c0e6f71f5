import { z } from "zod";
import { AppError } from "../errors.ts";
import { notFound } from "../invoke.ts";
import { type Context, defineOperation } from "../operation.ts";
import { filledTextSchema, idSchema } from "../records/text-schemas.ts";
import { queueCommentMails } from "./comment-mail.ts";
import {
	comment,
	mentionedUserIds,
	readComment,
	requireMembers,
} from "./comment-record.ts";
import { CORRECTION_MINUTES } from "./correction-time.ts";
import { requireRecord } from "./records.ts";
import { addWatches } from "./watches.ts";

/**
 * Operations of authors on their own comments. They are in the console only, because the list of
 * tools has no room for more. Administrators have the tool `deleteComment`.
 */
const own = {
	toolset: "comments",
	surface: "console",
	access: "write",
	tenant: "id",
} as const;

const commentId = () =>
	idSchema("record_comment").describe("Id of the comment");

export const updateComment = defineOperation({
	...own,
	name: "updateComment",
	title: "Correct a comment",
	description: `Correct your own comment within ${CORRECTION_MINUTES} minutes. The history of the record keeps both texts.`,
	isIdempotent: true,
	input: z.strictObject({
		id: commentId(),
		text: filledTextSchema().describe("What to say"),
		mentioned_user_ids: mentionedUserIds(),
	}),
	output: z.object({ comment }),
	run: async (context, { id, text, mentioned_user_ids }) => {
		const { client, membership, changed } = context;
		const { organizationId } = membership;
		const before = await lockOwnComment(context, id);
		if (!before.is_recent) throw tooLate();
		const mentionedIds = mentioned_user_ids ?? before.mentioned_ids;
		const added = mentionedIds.filter(
			(userId) => !before.mentioned_ids.includes(userId),
		);
		const isUnchanged =
			text === before.text &&
			added.length === 0 &&
			mentionedIds.length === before.mentioned_ids.length;
		if (isUnchanged) return { comment: await readComment(context, id) };
		const record = await requireRecord(
			client,
			organizationId,
			before.record_id,
			"for key share",
		);
		await requireMembers(context, added);
		await client.query(
			`update record_comments set text = $3, mentioned_ids = $4, edited_at = now()
			where organization_id = $1 and id = $2`,
			[organizationId, id, text, mentionedIds],
		);
		if (added.length > 0) {
			await addWatches(context, record, added);
			await queueCommentMails(context, record, added, { onlyMentioned: true });
		}
		changed({
			...record,
			fields: {
				comment: {
					...(text !== before.text && { before: before.text }),
					after: text,
				},
			},
		});
		return { comment: await readComment(context, id) };
	},
});

export const withdrawComment = defineOperation({
	...own,
	name: "withdrawComment",
	title: "Delete your comment",
	description:
		"Delete your own comment. It cannot be undone; the history of the record still shows the text.",
	isDestructive: true,
	input: z.strictObject({ id: commentId() }),
	output: z.object({ deleted_comment_id: z.string() }),
	run: async (context, { id }) => {
		const { client, membership, changed } = context;
		const { organizationId } = membership;
		const { record_id, text } = await lockOwnComment(context, id);
		const record = await requireRecord(client, organizationId, record_id);
		await client.query(
			"delete from record_comments where organization_id = $1 and id = $2",
			[organizationId, id],
		);
		changed({ ...record, fields: { comment: { before: text } } });
		return { deleted_comment_id: id };
	},
});

interface OwnComment {
	record_id: string;
	author_id: string;
	text: string;
	mentioned_ids: string[];
	/** True while the author may correct it. */
	is_recent: boolean;
}

/** Returns a comment of the caller. Throws not_found, or forbidden if somebody else wrote it. */
async function lockOwnComment(
	{ client, membership, principal }: Context,
	id: string,
): Promise<OwnComment> {
	const { rows } = await client.query<OwnComment>(
		`select record_id, author_id, text, mentioned_ids,
			created_at > now() - ${CORRECTION_MINUTES} * interval '1 minute' as is_recent
		from record_comments where organization_id = $1 and id = $2 for update`,
		[membership.organizationId, id],
	);
	const [found] = rows;
	if (!found) throw notFound(id);
	if (found.author_id === principal.userId) return found;
	throw new AppError(
		"forbidden",
		"permission denied: only the author of a comment may correct or withdraw it; administrators delete comments of others",
	);
}

function tooLate(): AppError {
	return new AppError(
		"bad_request",
		`a comment can be corrected for ${CORRECTION_MINUTES} minutes; write another one, or delete this one`,
	);
}
