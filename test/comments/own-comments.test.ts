import { afterAll, beforeAll, expect, test } from "vitest";
import { callByName } from "../support/call-by-name.ts";
import { shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

async function commentOf(
	author: { id: string; token: string },
	more: object = {},
) {
	const { risk } = await tools.use("addRisk", {
		organization_id: tools.organizationId,
		name: "Theft",
		category: "Sites",
		treatment: "MITIGATED",
		inherent_likelihood: 3,
		inherent_impact: 3,
	});
	const input = { record_id: risk.id, text: "Ask Adda", ...more };
	const { comment } = await tools.use("addComment", input, author.token);
	return comment;
}

/** Calls an operation of the console as this user. */
const as = (user: { id: string }, name: string, input: object) =>
	callByName(
		tools.database,
		{ id: user.id, name: "Somebody", email: "" },
		name,
		input,
	);

const correct = (user: { id: string }, id: string, more: object = {}) =>
	as(user, "updateComment", { id, text: "Ask Ada", ...more });

/** Lets the comment be this old. */
const age = (id: string, minutes: number) =>
	tools.database.owner.query(
		"update record_comments set created_at = now() - $2 * interval '1 minute' where id = $1",
		[id, minutes],
	);

const historyOf = async (id: string) =>
	(await tools.use("getRecordHistory", { id })).changes.map(
		({ operation, changes }: { operation: string; changes: object }) => [
			operation,
			changes,
		],
	);

test("an author corrects a comment, the list says so, and the history keeps both texts", async () => {
	const made = await commentOf(tools.member);
	expect(made.edited_at).toBeNull();
	const { comment } = await correct(tools.member, made.id);
	expect(comment).toMatchObject({ id: made.id, text: "Ask Ada" });
	const { comments } = await tools.use("listComments", {
		record_id: made.record_id,
	});
	expect(comments).toEqual([comment]);
	expect(Date.parse(comment.edited_at)).toBeGreaterThanOrEqual(
		Date.parse(made.created_at),
	);
	expect((await historyOf(made.record_id))[0]).toEqual([
		"updateComment",
		{ comment: { before: "Ask Adda", after: "Ask Ada" } },
	]);
});

test("a comment that stays as it is does not count as corrected", async () => {
	const made = await commentOf(tools.member);
	const { comment } = await correct(tools.member, made.id, { text: made.text });
	expect(comment.edited_at).toBeNull();
	expect((await historyOf(made.record_id))[0][0]).toBe("addComment");
});

test("nobody corrects or withdraws a comment of somebody else, not even an administrator: 403", async () => {
	const made = await commentOf(tools.member);
	const other = await tools.makeUser({ [tools.organizationId]: "member" });
	for (const user of [tools.admin, other]) {
		const refused = {
			code: "forbidden",
			message: expect.stringMatching(
				/only the author of a comment may correct/,
			),
		};
		await expect(correct(user, made.id)).rejects.toMatchObject(refused);
		await expect(
			as(user, "withdrawComment", { id: made.id }),
		).rejects.toMatchObject({ code: "forbidden" });
	}
	await expect(correct(tools.stranger, made.id)).rejects.toMatchObject({
		code: "not_found",
	});
});

test("an author who became a viewer can neither correct nor withdraw", async () => {
	const author = await tools.makeUser({ [tools.organizationId]: "member" });
	const made = await commentOf(author);
	await tools.use("updateMember", {
		organization_id: tools.organizationId,
		user_id: author.id,
		role: "viewer",
	});
	for (const call of [
		() => correct(author, made.id),
		() => as(author, "withdrawComment", { id: made.id }),
	]) {
		await expect(call()).rejects.toMatchObject({ code: "forbidden" });
	}
});

test("a comment can be corrected for 15 minutes, and withdrawn later too", async () => {
	const made = await commentOf(tools.member);
	await age(made.id, 14);
	await correct(tools.member, made.id);
	await age(made.id, 16);
	await expect(
		correct(tools.member, made.id, { text: "Ask Eve" }),
	).rejects.toMatchObject({
		code: "bad_request",
		message: expect.stringContaining("15 minutes"),
	});
	expect(await as(tools.member, "withdrawComment", { id: made.id })).toEqual({
		deleted_comment_id: made.id,
	});
	const { total } = await tools.use("listComments", {
		record_id: made.record_id,
	});
	expect(total).toBe(0);
	expect((await historyOf(made.record_id))[0]).toEqual([
		"withdrawComment",
		{ comment: { before: "Ask Ada" } },
	]);
});

test("a correction changes whom the comment mentions, and only members can be mentioned", async () => {
	const { admin, member, viewer, stranger } = tools;
	const made = await commentOf(member, { mentioned_user_ids: [viewer.id] });
	await expect(
		correct(member, made.id, { mentioned_user_ids: [stranger.id] }),
	).rejects.toMatchObject({ code: "bad_request" });
	const { comment } = await correct(member, made.id, {
		text: made.text,
		mentioned_user_ids: [admin.id],
	});
	expect(comment.mentioned).toMatchObject([{ user_id: admin.id }]);
	const { is_watching } = await tools.use("listComments", {
		record_id: made.record_id,
	});
	expect(is_watching).toBe(true);
	// Without the argument, the mentions stay.
	expect((await correct(member, made.id)).comment.mentioned).toMatchObject([
		{ user_id: admin.id },
	]);
});
