import { createHash } from "node:crypto";
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
/** The people of the member and of the approver. */
let people: { member: string; approver: string };
beforeAll(async () => {
	tools = await shareTools();
	const personOf = async ({ id }: { id: string }) => {
		const { members } = await tools.use("listMembers", here());
		const { email, name } = members.find((one: Json) => one.user_id === id);
		const { people } = await tools.use("addPeople", {
			...here(),
			full_name: name,
			kind: "EMPLOYEE",
			primary_email_address: email,
		});
		return people.id;
	};
	approver = await tools.makeUser({ [tools.organizationId]: "member" });
	people = {
		member: await personOf(tools.member),
		approver: await personOf(approver),
	};
});
afterAll(() => tools.close());

const here = () => ({ organization_id: tools.organizationId });

const addDocument = async (more: object = {}): Promise<string> =>
	(
		await tools.use("addDocument", {
			...here(),
			title: "Access policy",
			document_type: "POLICY",
			classification: "INTERNAL",
			...more,
		})
	).document.id;

const draft = async (document_id: string, content?: string): Promise<Json> =>
	(
		await tools.use(
			"createDraftDocumentVersion",
			{ document_id, ...(content !== undefined && { content }) },
			tools.member.token,
		)
	).document_version;

const read = async (id: string): Promise<Json> =>
	(await tools.use("getDocumentVersion", { id })).document_version;

const sha256 = (text: string) =>
	createHash("sha256").update(text).digest("hex");

test("a draft is written, published at once without approvers, and the next one begins with its text", async () => {
	const id = await addDocument({ review_interval_months: 6 });
	const first = await draft(id, "# Access\n\nNobody shares a password.");
	expect(first).toMatchObject({
		version_number: 1,
		status: "DRAFT",
		content_hash: null,
	});
	await tools.use("updateDocumentVersion", {
		id: first.id,
		content: "# Access\n\nNobody shares a key.",
		changelog: "Keys instead of passwords",
		if_updated_at: first.updated_at,
	});
	const { document_version: published } = await tools.use(
		"requestDocumentVersionApproval",
		{ id: first.id },
		tools.member.token,
	);
	expect(published).toMatchObject({
		status: "PUBLISHED",
		content_hash: sha256("# Access\n\nNobody shares a key."),
		published_at: expect.any(String),
	});
	const { document } = await tools.use("getDocument", { id });
	expect(document).toMatchObject({ published_version: 1, open_version: null });
	expect(document.next_review_on).toMatch(/^\d{4}-\d\d-\d\d$/);
	const second = await draft(id);
	expect(second).toMatchObject({
		version_number: 2,
		content: "# Access\n\nNobody shares a key.",
	});
	// A new text is a change of the document.
	const { document: after } = await tools.use("getDocument", { id });
	expect(after.updated_at > document.updated_at).toBe(true);
	const { document_versions: versions } = await tools.use(
		"listDocumentVersions",
		{ document_id: id },
		tools.viewer.token,
	);
	expect(versions.map((one: Json) => one.version_number)).toEqual([2, 1]);
	expect(versions[0]).not.toHaveProperty("content");
});

test("a published version never changes, not even for the owner of the database's tables", async () => {
	const { id } = await draft(await addDocument(), "Text");
	await tools.use("publishDocumentVersion", { id });
	for (const [tool, input] of [
		["updateDocumentVersion", { content: "Other" }],
		["deleteDraftDocumentVersion", {}],
		["publishDocumentVersion", {}],
		["requestDocumentVersionApproval", {}],
	] as const) {
		const { status, body } = await tools.call(tool, { id, ...input });
		expect([tool, status, body.message]).toEqual([
			tool,
			409,
			expect.stringContaining("version 1 is PUBLISHED"),
		]);
	}
	await expect(
		tools.database.owner.query(
			"update document_versions set content = 'Other' where id = $1",
			[id],
		),
	).rejects.toThrow("a published version never changes");
	expect((await read(id)).content).toBe("Text");
});

test("two editors of one draft do not overwrite each other, and a document has one draft", async () => {
	const document_id = await addDocument();
	const begun = await draft(document_id, "One");
	const save = (content: string) =>
		tools.call("updateDocumentVersion", {
			id: begun.id,
			content,
			if_updated_at: begun.updated_at,
		});
	expect((await save("Two")).status).toBe(200);
	expect((await save("Three")).status).toBe(409);
	expect((await read(begun.id)).content).toBe("Two");
	const drafts = await Promise.all(
		[1, 2, 3].map(() =>
			tools.call("createDraftDocumentVersion", { document_id }),
		),
	);
	expect(drafts.map(({ status }) => status)).toEqual([409, 409, 409]);
	await tools.use("deleteDraftDocumentVersion", { id: begun.id });
	const begunAtOnce = await Promise.all(
		[1, 2, 3].map(() =>
			tools.call("createDraftDocumentVersion", { document_id, content: "x" }),
		),
	);
	expect(begunAtOnce.map(({ status }) => status).sort()).toEqual([
		200, 409, 409,
	]);
});

