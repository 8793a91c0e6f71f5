import { afterAll, beforeAll, expect, test } from "vitest";
import {
	type Session,
	shareConsole,
	type TestConsole,
} from "../support/console-session.ts";

let served: TestConsole;
let admin: Session;
let viewer: Session;
let signer: string;
let other: string;
beforeAll(async () => {
	served = await shareConsole();
	admin = await served.signIn("admin");
	viewer = await served.signIn("viewer");
	const addPerson = async (full_name: string, email: string) =>
		(
			await admin.use("addPeople", {
				...here(),
				full_name,
				kind: "EMPLOYEE",
				primary_email_address: email,
			})
		).people.id;
	signer = await addPerson("Vera", viewer.user.email);
	other = await addPerson("Otto", "otto@example.com");
});
afterAll(() => served.close());

const here = () => ({ organization_id: served.organizationId });

async function publish(document_id?: string, more: object = {}) {
	const id =
		document_id ??
		(
			await admin.use("addDocument", {
				...here(),
				title: "Acceptable use",
				document_type: "POLICY",
				classification: "INTERNAL",
			})
		).document.id;
	const { document_version } = await admin.use("createDraftDocumentVersion", {
		document_id: id,
		content: "Lock your screen.",
		...more,
	});
	const { document_version: published } = await admin.use(
		"publishDocumentVersion",
		{ id: document_version.id },
	);
	return published;
}

const ask = (version: { id: string }, person_ids: string[]) =>
	admin.use("requestDocumentVersionSignature", {
		document_version_id: version.id,
		person_ids,
	});

const list = async (version: { id: string }, state?: string) =>
	(
		await admin.use("listDocumentVersionSignatures", {
			document_version_id: version.id,
			...(state && { state }),
		})
	).document_version_signatures;

test("a person signs what was read, once, and the record says who, how, when and what", async () => {
	const version = await publish();
	expect(await ask(version, [signer, other])).toEqual({
		asked_person_ids: expect.arrayContaining([signer, other]),
	});
	expect(await ask(version, [signer])).toEqual({ asked_person_ids: [] });
	const sign = (content_hash: string, session = viewer) =>
		session.call("signDocumentVersion", { id: version.id, content_hash });
	expect((await sign("0".repeat(64))).status).toBe(409);
	expect((await sign(version.content_hash, admin)).status).toBe(403);
	const { status, body } = await sign(version.content_hash);
	expect(status).toBe(200);
	expect(body.document_version_signature).toMatchObject({
		state: "SIGNED",
		signed_by: signer,
		signer_name: "Vera",
		way: "SESSION",
		address: expect.any(String),
		signed_at: expect.any(String),
		content_hash: version.content_hash,
	});
	const again = await sign(version.content_hash);
	expect(again.body).toEqual(body);
	expect(await list(version, "REQUESTED")).toMatchObject([
		{ signed_by: other },
	]);
	const { document_version } = await admin.use("getDocumentVersion", {
		id: version.id,
	});
	expect(document_version).toMatchObject({
		signatures_requested: 1,
		signatures_given: 1,
	});
});

test("the history has a request and a signature within the same calls as the signature itself", async () => {
	const version = await publish();
	const times = [Date.now()];
	await ask(version, [signer]);
	times.push(Date.now());
	const { content_hash } = version;
	await viewer.use("signDocumentVersion", { id: version.id, content_hash });
	times.push(Date.now());
	const [signature] = await list(version);
	const { changes } = await admin.use("getRecordHistory", {
		id: version.document_id,
	});
	const [signed, asked] = changes.map(({ at }: { at: string }) => at);
	for (const [index, stored, noted] of [
		[0, signature.requested_at, asked],
		[1, signature.signed_at, signed],
	] as const) {
		const order = [times[index], stored, noted, times[index + 1]].map((time) =>
			new Date(time).getTime(),
		);
		expect(order).toEqual(order.toSorted((one, other) => one - other));
	}
});

test("a request can be cancelled and a signature cannot, and a draft is not signed", async () => {
	const version = await publish();
	await ask(version, [signer, other]);
	await viewer.use("signDocumentVersion", {
		id: version.id,
		content_hash: version.content_hash,
	});
	for (const { id, state } of await list(version)) {
		const { status } = await admin.call("cancelSignatureRequest", { id });
		expect([state, status]).toEqual([state, state === "SIGNED" ? 409 : 200]);
	}
	expect(await list(version)).toHaveLength(1);

	const { document_version: draft } = await admin.use(
		"createDraftDocumentVersion",
		{ document_id: version.document_id },
	);
	const { status } = await admin.call("requestDocumentVersionSignature", {
		document_version_id: draft.id,
		person_ids: [signer],
	});
	expect(status).toBe(409);
});

test("a new version asks the same people again if its author says so", async () => {
	const first = await publish();
	await ask(first, [signer, other]);
	const silent = await publish(first.document_id);
	expect(silent.signatures_requested).toBe(0);
	await ask(silent, [signer]);
	const asking = await publish(first.document_id, { asks_again: true });
	expect(await list(asking)).toMatchObject([
		{ signed_by: signer, state: "REQUESTED" },
	]);
});

test("who is deleted signs nothing more, and a given signature keeps the name", async () => {
	const { people } = await admin.use("addPeople", {
		...here(),
		full_name: "Leaver",
		kind: "EMPLOYEE",
		primary_email_address: "leaver@example.com",
	});
	const [asked, signed] = [await publish(), await publish()];
	await ask(asked, [people.id]);
	await ask(signed, [people.id]);
	await served.database.owner.query(
		`update document_signatures set state = 'SIGNED', signed_at = now(), way = 'SESSION',
			content_hash = sha256('x')
		where version_id = $1`,
		[signed.id],
	);
	await admin.use("deletePeople", { id: people.id });
	expect(await list(asked)).toEqual([]);
	expect(await list(signed)).toMatchObject([
		{ signed_by: null, signer_name: "Leaver", state: "SIGNED" },
	]);
});

test("people who do not exist are named, and nobody is asked", async () => {
	const version = await publish();
	const { people } = await admin.use("addPeople", {
		...here(),
		full_name: "Gone",
		kind: "EMPLOYEE",
		primary_email_address: "gone@example.com",
	});
	await admin.use("deletePeople", { id: people.id });
	const { status, body } = await admin.call("requestDocumentVersionSignature", {
		document_version_id: version.id,
		person_ids: [signer, people.id],
	});
	expect([status, body.fields[0].field]).toEqual([400, "person_ids[1]"]);
	expect(await list(version)).toEqual([]);
});
