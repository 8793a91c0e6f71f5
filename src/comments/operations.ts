import { z } from "zod";
import { enforceLimit } from "../db/enforce-limit.ts";
import { AppError } from "../errors.ts";
import { makeId } from "../id.ts";
import { defineOperation } from "../operation.ts";
import type { Filter } from "../records/filter.ts";
import { idempotencyShape } from "../records/idempotency.ts";
import {
	byTime,
	pageCursor,
	pageShape,
	pageSize,
	readPage,
} from "../records/list-pages.ts";
import { filledTextSchema, idSchema } from "../records/text-schemas.ts";
import { queueCommentMails } from "./comment-mail.ts";
import {
	COLUMNS,
	type Comment,
	comment,
	mentionedUserIds,
	readComment,
	requireMembers,
} from "./comment-record.ts";
import { recordId, requireRecord } from "./records.ts";
import { addWatches } from "./watches.ts";

/** Most comments that a record may have. */
export const MAX_COMMENTS = 1000;

const OF_RECORD: Filter = {
	schema: recordId(),
	sql: (parameter) => `t.record_id = ${parameter}`,
};

export const listComments = defineOperation({
	name: "listComments",
	title: "List comments",
	description:
		"List the comments on a record, newest first, and say whether you watch it.",
	toolset: "comments",
	access: "read",
	tenant: "record_id",
	input: z.strictObject({
		record_id: recordId(),
		size: pageSize(),
		cursor: pageCursor(),
	}),
	output: z.object({
		comments: z.array(comment),
		is_watching: z.boolean(),
		...pageShape,
	}),
	run: async ({ client, membership, principal }, input) => {
		const { organizationId } = membership;
		await requireRecord(client, organizationId, input.record_id);
		const filter = { query: undefined, record_id: input.record_id };
		const { rows, ...page } = await readPage<Comment>(
			client,
			{
				tool: "listComments",
				columns: COLUMNS,
				from: "record_comments t",
				orders: { created_at: byTime("created_at") },
				filters: { record_id: OF_RECORD },
			},
			{
				organization_id: organizationId,
				size: input.size,
				cursor: input.cursor,
				filter,
			},
		);
		const { rowCount } = await client.query(
			"select from record_watches where organization_id = $1 and user_id = $2 and record_id = $3",
			[organizationId, principal.userId, input.record_id],
		);
		return { comments: rows, is_watching: rowCount === 1, ...page };
	},
});

export const addComment = defineOperation({
	name: "addComment",
	title: "Comment on a record",
	description:
		"Comment on a record. You and the members whom you mention watch the record from then on.",
	toolset: "comments",
	access: "write",
	tenant: "record_id",
	input: z.strictObject({
		record_id: recordId(),
		text: filledTextSchema().describe("What to say"),
		mentioned_user_ids: mentionedUserIds(),
		...idempotencyShape,
	}),
	output: z.object({ comment }),
	run: async (context, input) => {
		const { client, membership, principal, changed } = context;
		const { organizationId } = membership;
		const { text, mentioned_user_ids: mentionedIds = [] } = input;
		if (principal.userId === null) throw onlyUsers();
		const record = await requireRecord(
			client,
			organizationId,
			input.record_id,
			"for key share",
		);
		await requireMembers(context, mentionedIds);
		await enforceLimit(client, {
			lock: `comments ${record.id}`,
			from: "record_comments where organization_id = $1 and record_id = $2",
			values: [organizationId, record.id],
			max: MAX_COMMENTS,
			error: tooManyComments,
		});
		const id = makeId(organizationId, "record_comment");
		await client.query(
			`insert into record_comments
				(organization_id, id, record_id, record_kind, author_id, author_name, text, mentioned_ids)
			values ($1, $2, $3, $4, $5, $6, $7, $8)`,
			[
				organizationId,
				id,
				record.id,
				record.kind,
				principal.userId,
				principal.name,
				text,
				mentionedIds,
			],
		);
		await addWatches(context, record, [principal.userId, ...mentionedIds]);
		await queueCommentMails(context, record, mentionedIds);
		changed({ ...record, fields: { comment: { after: text } } });
		return { comment: await readComment(context, id) };
	},
});

export const deleteComment = defineOperation({
	name: "deleteComment",
	title: "Delete a comment",
	description:
		"Delete a comment. It cannot be undone; the history of the record still shows the text.",
	toolset: "comments",
	access: "admin",
	isDestructive: true,
	tenant: "id",
	input: z.strictObject({
		id: idSchema("record_comment").describe("Id of the comment"),
	}),
	output: z.object({ deleted_comment_id: z.string() }),
	run: async (context, { id }) => {
		const { client, membership, changed } = context;
		const { organizationId } = membership;
		const before = await readComment(context, id);
		const record = await requireRecord(
			client,
			organizationId,
			before.record_id,
		);
		await client.query(
			"delete from record_comments where organization_id = $1 and id = $2",
			[organizationId, id],
		);
		changed({ ...record, fields: { comment: { before: before.text } } });
		return { deleted_comment_id: id };
	},
});

function tooManyComments(): AppError {
	return new AppError(
		"bad_request",
		`the record has ${MAX_COMMENTS} comments, which is the maximum; delete some first`,
	);
}

function onlyUsers(): AppError {
	return new AppError(
		"forbidden",
		"permission denied: only a user can comment; use the token of a user",
	);
}
