import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
	type Json,
	shareTools,
	type TestTools,
	type TestUser,
} from "../support/tools.ts";

let tools: TestTools;
/** Another member, who approves. */
let approver: TestUser;
/** The person of the approver. */
let person: string;
beforeAll(async () => {
	tools = await shareTools();
	approver = await tools.makeUser({ [tools.organizationId]: "member" });
	const { members } = await tools.use("listMembers", here());
	const { email } = members.find((one: Json) => one.user_id === approver.id);
	({
		people: { id: person },
	} = await tools.use("addPeople", {
		...here(),
		full_name: "Omar",
		kind: "EMPLOYEE",
		primary_email_address: email,
	}));
});
afterAll(() => tools.close());

const here = () => ({ organization_id: tools.organizationId });

const addDocument = async (approver_ids = [person]): Promise<string> =>
	(
		await tools.use("addDocument", {
			...here(),
			title: "Access policy",
			document_type: "POLICY",
			classification: "INTERNAL",
			approver_ids,
		})
	).document.id;

/** Begins a version as the administrator. */
const draft = async (document_id: string): Promise<string> =>
	(
		await tools.use("createDraftDocumentVersion", {
			document_id,
			content: "Nobody shares a password.",
		})
	).document_version.id;

const change = (id: string, input: object, { token } = approver) =>
	tools.use("updateDocumentVersion", { id, ...input }, token);

const obstacles = async (id: string): Promise<string[]> =>
	(await tools.use("getDocumentVersion", { id })).document_version
		.approval_obstacles;

test("an approver who changed the text of a draft cannot approve it, also after others changed it", async () => {
	const id = await draft(await addDocument());
	await change(id, { content: "Everybody shares passwords." });
	expect(await obstacles(id)).toEqual([
		"Omar changed the text of this version and cannot approve it",
	]);
	await change(id, { content: "Nobody shares a key." }, tools.member);
	const { status, body } = await tools.call(
		"requestDocumentVersionApproval",
		{ id },
		approver.token,
	);
	expect([status, body.message]).toEqual([
		400,
		expect.stringContaining("Omar changed the text of this version"),
	]);
});

test("an editor who becomes an approver while a version waits cannot approve it", async () => {
	const { people: other } = await tools.use("addPeople", {
		...here(),
		full_name: "Max",
		kind: "EMPLOYEE",
		primary_email_address: (
			await tools.use("listMembers", here())
		).members.find((one: Json) => one.user_id === tools.member.id).email,
	});
	const document_id = await addDocument([other.id]);
	const id = await draft(document_id);
	await change(id, { content: "Everybody shares passwords." });
	await change(id, { content: "Everybody shares all passwords." });
	await tools.use("requestDocumentVersionApproval", { id }, approver.token);
	await tools.use(
		"updateDocument",
		{ id: document_id, approver_ids: [other.id, person] },
		approver.token,
	);
	const { status, body } = await tools.call(
		"approveDocumentVersion",
		{ id },
		approver.token,
	);
	expect([status, body.message]).toEqual([
		403,
		expect.stringContaining(
			"permission denied: you changed the text of this version, so somebody else must approve it",
		),
	]);
	const { rows } = await tools.database.owner.query(
		"select editor_ids::text[] from document_versions where id = $1",
		[id],
	);
	expect(rows).toEqual([{ editor_ids: [approver.id] }]);
});

test("the author's changes, and those that leave the text as it is, make nobody an editor", async () => {
	const id = await draft(await addDocument());
	await change(id, { content: "Nobody shares a key." }, tools.admin);
	await change(id, { content: "Nobody shares a key.", changelog: "Keys" });
	await change(id, { asks_again: true });
	expect(await obstacles(id)).toEqual([]);
	await tools.use("requestDocumentVersionApproval", { id });
	const { document_version: published } = await tools.use(
		"approveDocumentVersion",
		{ id },
		approver.token,
	);
	expect(published.status).toBe("PUBLISHED");
});

test("the migration takes the editors of an open version from the audit log", async () => {
	const id = await draft(await addDocument());
	await change(id, { content: "Nobody shares a key." });
	await change(id, { changelog: "Keys" }, tools.member);
	await change(id, { content: "Nobody shares anything." }, tools.admin);
	const { owner } = tools.database;
	const sql = await readFile("sql/0122_editors_of_versions.sql", "utf8");
	const [, backfill = ""] =
		/^(update document_versions [^;]+;)/m.exec(sql) ?? [];
	await owner.query(
		"update document_versions set editor_ids = '{}' where id = $1",
		[id],
	);
	expect(await obstacles(id)).toEqual([]);
	await owner.query(backfill);
	const { rows } = await owner.query(
		"select editor_ids::text[] from document_versions where id = $1",
		[id],
	);
	expect(rows).toEqual([{ editor_ids: [approver.id] }]);
});

const setApprovers = (
	id: string,
	approver_ids: string[],
	{ token } = approver,
) => tools.call("updateDocument", { id, approver_ids }, token);

const addStranger = async (): Promise<string> =>
	(
		await tools.use("addPeople", {
			...here(),
			full_name: "Linus",
			kind: "CONTRACTOR",
			primary_email_address: "linus@example.com",
		})
	).people.id;

test("a member adds approvers, and cannot remove or replace those of a document with a version", async () => {
	const document_id = await addDocument();
	expect((await setApprovers(document_id, [])).status).toBe(200);
	expect((await setApprovers(document_id, [person])).status).toBe(200);
	const id = await draft(document_id);
	const other = await addStranger();
	for (const ids of [[], [other]]) {
		const { status, body } = await setApprovers(document_id, ids);
		expect([status, body.message]).toEqual([
			403,
			"permission denied: approver_ids: the document has a version already, so only an administrator can remove its approvers",
		]);
	}
	expect((await setApprovers(document_id, [other, person])).status).toBe(200);
	await tools.use("updateDocument", { id: document_id, title: "Access" });
	const publish = () =>
		tools.call("publishDocumentVersion", { id }, approver.token);
	expect((await publish()).status).toBe(409);
	expect((await setApprovers(document_id, [], tools.admin)).status).toBe(200);
	expect((await publish()).status).toBe(200);
	expect((await setApprovers(document_id, [person])).status).toBe(200);
	// The next version needs the approval too.
	expect((await setApprovers(document_id, [])).status).toBe(403);
});
