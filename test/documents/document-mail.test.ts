import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { sendTo } from "../support/console-client.ts";
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

/**
 * Makes the waiting mails due, and wakes the mailer as a new mail does. A mail that is being sent would
 * be sent twice.
 */
async function hurry() {
	await tools.database.owner.query(
		"update mails set due_at = now() where state = 'QUEUED' and attempts = 0",
	);
	tools.service.wake();
}

test("a member who is asked to sign gets one mail with a link and without the text", async () => {
	const version = await publishAndAsk([viewer.id]);
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

/** Asks somebody without an account to sign, and returns the version and the token in the mail. */
async function askOutsider(): Promise<{ version: Json; token: string }> {
	const version = await publishAndAsk([outsider]);
	await hurry();
	const mail = await sink.next();
	expect(mail.to).toBe("otto@example.com");
	expect(mail.text).toContain("You need no account");
	expect(mail.text).not.toContain("secret text");
	const token = /sign-document#(\S+)/.exec(mail.text)?.[1] ?? "";
	return { version, token };
}

const post = (path: string, body: object) =>
	sendTo(tools.url, `/api/sign-document/${path}`, body);

test("a person without an account reads and signs by the link in the mail, once", async () => {
	const { version, token } = await askOutsider();
	const asked = async () =>
		(
			await tools.use("listDocumentVersionSignatures", {
				document_version_id: version.id,
			})
		).document_version_signatures;
	// The service notes that the mail is sent after the mail server has taken it.
	await expect.poll(asked).toMatchObject([
		{
			reach: "LINK",
			link_mailed_at: expect.any(String),
			link_copied_at: null,
		},
	]);
	const shown = await post("read", { token });
	expect([shown.status, shown.body]).toMatchObject([
		200,
		{
			title: "Acceptable use",
			content: "A secret text",
			person_name: "Vera",
			version_number: 1,
			signed_at: null,
		},
	]);
	const wrong = await post("sign", { token, content_hash: "0".repeat(64) });
	expect(wrong.status).toBe(409);
	const { content_hash } = shown.body;
	const signed = await post("sign", { token, content_hash });
	expect(signed.body.signed_at).not.toBeNull();
	const again = await post("sign", { token, content_hash });
	expect(again.body.signed_at).toBe(signed.body.signed_at);
	const { document_version_signatures: signatures } = await tools.use(
		"listDocumentVersionSignatures",
		{ document_version_id: version.id },
	);
	expect(signatures).toMatchObject([
		{ state: "SIGNED", way: "LINK", signed_by: outsider, content_hash },
	]);
	expect(signatures[0].address).toContain("127.0.0.1");
	const { audit_entries: entries } = await add("listAuditLog", {
		filter: { record_id: version.document_id, operation: "signDocumentByLink" },
	});
	expect(entries).toMatchObject([
		{
			actor_name: "a person who was asked to sign, by a link",
			changes: {
				version_1_signature: { after: { person_id: outsider, content_hash } },
			},
		},
	]);
});

test("a link that was changed, has expired, was withdrawn, or went to a former address shows nothing", async () => {
	const { version, token } = await askOutsider();
	const isRefused = async (given: string) => {
		const { status, body } = await post("read", { token: given });
		return status === 400 && /ask for a new one/.test(body.message);
	};
	const [organization, id, proof = ""] = token.split(".");
	for (const changed of [
		"",
		"x",
		`${organization}.${id}.`,
		`${organization}.${id}.${proof.slice(1)}`,
		`${organization}.${id}.${proof.replace(/^./, (one) => (one === "A" ? "B" : "A"))}`,
		`${organization}.${version.id}.${proof}`,
		`${tools.otherOrganizationId}.${id}.${proof}`,
	]) {
		expect(await isRefused(changed), changed).toBe(true);
	}
	const { owner } = tools.database;
	const setAddress = (address: string) =>
		tools.use("updatePeople", {
			id: outsider,
			primary_email_address: address,
		});
	await setAddress("new@example.com");
	expect(await isRefused(token)).toBe(true);
	await setAddress("otto@example.com");
	expect(await isRefused(token)).toBe(false);
	await owner.query(
		"update document_signatures set requested_at = now() - interval '31 days' where id = $1",
		[id],
	);
	expect(await isRefused(token)).toBe(true);
	await owner.query(
		"update document_signatures set requested_at = now() where id = $1",
		[id],
	);
	await tools.use("cancelSignatureRequest", { id });
	expect(await isRefused(token)).toBe(true);
});

/** Publishes the next version of a document. */
async function publishNext(document_id: string, more: object): Promise<Json> {
	const { document_version } = await tools.use(
		"createDraftDocumentVersion",
		{ document_id, content: "Another text", ...more },
		tools.member.token,
	);
	await tools.use("publishDocumentVersion", { id: document_version.id });
	return document_version;
}

test("the mail about a new version names and links that version, not the one that was never signed", async () => {
	const { version } = await askOutsider();
	await publishNext(version.document_id, { asks_again: true });
	await hurry();
	const mail = await sink.next();
	expect(mail.text).toContain('version 2 of "Acceptable use" waits');
	const token = /sign-document#(\S+)/.exec(mail.text)?.[1] ?? "";
	const { body } = await post("read", { token });
	expect(body).toMatchObject({ version_number: 2, content: "Another text" });
});

test("an approver who still has to sign the version in force is asked for the approval", async () => {
	const approver = await tools.makeUser({ [tools.organizationId]: "member" });
	const { members } = await add("listMembers", {});
	const { email } = members.find((one: Json) => one.user_id === approver.id);
	const person = await addPerson(email);
	const { id, document_id } = await publishAndAsk([person]);
	await hurry();
	expect((await sink.next()).text).toContain("waits for your signature");
	await tools.use("updateDocument", {
		id: document_id,
		approver_ids: [person],
	});
	const { document_version: next } = await tools.use(
		"createDraftDocumentVersion",
		{ document_id },
	);
	await tools.use("requestDocumentVersionApproval", { id: next.id });
	// Both wait, and neither mail takes the place of the other.
	const approval = 'version 2 of "Acceptable use" waits for your approval';
	await hurry();
	const mail = await sink.next();
	expect(mail.text).toContain(approval);
	expect(mail.text).toContain(`?show=${next.id}`);
	expect(mail.text).not.toContain(id);
});

test("a mail that the previous version of Assay queued is about the version that waits", async () => {
	const version = await publishAndAsk([viewer.id]);
	await tools.database.owner.query(
		"update mails set record_id = $1, record_kind = 'document'",
		[version.document_id],
	);
	await hurry();
	const mail = await sink.next();
	expect(mail.text).toContain(`?show=${version.id}`);
});

test("nobody without an account gets a link to a secret document", async () => {
	const version = await draft({ classification: "SECRET" });
	await tools.use("publishDocumentVersion", { id: version.id });
	await tools.use("requestDocumentVersionSignature", {
		document_version_id: version.id,
		person_ids: [outsider],
	});
	expect(await states()).toEqual([]);
});
