import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { sendTo } from "../support/console-client.ts";
import {
	type Session,
	startConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";

let sink: SmtpSink;
let served: TestConsole;
let member: Session;
let viewer: Session;
beforeAll(async () => {
	sink = await openSmtpSink();
	served = await startConsole({
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	member = await served.signIn("member");
	viewer = await served.signIn("viewer");
});
afterAll(async () => {
	await served.close();
	sink.close();
});
beforeEach(async () => {
	await served.database.owner.query("delete from mails");
});

let count = 0;
async function addPerson(email = `otto.${++count}@example.com`) {
	const { people } = await member.use("addPeople", {
		organization_id: served.organizationId,
		full_name: `Otto ${count}`,
		kind: "EMPLOYEE",
		primary_email_address: email,
	});
	return people.id as string;
}

/** Asks people to sign a document some days ago. Their mails are gone. */
async function askBefore(days: number, person_ids: string[]) {
	const { document } = await member.use("addDocument", {
		organization_id: served.organizationId,
		title: "Visitors",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const { document_version: version } = await member.use(
		"createDraftDocumentVersion",
		{ document_id: document.id, content: "Visitors wear a badge." },
	);
	await member.use("publishDocumentVersion", { id: version.id });
	await member.use("requestDocumentVersionSignature", {
		document_version_id: version.id,
		person_ids,
	});
	await age(version.id, "requested_at", `${days} days`);
	await served.database.owner.query("delete from mails");
	return { document_version_id: version.id as string };
}

const age = (version: string, column: string, by: string) =>
	served.database.owner.query(
		`update document_signatures set ${column} = now() - $2::interval where version_id = $1`,
		[version, by],
	);

async function nextMail() {
	await served.database.owner.query(
		"update mails set due_at = now() where state = 'QUEUED' and attempts = 0",
	);
	served.service.wake();
	return sink.next();
}

const queued = async () =>
	(await served.database.owner.query("select from mails")).rowCount;

test("a reminder makes the link of somebody without an account work again", async () => {
	const otto = await addPerson();
	const asked = await askBefore(31, [otto]);
	const { reminded_person_ids, more } = await member.use(
		"remindSigners",
		asked,
	);
	expect([reminded_person_ids, more]).toEqual([[otto], 0]);
	const mail = await nextMail();
	expect(mail.text).toContain("Reminder: a document waits for your signature");
	const token = /sign-document#(\S+)/.exec(mail.text)?.[1] ?? "";
	const read = () =>
		sendTo(served.service.url, "/api/sign-document/read", { token });
	const { status, body } = await read();
	expect([status, body.content]).toEqual([200, "Visitors wear a badge."]);
	const { document_version_signatures: signatures } = await viewer.use(
		"listDocumentVersionSignatures",
		asked,
	);
	expect(signatures).toMatchObject([{ reminded_at: expect.any(String) }]);
	await age(asked.document_version_id, "reminded_at", "31 days");
	expect((await read()).status).toBe(400);
});

test("all are reminded at most once a day, one person once an hour, and who cannot sign never", async () => {
	const left = await addPerson();
	await member.use("updatePeople", {
		id: left,
		contract_end_date: "2020-01-01",
	});
	const people = [
		await addPerson(),
		await addPerson(viewer.user.email),
		await addPerson(),
	];
	const asked = await askBefore(2, [...people, left]);
	const first = await member.use("remindSigners", {
		...asked,
		person_ids: people.slice(2),
	});
	expect(first.reminded_person_ids).toEqual(people.slice(2));
	const second = await member.use("remindSigners", asked);
	expect(second.reminded_person_ids.toSorted()).toEqual(
		people.slice(0, 2).toSorted(),
	);
	expect(await queued()).toBe(3);
	const nobody = { reminded_person_ids: [], more: 0 };
	expect(await member.use("remindSigners", asked)).toEqual(nobody);
	const one = { ...asked, person_ids: people.slice(0, 1) };
	expect(await member.use("remindSigners", one)).toEqual(nobody);
	await age(asked.document_version_id, "reminded_at", "2 hours");
	expect(await member.use("remindSigners", asked)).toEqual(nobody);
	expect((await member.use("remindSigners", one)).reminded_person_ids).toEqual(
		one.person_ids,
	);
	const { changes } = await member.use("getRecordHistory", {
		id: (
			await member.use("getDocumentVersion", { id: asked.document_version_id })
		).document_version.document_id,
	});
	expect(changes[0].changes).toEqual({
		version_1_signers_reminded: { after: 1 },
	});
});

test("a viewer reminds nobody, and nobody is reminded of a version that is no longer in force", async () => {
	const asked = await askBefore(2, [await addPerson()]);
	expect((await viewer.call("remindSigners", asked)).status).toBe(403);
	const { document_version } = await member.use("getDocumentVersion", {
		id: asked.document_version_id,
	});
	const { document_version: next } = await member.use(
		"createDraftDocumentVersion",
		{ document_id: document_version.document_id },
	);
	await member.use("publishDocumentVersion", { id: next.id });
	expect((await member.call("remindSigners", asked)).status).toBe(409);
	expect(await queued()).toBe(0);
});
