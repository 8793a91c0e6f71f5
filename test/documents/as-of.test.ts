import { afterAll, beforeAll, expect, test } from "vitest";
import {
	type Session,
	shareConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { timeBetweenChanges } from "../support/time-between-changes.ts";

let served: TestConsole;
let admin: Session;
let member: Session;
/** The people of the register who are the administrator, the member and another member. */
let people: { admin: string; member: string; other: string };
beforeAll(async () => {
	served = await shareConsole();
	admin = await served.signIn("admin");
	member = await served.signIn("member");
	const addPerson = async (full_name: string, email: string) =>
		(
			await admin.use("addPeople", {
				...here(),
				full_name,
				kind: "EMPLOYEE",
				primary_email_address: email,
			})
		).people.id;
	people = {
		admin: await addPerson("Ada", admin.user.email),
		member: await addPerson("Max", member.user.email),
		other: await addPerson("Zoe", (await served.signIn("member")).user.email),
	};
});
afterAll(() => served.close());

const here = () => ({ organization_id: served.organizationId });
const moment = () => timeBetweenChanges(served.database);

const addDocument = async (more: object = {}): Promise<string> =>
	(
		await admin.use("addDocument", {
			...here(),
			title: "Acceptable use",
			document_type: "POLICY",
			classification: "INTERNAL",
			...more,
		})
	).document.id;

const draft = async (document_id: string, content: string): Promise<string> =>
	(await admin.use("createDraftDocumentVersion", { document_id, content }))
		.document_version.id;

const publish = (id: string) => admin.use("publishDocumentVersion", { id });

test("the list of documents, the versions and their texts are those of the moment", async () => {
	const document_id = await addDocument();
	const at = async (as_of?: string) => {
		const { document } = await admin.use("getDocument", {
			id: document_id,
			...(as_of && { as_of }),
		});
		const { document_versions: versions, total } = await admin.use(
			"listDocumentVersions",
			{ document_id, ...(as_of && { as_of }) },
		);
		expect(versions).toHaveLength(total);
		return [
			document.published_version,
			document.open_version?.status ?? null,
			...versions.map((one: { version_number: number }) => one.version_number),
		];
	};
	const beforeAny = await moment();
	const first = await draft(document_id, "One");
	await publish(first);
	const afterFirst = await moment();
	const second = await draft(document_id, "Two");
	const withDraft = await moment();
	expect(await at()).toEqual([1, "DRAFT", 2, 1]);
	expect(await at(withDraft)).toEqual([1, "DRAFT", 2, 1]);
	await admin.use("updateDocumentVersion", { id: second, content: "Three" });
	const changed = await moment();
	await publish(second);
	expect(await at()).toEqual([2, null, 2, 1]);
	expect(await at(withDraft)).toEqual([1, "DRAFT", 2, 1]);
	expect(await at(changed)).toEqual([1, "DRAFT", 2, 1]);
	expect(await at(afterFirst)).toEqual([1, null, 1]);
	expect(await at(beforeAny)).toEqual([null, null]);

	const read = (id: string, as_of: string) =>
		admin.call("getDocumentVersion", { id, as_of });
	expect((await read(first, afterFirst)).body.document_version).toMatchObject({
		status: "PUBLISHED",
		content: "One",
	});
	for (const [as_of, content] of [
		[withDraft, "Two"],
		[changed, "Three"],
	] as const) {
		expect((await read(second, as_of)).body.document_version).toMatchObject({
			status: "DRAFT",
			content,
			published_at: null,
		});
	}
	expect((await read(second, afterFirst)).status).toBe(404);
	expect((await read(first, beforeAny)).status).toBe(404);
});

test("a cursor of the versions belongs to its moment", async () => {
	const document_id = await addDocument();
	await publish(await draft(document_id, "One"));
	await publish(await draft(document_id, "Two"));
	const as_of = await moment();
	const page = { document_id, size: 1 };
	const { next_cursor: cursor } = await admin.use("listDocumentVersions", {
		...page,
		as_of,
	});
	expect(
		(await admin.call("listDocumentVersions", { ...page, cursor })).status,
	).toBe(400);
	const { document_versions: rest } = await admin.use("listDocumentVersions", {
		...page,
		cursor,
		as_of,
	});
	expect(rest).toMatchObject([{ version_number: 1 }]);
});

test("a signature of the past is one that was given by then, and a request one that was made by then", async () => {
	const id = await draft(await addDocument(), "Lock your screen.");
	const { document_version: version } = await publish(id);
	const atAsk = await moment();
	await admin.use("requestDocumentVersionSignature", {
		document_version_id: id,
		person_ids: [people.admin, people.member],
	});
	const asked = await moment();
	await member.use("signDocumentVersion", {
		id,
		content_hash: version.content_hash,
	});
	const signed = await moment();
	const at = async (as_of?: string, state?: string) => {
		const moment = as_of && { as_of };
		const { document_version: counts } = await admin.use("getDocumentVersion", {
			id,
			...moment,
		});
		const { document_version_signatures: rows } = await admin.use(
			"listDocumentVersionSignatures",
			{ document_version_id: id, ...moment, ...(state && { state }) },
		);
		return {
			counts: [counts.signatures_given, counts.signatures_requested],
			rows: Object.fromEntries(
				rows.map((one: Record<string, unknown>) => [
					one.signer_name,
					[one.state, one.signed_at !== null, one.way, one.reach],
				]),
			),
		};
	};
	const open = ["REQUESTED", false, null];
	const given = ["SIGNED", true, "SESSION", null];
	expect(await at()).toEqual({
		counts: [1, 1],
		rows: { Ada: [...open, "ACCOUNT"], Max: given },
	});
	expect(await at(signed)).toEqual({
		counts: [1, 1],
		rows: { Ada: [...open, null], Max: given },
	});
	expect(await at(asked)).toEqual({
		counts: [0, 2],
		rows: { Ada: [...open, null], Max: [...open, null] },
	});
	expect(await at(asked, "SIGNED")).toEqual({ counts: [0, 2], rows: {} });
	expect(await at(atAsk)).toEqual({ counts: [0, 0], rows: {} });
});

test("an approval of the past is one that was given by then", async () => {
	const id = await draft(
		await addDocument({ approver_ids: [people.member, people.other] }),
		"Lock your screen.",
	);
	await admin.use("requestDocumentVersionApproval", { id });
	const asked = await moment();
	// The version still waits for the other approver, so it is known as it was then.
	await member.use("approveDocumentVersion", { id });
	const namesAt = async (as_of: string) => {
		const { document_version: version } = await admin.use(
			"getDocumentVersion",
			{ id, as_of },
		);
		return version.approvals.map(
			(one: { person_name: string }) => one.person_name,
		);
	};
	expect(await namesAt(await moment())).toHaveLength(1);
	expect(await namesAt(asked)).toEqual([]);
});

test("a document lacked signatures at a moment if they had been asked for too long before it", async () => {
	const document_id = await addDocument({ title: "Late" });
	const id = await draft(document_id, "Lock your screen.");
	await publish(id);
	await admin.use("requestDocumentVersionSignature", {
		document_version_id: id,
		person_ids: [people.member],
	});
	await moment();
	const { owner } = served.database;
	await owner.query("set session_replication_role = replica");
	await owner.query(
		`update document_signatures set requested_at = requested_at - interval '9 days' where version_id = $1`,
		[id],
	);
	await owner.query(
		`update document_versions set published_at = published_at - interval '9 days' where id = $1`,
		[id],
	);
	await owner.query(
		`update documents set created_at = created_at - interval '9 days', updated_at = updated_at - interval '9 days' where id = $1`,
		[document_id],
	);
	await owner.query(
		`update organizations set records_known_since = records_known_since - interval '9 days' where id = $1`,
		[served.organizationId],
	);
	await owner.query("set session_replication_role = origin");
	const lacking = async (daysAgo: number) => {
		const { documents } = await admin.use("listDocuments", {
			...here(),
			filter: { lacks_signatures: true },
			as_of: new Date(Date.now() - daysAgo * 86_400_000).toISOString(),
		});
		return documents.map(({ title }: { title: string }) => title);
	};
	expect(await lacking(1)).toEqual(["Late"]);
	expect(await lacking(3)).toEqual([]);
});

test("the texts, approvals and signatures of a deleted document stay in its past", async () => {
	const document_id = await addDocument({ approver_ids: [people.member] });
	const id = await draft(document_id, "Lock your screen.");
	await admin.use("requestDocumentVersionApproval", { id });
	const { document_version: version } = await member.use(
		"approveDocumentVersion",
		{ id },
	);
	const unsigned = await moment();
	await admin.use("requestDocumentVersionSignature", {
		document_version_id: id,
		person_ids: [people.admin, people.member],
	});
	await member.use("signDocumentVersion", {
		id,
		content_hash: version.content_hash,
	});
	const as_of = await moment();
	const readAll = async (as_of: string) => [
		await admin.use("getDocument", { id: document_id, as_of }),
		await admin.use("listDocumentVersions", { document_id, as_of }),
		await admin.use("getDocumentVersion", { id, as_of }),
		await admin.use("listDocumentVersionSignatures", {
			document_version_id: id,
			as_of,
		}),
	];
	const before = [await readAll(as_of), await readAll(unsigned)];
	expect(before[0]?.[2].document_version).toMatchObject({
		content: "Lock your screen.",
		approvals: [{ person_name: "Max", decision: "APPROVED" }],
		signatures_given: 1,
		signatures_requested: 1,
	});
	await admin.use("deleteDocument", { id: document_id });
	expect((await admin.call("getDocumentVersion", { id })).status).toBe(404);
	expect([await readAll(as_of), await readAll(unsigned)]).toEqual(before);
	const deleted = await moment();
	const read = await admin.call("getDocumentVersion", { id, as_of: deleted });
	expect(read.status).toBe(404);
});

test("a request to sign that was cancelled since was open before", async () => {
	const id = await draft(await addDocument(), "Lock your screen.");
	await publish(id);
	const list = async (moment: object) =>
		(
			await admin.use("listDocumentVersionSignatures", {
				document_version_id: id,
				...moment,
			})
		).document_version_signatures;
	await admin.use("requestDocumentVersionSignature", {
		document_version_id: id,
		person_ids: [people.member],
	});
	const as_of = await moment();
	const [request] = await list({});
	await admin.use("cancelSignatureRequest", { id: request.id });
	expect(await list({})).toEqual([]);
	expect(await list({ as_of })).toMatchObject([
		{ id: request.id, state: "REQUESTED", signer_name: "Max" },
	]);
});
