import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";
import { type Json, startTools, type TestTools } from "../support/tools.ts";

let sink: SmtpSink;
let tools: TestTools;
/** The people of the viewer and of somebody without an account. */
let viewer: { id: string; email: string };
let outsider: string;
beforeAll(async () => {
	sink = await openSmtpSink();
	tools = await startTools(undefined, {
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	const { members } = await add("listMembers", {});
	const { email } = members.find(
		(one: Json) => one.user_id === tools.viewer.id,
	);
	viewer = { id: await addPerson(email), email };
	outsider = await addPerson("otto@example.com");
});
beforeEach(() => tools.database.owner.query("delete from mails"));
afterAll(async () => {
	await tools.close();
	sink.close();
});

const add = (tool: string, input: object): Promise<Json> =>
	tools.use(tool, { organization_id: tools.organizationId, ...input });

const addPerson = async (primary_email_address: string): Promise<string> =>
	(
		await add("addPeople", {
			full_name: "Vera",
			kind: "EMPLOYEE",
			primary_email_address,
		})
	).people.id;

async function draft(more: object = {}): Promise<Json> {
	const { document } = await add("addDocument", {
		title: "Acceptable use",
		document_type: "POLICY",
		classification: "INTERNAL",
		...more,
	});
	const { document_version } = await tools.use(
		"createDraftDocumentVersion",
		{ document_id: document.id, content: "A secret text" },
		tools.member.token,
	);
	return document_version;
}

async function publishAndAsk(person_ids: string[]): Promise<Json> {
	const version = await draft();
	await tools.use("publishDocumentVersion", { id: version.id });
	await tools.use("requestDocumentVersionSignature", {
		document_version_id: version.id,
		person_ids,
	});
	return version;
}

const states = async () =>
	(
		await tools.database.owner.query<{ state: string }>(
			"select state from mails order by created_at",
		)
	).rows.map(({ state }) => state);

/** Makes the waiting mails due, and wakes the mailer as a new mail does. */
async function hurry() {
	await tools.database.owner.query(
		"update mails set due_at = now() where state = 'QUEUED'",
	);
	tools.service.wake();
}

test("a member who is asked to sign gets one mail with a link and without the text, and nobody else does", async () => {
	const version = await publishAndAsk([viewer.id, outsider]);
	await tools.use("requestDocumentVersionSignature", {
		document_version_id: version.id,
		person_ids: [viewer.id],
	});
	expect(await states()).toEqual(["QUEUED"]);
	await hurry();
	const mail = await sink.next();
	expect(mail.to).toBe(viewer.email);
	expect(mail.text).toContain(
		'version 1 of "Acceptable use" waits for your signature',
	);
	expect(mail.text).toContain(
		`/o/${tools.organizationId}/r/document/${version.document_id}?show=${version.id}`,
	);
	expect(mail.text).not.toContain("secret text");
});

test("an approver gets a mail", async () => {
	const approver = await tools.makeUser({ [tools.organizationId]: "member" });
	const { members } = await add("listMembers", {});
	const { email } = members.find((one: Json) => one.user_id === approver.id);
	const { id } = await draft({ approver_ids: [await addPerson(email)] });
	await tools.use("requestDocumentVersionApproval", { id });
	await hurry();
	const mail = await sink.next();
	expect(mail.to).toBe(email);
	expect(mail.text).toContain("waits for your approval");
});

test("no mail goes out if the request is cancelled meanwhile", async () => {
	const version = await publishAndAsk([viewer.id]);
	const { document_version_signatures: signatures } = await tools.use(
		"listDocumentVersionSignatures",
		{ document_version_id: version.id },
	);
	await tools.use("cancelSignatureRequest", { id: signatures[0].id });
	await hurry();
	await expect.poll(states).toEqual(["NOT_NEEDED"]);
	expect(sink.waiting()).toBe(0);
});