test("a version that is published twice at once is published once", async () => {
	const { id } = await draft(await addDocument(), "Text");
	const answers = await Promise.all(
		[1, 2, 3].map(() => tools.call("publishDocumentVersion", { id })),
	);
	expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
});

test("all approvers must approve, and a rejection makes it a draft whose approvals begin anew", async () => {
	const document_id = await addDocument({
		approver_ids: [people.approver],
	});
	const { id } = await draft(document_id, "Text");
	expect((await tools.call("publishDocumentVersion", { id })).status).toBe(409);
	await tools.use("requestDocumentVersionApproval", { id });
	expect((await read(id)).status).toBe("PENDING_APPROVAL");
	const changed = await tools.call("updateDocumentVersion", {
		id,
		content: "Other",
	});
	expect(changed.status).toBe(409);
	// The administrator is not an approver.
	expect((await tools.call("approveDocumentVersion", { id })).status).toBe(403);
	await tools.use(
		"rejectDocumentVersion",
		{ id, note: "Too short" },
		approver.token,
	);
	const rejected = await read(id);
	expect(rejected).toMatchObject({
		status: "DRAFT",
		approvals: [{ decision: "REJECTED", is_current: false, note: "Too short" }],
	});
	await tools.use("updateDocumentVersion", { id, content: "Longer text" });
	await tools.use("requestDocumentVersionApproval", { id });
	const { document_version: published } = await tools.use(
		"approveDocumentVersion",
		{ id },
		approver.token,
	);
	expect(published).toMatchObject({
		status: "PUBLISHED",
		approvals: [
			{ decision: "REJECTED" },
			{ decision: "APPROVED", is_current: true, person_id: people.approver },
		],
	});
});

test("an approver who cannot approve is named before anybody waits, and a removed one is not waited for", async () => {
	const { people: stranger } = await tools.use("addPeople", {
		...here(),
		full_name: "Linus",
		kind: "CONTRACTOR",
		primary_email_address: "linus@example.com",
	});
	const document_id = await addDocument({
		approver_ids: [people.member, stranger.id],
	});
	const { id } = await draft(document_id, "Text");
	const { status, body } = await tools.call("requestDocumentVersionApproval", {
		id,
	});
	expect(status).toBe(400);
	expect(body.message).toContain("wrote this version and cannot approve it");
	expect(body.message).toContain("Linus has no account here that may approve");
	const waiting = await read(id);
	expect(waiting.status).toBe("DRAFT");
	expect(waiting.approval_obstacles).toHaveLength(2);
	expect(body.message).toContain(waiting.approval_obstacles.join("; "));

	await tools.use("updateDocument", {
		id: document_id,
		approver_ids: [people.approver],
	});
	expect((await read(id)).approval_obstacles).toEqual([]);
	await tools.use("requestDocumentVersionApproval", { id });
	await tools.use("updateDocument", { id: document_id, approver_ids: [] });
	const { document_version } = await tools.use("publishDocumentVersion", {
		id,
	});
	expect(document_version.status).toBe("PUBLISHED");
});

test("an empty version, a text that is too long and a foreign id are refused", async () => {
	const document_id = await addDocument();
	const { id } = await draft(document_id);
	const published = await tools.call("publishDocumentVersion", { id });
	expect([published.status, published.body.message]).toEqual([
		400,
		expect.stringContaining("no content yet"),
	]);
	const long = await tools.call("updateDocumentVersion", {
		id,
		content: "x".repeat(200_001),
	});
	expect([long.status, long.body.message]).toEqual([
		400,
		expect.stringContaining("content"),
	]);
	const foreign = await tools.call(
		"getDocumentVersion",
		{ id },
		tools.stranger.token,
	);
	expect(foreign.status).toBe(404);
});

test("the history of a document names who published which version", async () => {
	const id = await addDocument();
	const { id: version } = await draft(id, "Text");
	await tools.use("publishDocumentVersion", { id: version });
	const { changes } = await tools.use("getRecordHistory", { id });
	expect(JSON.stringify(changes)).toContain("version_1_status");
	expect(JSON.stringify(changes)).toContain(sha256("Text"));
});

test("a call that approves and publishes has one entry in the audit log", async () => {
	const document_id = await addDocument({
		approver_ids: [people.approver],
		review_interval_months: 12,
	});
	const { id } = await draft(document_id, "Text");
	await tools.use("requestDocumentVersionApproval", { id });
	await tools.use("approveDocumentVersion", { id }, approver.token);
	const { audit_entries: entries } = await tools.use("listAuditLog", {
		...here(),
		filter: { record_id: document_id, operation: "approveDocumentVersion" },
	});
	expect(entries).toHaveLength(1);
	expect(Object.keys(entries[0].changes).sort()).toEqual([
		"next_review_on",
		"version_1_approval",
		"version_1_content_hash",
		"version_1_status",
	]);
});
