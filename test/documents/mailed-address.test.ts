import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSignToken } from "../../src/documents/sign-link.ts";
import { sendTo } from "../support/console-client.ts";
import {
	type Session,
	shareConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { SERVICE_SECRET } from "../support/service.ts";
import { timeBetweenChanges } from "../support/time-between-changes.ts";

let served: TestConsole;
let admin: Session;
let mallory: Session;
beforeAll(async () => {
	served = await shareConsole();
	admin = await served.signIn("admin");
	mallory = await served.signIn("member");
});
afterAll(() => served.close());

let count = 0;
async function addPerson(by: Session): Promise<string> {
	const { people } = await by.use("addPeople", {
		organization_id: served.organizationId,
		full_name: "Bob",
		kind: "EMPLOYEE",
		primary_email_address: `bob.${++count}@example.com`,
	});
	return people.id;
}

/** Lets the member ask a person to sign a document. Returns the request. */
async function ask(person: string) {
	const { document } = await mallory.use("addDocument", {
		organization_id: served.organizationId,
		title: "Visitors",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const { document_version: version } = await mallory.use(
		"createDraftDocumentVersion",
		{ document_id: document.id, content: "Visitors wear a badge." },
	);
	await mallory.use("publishDocumentVersion", { id: version.id });
	const asked = { document_version_id: version.id as string };
	await mallory.use("requestDocumentVersionSignature", {
		...asked,
		person_ids: [person],
	});
	const list = async (as_of?: string) =>
		(
			await admin.use("listDocumentVersionSignatures", {
				...asked,
				...(as_of && { as_of }),
			})
		).document_version_signatures;
	return { id: (await list())[0].id as string, list };
}

/** Signs by the link that the service mails to the person's address of today. */
async function signByMail(person: string, signatureId: string) {
	const { people } = await admin.use("getPeople", { id: person });
	const token = makeSignToken(
		SERVICE_SECRET,
		{ organizationId: served.organizationId, signatureId },
		people.primary_email_address,
	);
	const post = (path: string, body: object) =>
		sendTo(served.service.url, `/api/sign-document/${path}`, body);
	const { body } = await post("read", { token });
	const { content_hash } = body;
	expect((await post("sign", { token, content_hash })).status).toBe(200);
	expect(body).not.toHaveProperty("email");
	return people.primary_email_address as string;
}

const setAddress = (by: Session, id: string, primary_email_address: string) =>
	by.use("updatePeople", { id, primary_email_address });

test("a member who redirects a link before asking is named in the signature, which is marked", async () => {
	const bob = await addPerson(admin);
	await setAddress(mallory, bob, "mallory@elsewhere.example");
	const { id, list } = await ask(bob);
	const before = await timeBetweenChanges(served.database);
	await signByMail(bob, id);
	const signed = {
		way: "LINK",
		mailed_to: "mallory@elsewhere.example",
		address_set_by_name: mallory.user.name,
		address_set_at: expect.any(String),
		is_address_doubtful: true,
	};
	expect(await list()).toMatchObject([signed]);
	// The address is now closed to members, so nobody hides the trace in the register.
	const back = await mallory.call("updatePeople", {
		id: bob,
		primary_email_address: "bob@example.com",
	});
	expect(back.status).toBe(403);
	expect(await list()).toMatchObject([signed]);
	expect(await list(before)).toMatchObject([
		{ mailed_to: null, address_set_by_name: null, is_address_doubtful: false },
	]);
});

test("a member who adds a person and asks it at once is named, and the signature is marked", async () => {
	const bob = await addPerson(mallory);
	const { id, list } = await ask(bob);
	const mailed_to = await signByMail(bob, id);
	expect(await list()).toMatchObject([
		{
			mailed_to,
			address_set_by_name: mallory.user.name,
			is_address_doubtful: true,
		},
	]);
});

test("an address that an administrator set, or a member long before, is named without a mark", async () => {
	const [first, second] = [await addPerson(mallory), await addPerson(mallory)];
	await setAddress(admin, first, "bob@example.com");
	const asked = await ask(first);
	await signByMail(first, asked.id);
	expect(await asked.list()).toMatchObject([
		{
			mailed_to: "bob@example.com",
			address_set_by_name: admin.user.name,
			is_address_doubtful: false,
		},
	]);
	const later = await ask(second);
	await served.database.owner.query(
		"update document_signatures set requested_at = now() + interval '31 days' where id = $1",
		[later.id],
	);
	await signByMail(second, later.id);
	expect(await later.list()).toMatchObject([
		{ address_set_by_name: mallory.user.name, is_address_doubtful: false },
	]);
});
