import { afterAll, beforeAll, expect, test } from "vitest";
import {
	type Session,
	shareConsole,
	type TestConsole,
} from "../support/console-session.ts";

let served: TestConsole;
let admin: Session;
let author: Session;
let editor: Session;
let other: Session;
let approver: Session;
let person: string;
beforeAll(async () => {
	served = await shareConsole();
	admin = await served.signIn("admin");
	author = await served.signIn("member");
	editor = await served.signIn("member");
	other = await served.signIn("member");
	approver = await served.signIn("member");
	const { people } = await admin.use("addPeople", {
		organization_id: served.organizationId,
		full_name: "Omar",
		kind: "EMPLOYEE",
		primary_email_address: approver.user.email,
	});
	person = people.id;
});
afterAll(() => served.close());

/** Lets the author write a version, which the editor changes, and asks for its approval. */
async function ask(): Promise<string> {
	const { document } = await author.use("addDocument", {
		organization_id: served.organizationId,
		title: "Access policy",
		document_type: "POLICY",
		classification: "INTERNAL",
		approver_ids: [person],
	});
	const { document_version } = await author.use("createDraftDocumentVersion", {
		document_id: document.id,
		content: "Nobody shares a pasword.",
	});
	const { id } = document_version;
	await editor.use("updateDocumentVersion", { id, content: "Nobody shares." });
	await author.use("requestDocumentVersionApproval", { id });
	return id;
}

const read = async (id: string, by: Session) =>
	(await by.use("getDocumentVersion", { id })).document_version;

test("the author takes back a version that waits, corrects it, and asks again", async () => {
	const id = await ask();
	expect(await read(id, author)).toMatchObject({
		may_take_back: true,
		may_reject: false,
	});
	const { document_version: taken } = await author.use(
		"withdrawDocumentVersion",
		{ id, note: "A typing mistake" },
	);
	expect(taken).toMatchObject({
		status: "DRAFT",
		may_take_back: false,
		approvals: [],
	});
	const { changes } = await admin.use("getRecordHistory", {
		id: taken.document_id,
	});
	expect(changes[0].changes).toEqual({
		version_1_status: { before: "PENDING_APPROVAL", after: "DRAFT" },
		version_1_approval: {
			after: { decision: "TAKEN_BACK", note: "A typing mistake" },
		},
	});
	await author.use("updateDocumentVersion", { id, content: "Nobody shares." });
	await author.use("requestDocumentVersionApproval", { id });
	const { document_version: published } = await approver.use(
		"approveDocumentVersion",
		{ id },
	);
	expect(published.status).toBe("PUBLISHED");
});

test("those who changed the text and administrators take it back, and nobody else does", async () => {
	for (const by of [editor, admin]) {
		const id = await ask();
		await by.use("withdrawDocumentVersion", { id });
		expect((await read(id, by)).status).toBe("DRAFT");
		expect((await by.call("withdrawDocumentVersion", { id })).status).toBe(409);
	}
	const id = await ask();
	for (const by of [other, approver]) {
		expect((await read(id, by)).may_take_back).toBe(false);
		const { status, body } = await by.call("withdrawDocumentVersion", { id });
		expect([status, body.message]).toEqual([
			403,
			expect.stringContaining("an approver rejects it"),
		]);
	}
	expect((await read(id, approver)).may_reject).toBe(true);
});

test("an approval that was given before a version is taken back does not count for the next text", async () => {
	const second = await served.signIn("member");
	const { people } = await admin.use("addPeople", {
		organization_id: served.organizationId,
		full_name: "Zoe",
		kind: "EMPLOYEE",
		primary_email_address: second.user.email,
	});
	const id = await ask();
	const { document_id } = await read(id, admin);
	await admin.use("updateDocument", {
		id: document_id,
		approver_ids: [person, people.id],
	});
	await approver.use("approveDocumentVersion", { id });
	// Who has approved may still change their mind.
	expect((await read(id, approver)).may_reject).toBe(true);
	await author.use("withdrawDocumentVersion", { id });
	expect((await read(id, admin)).approvals).toMatchObject([
		{ decision: "APPROVED", is_current: false },
	]);
	await author.use("requestDocumentVersionApproval", { id });
	await second.use("approveDocumentVersion", { id });
	expect((await read(id, admin)).status).toBe("PENDING_APPROVAL");
});
