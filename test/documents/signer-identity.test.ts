import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import {
	type Session,
	shareConsole,
	type TestConsole,
} from "../support/console-session.ts";

let served: TestConsole;
/** An administrator, and the member who would like to act as the administrator. */
let jonas: Session;
let omar: Session;
let organization_id: string;
/** The people who belong to both. */
let people: { jonas: string; omar: string };
beforeAll(async () => {
	served = await shareConsole();
});
afterAll(() => served.close());
beforeEach(async () => {
	organization_id = await createOrganization(served.database.pool, "Signers");
	jonas = await served.signIn("admin", organization_id);
	omar = await served.signIn("member", organization_id);
	people = {
		jonas: await addPerson("Jonas", jonas.user.email),
		omar: await addPerson("Omar", omar.user.email),
	};
});

async function addPerson(full_name: string, email: string): Promise<string> {
	const { people } = await jonas.use("addPeople", {
		organization_id,
		full_name,
		kind: "EMPLOYEE",
		primary_email_address: email,
	});
	return people.id;
}

const setAddress = (by: Session, id: string, primary_email_address: string) =>
	by.call("updatePeople", { id, primary_email_address });

const addressOf = async (id: string) =>
	(await jonas.use("getPeople", { id })).people.primary_email_address;

/** Asks a person to sign a new document. Returns the published version and the request. */
async function ask(person: string) {
	const { document } = await jonas.use("addDocument", {
		organization_id,
		title: "Acceptable use",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const { document_version: draft } = await jonas.use(
		"createDraftDocumentVersion",
		{ document_id: document.id, content: "Lock your screen." },
	);
	const { document_version: version } = await jonas.use(
		"publishDocumentVersion",
		{ id: draft.id },
	);
	await omar.use("requestDocumentVersionSignature", {
		document_version_id: version.id,
		person_ids: [person],
	});
	const { document_version_signatures: signatures } = await jonas.use(
		"listDocumentVersionSignatures",
		{ document_version_id: version.id },
	);
	return { version, request: signatures[0] };
}

const OF_MEMBER =
	"permission denied: primary_email_address: makes this person a member of the organization, so only an administrator can change it";

test("a member cannot become the person of somebody else and sign in that name", async () => {
	const { version, request } = await ask(people.jonas);
	for (const [person, address] of [
		[people.omar, "omar2@example.com"],
		[people.jonas, omar.user.email.toUpperCase()],
		[people.jonas, "jonas2@example.com"],
	] as const) {
		const { status, body } = await setAddress(omar, person, address);
		expect([status, body.message]).toEqual([403, OF_MEMBER]);
	}
	const { status } = await omar.call("signDocumentVersion", {
		id: version.id,
		content_hash: version.content_hash,
	});
	expect(status).toBe(403);
	const { document_version_signature: signature } = await jonas.use(
		"getDocumentVersionSignature",
		{ id: request.id },
	);
	expect(signature.state).toBe("REQUESTED");
	expect(await addressOf(people.jonas)).toBe(jonas.user.email);
});

test("a member cannot give somebody without an account their own address", async () => {
	const erika = await addPerson("Erika", "erika@example.com");
	const { status, body } = await setAddress(
		omar,
		erika,
		omar.user.email.toUpperCase(),
	);
	expect([status, body.message]).toEqual([
		403,
		OF_MEMBER.replace("makes", "would make"),
	]);
	expect(await addressOf(erika)).toBe("erika@example.com");
});

test("a member cannot direct a link to sign to another mailbox", async () => {
	const erika = await addPerson("Erika", "erika@example.com");
	const { request } = await ask(erika);
	const refused = await setAddress(omar, erika, "omar@elsewhere.example");
	expect([refused.status, refused.body.message]).toEqual([
		403,
		"permission denied: primary_email_address: gets the link to a document that this person is asked to sign, so only an administrator can change it",
	]);
	await jonas.use("cancelSignatureRequest", { id: request.id });
	const { status } = await setAddress(omar, erika, "erika@new.example");
	expect(status).toBe(200);
	// Who has signed once will be asked again.
	await ask(erika);
	await served.database.owner.query(
		`update document_signatures set state = 'SIGNED', signed_at = now(), way = 'LINK',
			content_hash = sha256('x')
		where person_id = $1`,
		[erika],
	);
	const later = await setAddress(omar, erika, "omar@elsewhere.example");
	expect([later.status, later.body.message]).toEqual([
		403,
		"permission denied: primary_email_address: gets the links to documents that this person signs, so only an administrator can change it",
	]);
});

test("an administrator changes the address of a member's person, and a member other fields", async () => {
	const capitals = omar.user.email.replace(/^./, (letter) =>
		letter.toUpperCase(),
	);
	for (const input of [
		{ position: "Engineer" },
		{ primary_email_address: omar.user.email, full_name: "Omar H." },
		// The same address in other letters is still that of the member.
		{ primary_email_address: capitals },
	]) {
		const { status } = await omar.call("updatePeople", {
			id: people.omar,
			...input,
		});
		expect([input, status]).toEqual([input, 200]);
	}
	const { status } = await setAddress(jonas, people.omar, "omar2@example.com");
	expect(status).toBe(200);
});

test("a signature and an approval name the account, whatever the person is called", async () => {
	await omar.use("updatePeople", { id: people.omar, full_name: "Jonas" });
	const { version, request } = await ask(people.omar);
	const account = { user_id: omar.user.id, user_name: omar.user.name };
	expect(request).toMatchObject({ user_id: null, user_name: null });
	await omar.use("signDocumentVersion", {
		id: version.id,
		content_hash: version.content_hash,
	});
	const { document_version_signature: signature } = await jonas.use(
		"getDocumentVersionSignature",
		{ id: request.id },
	);
	expect(signature).toMatchObject({ signer_name: "Jonas", ...account });
	const { as_of } = { as_of: request.requested_at };
	const { document_version_signatures: past } = await jonas.use(
		"listDocumentVersionSignatures",
		{ document_version_id: version.id, as_of },
	);
	expect(past).toMatchObject([{ user_id: null, user_name: null }]);

	const { document_id } = version;
	await jonas.use("updateDocument", {
		id: document_id,
		approver_ids: [people.omar],
	});
	const { document_version: next } = await jonas.use(
		"createDraftDocumentVersion",
		{ document_id },
	);
	await jonas.use("requestDocumentVersionApproval", { id: next.id });
	const { document_version: approved } = await omar.use(
		"approveDocumentVersion",
		{ id: next.id },
	);
	expect(approved.approvals).toMatchObject([
		{ person_name: "Jonas", ...account },
	]);
});

test("nobody gets a member's address beside the member's person, in any way", async () => {
	const second = {
		full_name: "Another Jonas",
		kind: "EMPLOYEE",
		primary_email_address: jonas.user.email.toUpperCase(),
	};
	const why = `is the address of a member who already is the person Jonas (${people.jonas}); change that person`;
	const added = await jonas.call("addPeople", { organization_id, ...second });
	expect([added.status, added.body.fields]).toEqual([
		400,
		[{ field: "primary_email_address", message: why }],
	]);
	const several = await omar.call("addRecords", {
		organization_id,
		kind: "people",
		records: [{ ...second, primary_email_address: "x@example.com" }, second],
	});
	expect([several.status, several.body.fields]).toEqual([
		400,
		[{ field: "records[1].primary_email_address", message: why }],
	]);
	const other = await addPerson("Another Jonas", "another@example.com");
	const changed = await setAddress(
		jonas,
		other,
		jonas.user.email.toUpperCase(),
	);
	expect([changed.status, changed.body.fields]).toEqual([
		400,
		[{ field: "primary_email_address", message: why }],
	]);
	// A member without a person gets one of two.
	const lea = await served.signIn("member", organization_id);
	const twins = await omar.call("addRecords", {
		organization_id,
		kind: "people",
		records: ["Lea", "Lea Again"].map((full_name) => ({
			full_name,
			kind: "EMPLOYEE",
			primary_email_address: lea.user.email,
		})),
	});
	expect([twins.status, twins.body.fields]).toEqual([
		400,
		[
			{
				field: "records[1].primary_email_address",
				message:
					"is the address of a member that an earlier person already gets; give it to only one of them",
			},
		],
	]);
	// The same address in other letters is no other person's.
	const upper = jonas.user.email.toUpperCase();
	expect((await setAddress(jonas, people.jonas, upper)).status).toBe(200);
	expect((await setAddress(jonas, people.jonas, jonas.user.email)).status).toBe(
		200,
	);
});

test("a member who is two people signs and approves as both, and sees what waits for each", async () => {
	// Such people exist from before the addresses of members were kept apart.
	const second = await addPerson("Jonas again", "jonas.again@example.com");
	await served.database.owner.query(
		"update people set primary_email_address = $2 where id = $1",
		[second, jonas.user.email],
	);
	const { version } = await ask(second);
	const waiting = async () => {
		const { mine } = await jonas.use("getOverview", {
			organization_id,
			today: new Date().toISOString().slice(0, 10),
		});
		return mine.waiting.map((one: Record<string, string>) => [
			one.version_id,
			one.waits_for,
		]);
	};
	expect(await waiting()).toEqual([[version.id, "SIGNATURE"]]);
	const { id, content_hash } = version;
	const { document_version_signature: signed } = await jonas.use(
		"signDocumentVersion",
		{ id, content_hash },
	);
	expect(signed).toMatchObject({ signed_by: second, state: "SIGNED" });

	await jonas.use("updateDocument", {
		id: version.document_id,
		approver_ids: [people.jonas, second],
	});
	const { document_version: next } = await omar.use(
		"createDraftDocumentVersion",
		{ document_id: version.document_id, asks_again: true },
	);
	await omar.use("requestDocumentVersionApproval", { id: next.id });
	expect(await waiting()).toEqual([[next.id, "APPROVAL"]]);
	const { document_version: approved } = await jonas.use(
		"approveDocumentVersion",
		{ id: next.id },
	);
	expect(approved.status).toBe("PUBLISHED");
	expect(
		approved.approvals.map((one: Record<string, string>) => one.person_id),
	).toEqual(expect.arrayContaining([people.jonas, second]));
	expect(await waiting()).toEqual([[next.id, "SIGNATURE"]]);
});
