import { afterAll, beforeAll, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

async function makeRisk(): Promise<string> {
	const { risk } = await tools.use("addRisk", {
		organization_id: tools.organizationId,
		name: "Theft",
		category: "Sites",
		treatment: "MITIGATED",
		inherent_likelihood: 3,
		inherent_impact: 3,
	});
	return risk.id;
}

const comment = (token: string, record_id: string, more: object = {}) =>
	tools.use("addComment", { record_id, text: "Is it so?", ...more }, token);
const list = (token: string, record_id: string, more: object = {}) =>
	tools.use("listComments", { record_id, ...more }, token);
const news = async (token: string) =>
	(
		await tools.use(
			"getOverview",
			{ organization_id: tools.organizationId },
			token,
		)
	).discussion;

test("members comment on records and devices, and everybody reads them, newest first and page by page", async () => {
	const record_id = await makeRisk();
	for (const text of ["One", "Two\nlines", "Three"]) {
		await comment(tools.member.token, record_id, { text });
	}
	const first = await list(tools.viewer.token, record_id, { size: 2 });
	expect(first).toMatchObject({ total: 3, is_watching: false });
	const { next_cursor: cursor } = first;
	const second = await list(tools.viewer.token, record_id, { size: 2, cursor });
	const texts = [...first.comments, ...second.comments].map(({ text }) => text);
	expect(texts).toEqual(["Three", "Two\nlines", "One"]);
	expect(second.next_cursor).toBeNull();
	const { device } = await tools.use("addDevice", {
		organization_id: tools.organizationId,
	});
	await comment(tools.member.token, device.id);
	expect((await list(tools.viewer.token, device.id)).total).toBe(1);
});

test("a viewer may neither comment nor watch: 403", async () => {
	const record_id = await makeRisk();
	const { token } = tools.viewer;
	for (const [tool, input] of [
		["addComment", { record_id, text: "No" }],
		["watchRecord", { record_id }],
		["unwatchRecord", { record_id }],
	] as const) {
		expect((await tools.call(tool, input, token)).status, tool).toBe(403);
	}
});

test("a member watches a record and stops watching it, as often as wanted", async () => {
	const record_id = await makeRisk();
	const { token } = tools.member;
	for (const tool of ["watchRecord", "unwatchRecord"]) {
		await tools.use(tool, { record_id }, token);
		await tools.use(tool, { record_id }, token);
		const { is_watching } = await list(token, record_id);
		expect(is_watching).toBe(tool === "watchRecord");
	}
});

test("an administrator deletes a comment, and the record's history keeps it", async () => {
	const record_id = await makeRisk();
	const { token } = tools.member;
	const { comment: made } = await comment(token, record_id, { text: "Wrong" });
	const remove = (by?: string) =>
		tools.call("deleteComment", { id: made.id }, by);
	expect((await remove(token)).status).toBe(403);
	expect((await remove()).status).toBe(200);
	expect((await remove()).status).toBe(404);
	expect((await list(tools.viewer.token, record_id)).total).toBe(0);
	const { changes } = await tools.use("getRecordHistory", { id: record_id });
	expect(JSON.stringify(changes)).toContain("Wrong");
});

test("news are comments of others that mention me or are on records that I watch", async () => {
	const organization_id = tools.organizationId;
	const ada = await tools.makeUser({ [organization_id]: "member" });
	const bob = await tools.makeUser({ [organization_id]: "member" });
	const record_id = await makeRisk();
	await comment(ada.token, record_id, { text: "First" });
	expect(await news(ada.token)).toEqual([]);
	expect(await news(bob.token)).toEqual([]);
	const { comment: second } = await comment(ada.token, record_id, {
		text: "Second",
		mentioned_user_ids: [bob.id],
	});
	expect(second.mentioned).toMatchObject([{ user_id: bob.id }]);
	// Bob watches the record now, so the first comment is news as well.
	expect(await news(bob.token)).toMatchObject([
		{ text: "Second", is_mention: true, record_name: "Theft", kind: "risk" },
		{ text: "First", is_mention: false },
	]);
	await tools.use("unwatchRecord", { record_id }, bob.token);
	expect(await news(bob.token)).toMatchObject([{ text: "Second" }]);
	await comment(bob.token, record_id, { text: "Answer" });
	expect(await news(ada.token)).toMatchObject([{ text: "Answer" }]);
	expect(await news(tools.viewer.token)).toEqual([]);
});

test("a mention of somebody who is no member is refused, and the error names it", async () => {
	const record_id = await makeRisk();
	const stored = await tools.call(
		"addComment",
		{
			record_id,
			text: "Hello",
			mentioned_user_ids: [tools.member.id, tools.stranger.id],
		},
		tools.member.token,
	);
	expect(stored).toMatchObject({
		status: 400,
		body: { fields: [{ field: "mentioned_user_ids[1]" }] },
	});
	for (const text of ["", " \n ", "x".repeat(5001), "a\u0007"]) {
		const { status, body } = await tools.call("addComment", {
			record_id,
			text,
		});
		expect([status, body.fields[0].field]).toEqual([400, "text"]);
	}
	expect((await list(tools.viewer.token, record_id)).total).toBe(0);
});

test("another organization's record, a record that is gone and a framework's id of nobody answer alike: 404", async () => {
	const record_id = await makeRisk();
	await comment(tools.member.token, record_id);
	const { token } = tools.stranger;
	for (const tool of ["listComments", "watchRecord"]) {
		const answer = await tools.call(tool, { record_id }, token);
		expect(answer.status).toBe(404);
	}
	const missing = makeId(tools.organizationId, "risk");
	for (const tool of ["listComments", "watchRecord"]) {
		const { status } = await tools.call(tool, { record_id: missing });
		expect(status).toBe(404);
	}
});

test("comments and watches go with their record, and watches with the membership", async () => {
	const organization_id = tools.organizationId;
	const leaver = await tools.makeUser({ [organization_id]: "member" });
	const [gone, kept] = [await makeRisk(), await makeRisk()];
	for (const id of [gone, kept]) await comment(leaver.token, id);
	await tools.use("deleteRisk", { id: gone });
	const left = async (table: string) =>
		(
			await tools.database.owner.query(
				`select from ${table} where record_id = any($1)`,
				[[gone, kept]],
			)
		).rowCount;
	expect([await left("record_comments"), await left("record_watches")]).toEqual(
		[1, 1],
	);
	await tools.use("removeMember", { organization_id, user_id: leaver.id });
	expect([await left("record_comments"), await left("record_watches")]).toEqual(
		[1, 0],
	);
});

test("a record has at most 1,000 comments", async () => {
	const record_id = await makeRisk();
	await tools.database.owner.query(
		`insert into record_comments (organization_id, id, record_id, record_kind, author_id, author_name, text)
		select $1, left($2, 28) || to_char(n, 'FM0000'), $2, 'risk', $3, 'Ada', 'Again'
		from generate_series(1, 1000) n`,
		[tools.organizationId, record_id, tools.member.id],
	);
	const { status, body } = await tools.call("addComment", {
		record_id,
		text: "One more",
	});
	expect([status, body.message]).toEqual([
		400,
		expect.stringContaining("1000"),
	]);
});
