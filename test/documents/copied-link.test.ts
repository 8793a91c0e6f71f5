import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSignToken } from "../../src/documents/sign-link.ts";
import { sendTo } from "../support/console-client.ts";
import {
	type Session,
	shareConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { SERVICE_SECRET } from "../support/service.ts";

let served: TestConsole;
let admin: Session;
let member: Session;
let viewer: Session;
beforeAll(async () => {
	served = await shareConsole();
	admin = await served.signIn("admin");
	member = await served.signIn("member");
	viewer = await served.signIn("viewer");
});
afterAll(() => served.close());

const here = () => ({ organization_id: served.organizationId });

let count = 0;
async function addPerson(more: object = {}): Promise<string> {
	const { people } = await admin.use("addPeople", {
		...here(),
		full_name: "Otto Hahn",
		kind: "EMPLOYEE",
		primary_email_address: `otto.${++count}@example.com`,
		...more,
	});
	return people.id;
}

/** Publishes a version, asks these people to sign it, and returns the version and the requests. */
async function publishAndAsk(person_ids: string[], classification: string) {
	const { document } = await admin.use("addDocument", {
		...here(),
		title: "Visitors",
		document_type: "POLICY",
		classification,
	});
	const { document_version: version } = await admin.use(
		"createDraftDocumentVersion",
		{ document_id: document.id, content: "Visitors wear a badge." },
	);
	await admin.use("publishDocumentVersion", { id: version.id });
	await admin.use("requestDocumentVersionSignature", {
		document_version_id: version.id,
		person_ids,
	});
	return { version, requests: await list(version) };
}

const list = async (version: { id: string }) =>
	(
		await admin.use("listDocumentVersionSignatures", {
			document_version_id: version.id,
		})
	).document_version_signatures;

/** Asks somebody without an account to sign, and returns the version and the request's id. */
async function askOtto() {
	const person = await addPerson();
	const { version, requests } = await publishAndAsk([person], "INTERNAL");
	return { person, version, id: requests[0].id as string };
}

async function copy(id: string, session = member): Promise<string> {
	const { link } = await session.use("copySignLink", { id });
	expect(link).toContain("/sign-document#");
	return link.split("#")[1];
}

const post = (path: string, body: object) =>
	sendTo(served.service.url, `/api/sign-document/${path}`, body);
const statusOf = async (token: string) =>
	(await post("read", { token })).status;

test("the list says how each person can sign, and the count agrees before and after asking", async () => {
	const people = [
		await addPerson({ primary_email_address: viewer.user.email }),
		await addPerson(),
		await addPerson(),
		await addPerson({ contract_end_date: "2020-01-01" }),
	];
	for (const [classification, link, secret] of [
		["INTERNAL", 2, 0],
		["SECRET", 0, 2],
	] as const) {
		const { version, requests } = await publishAndAsk(people, classification);
		const without = link ? "LINK" : "SECRET";
		const reachOf = (person: string) =>
			requests.find((one: { signed_by: string }) => one.signed_by === person)
				.reach;
		expect(people.map(reachOf)).toEqual(["ACCOUNT", without, without, "LEFT"]);
		const counts = { account: 1, link, secret, left: 1 };
		const input = { document_version_id: version.id };
		expect(await viewer.use("countSigners", input)).toEqual(counts);
		expect(
			await admin.use("countSigners", {
				...input,
				person_ids: people.slice(0, 2),
			}),
		).toEqual({ ...counts, link: link / 2, secret: secret / 2, left: 0 });
	}
});

test("a signature by a copied link says so, and names who copied the link", async () => {
	const { person, version, id } = await askOtto();
	const token = await copy(id);
	const [open] = await list(version);
	expect(open).toMatchObject({
		link_copied_at: expect.any(String),
		link_copied_by_name: member.user.name,
		link_mailed_at: null,
	});
	const shown = await post("read", { token });
	expect(shown.body).toMatchObject({
		content: "Visitors wear a badge.",
		copied_by_name: member.user.name,
	});
	const { content_hash } = shown.body;
	expect((await post("sign", { token, content_hash })).status).toBe(200);
	const [signed] = await list(version);
	expect(signed).toMatchObject({
		state: "SIGNED",
		way: "COPIED_LINK",
		link_copied_by_name: member.user.name,
		reach: null,
	});
	const entriesOf = async (operation: string) =>
		(
			await admin.use("listAuditLog", {
				...here(),
				filter: { record_id: version.document_id, operation },
			})
		).audit_entries;
	expect(await entriesOf("copySignLink")).toMatchObject([
		{
			actor_name: member.user.name,
			changes: {
				version_1_sign_link: {
					after: { person_id: person, way: "COPIED_LINK" },
				},
			},
		},
	]);
	expect(JSON.stringify(await entriesOf("copySignLink"))).not.toContain(token);
	expect(await entriesOf("signDocumentByLink")).toMatchObject([
		{
			changes: {
				version_1_signature: {
					after: { person_id: person, way: "COPIED_LINK" },
				},
			},
		},
	]);
	const again = await member.call("copySignLink", { id });
	expect([again.status, again.body.message]).toEqual([
		409,
		"Otto Hahn has signed already",
	]);
});

test("a copied link does not make the mailed one a copied one", async () => {
	const { person, version, id } = await askOtto();
	await copy(id);
	const { people } = await admin.use("getPeople", { id: person });
	const token = makeSignToken(
		SERVICE_SECRET,
		{ organizationId: served.organizationId, signatureId: id },
		people.primary_email_address,
	);
	const { body } = await post("read", { token });
	expect(body.copied_by_name).toBeNull();
	await post("sign", { token, content_hash: body.content_hash });
	expect(await list(version)).toMatchObject([
		{ way: "LINK", link_copied_at: null, link_copied_by_name: null },
	]);
});

test("a viewer copies no link, and nobody with an account or without a right to read gets one", async () => {
	const { id } = await askOtto();
	expect((await viewer.call("copySignLink", { id })).status).toBe(403);
	const leaver = await addPerson({ contract_end_date: "2020-01-01" });
	const account = await addPerson({ primary_email_address: member.user.email });
	const { requests } = await publishAndAsk([leaver, account], "INTERNAL");
	const secret = await publishAndAsk([await addPerson()], "SECRET");
	for (const one of [...requests, ...secret.requests]) {
		const { status, body } = await member.call("copySignLink", { id: one.id });
		expect([one.reach, status]).toEqual([one.reach, 400]);
		expect(body.message).toMatch(
			/has an account|contract has ended|document is secret/,
		);
	}
});

test("all links are made at once, for those who need one, and each counts as copied", async () => {
	const names = ["Otto Hahn", "Lise Meitner", "Emmy Noether"];
	const ids: string[] = [];
	for (const full_name of names) ids.push(await addPerson({ full_name }));
	const others = [
		await addPerson({
			primary_email_address: (await served.signIn("viewer")).user.email,
		}),
		await addPerson({ contract_end_date: "2020-01-01" }),
	];
	const { version, requests } = await publishAndAsk(
		[...ids, ...others],
		"INTERNAL",
	);
	const requestOf = (person?: string) =>
		requests.find((one: { signed_by: string }) => one.signed_by === person).id;
	const before = await copy(requestOf(ids[0]));
	await admin.use("cancelSignatureRequest", { id: requestOf(ids[2]) });
	const input = { document_version_id: version.id };
	expect((await viewer.call("copySignLinks", input)).status).toBe(403);
	const made = await member.use("copySignLinks", input);
	expect(made).toMatchObject({
		more: 0,
		links: [{ signer_name: "Lise Meitner" }, { signer_name: "Otto Hahn" }],
	});
	expect(await statusOf(before)).toBe(400);
	const tokens: string[] = made.links.map(
		({ link }: { link: string }) => link.split("#")[1],
	);
	const shown: { content_hash: string }[] = [];
	for (const token of tokens) {
		const { body } = await post("read", { token });
		expect(body.copied_by_name).toBe(member.user.name);
		shown.push(body);
	}
	const lise = await post("sign", {
		token: tokens[0],
		content_hash: shown[0]?.content_hash,
	});
	expect(lise.body.person_name).toBe("Lise Meitner");
	const copied = (await list(version)).map((one: Record<string, unknown>) => [
		one.signer_name,
		one.way,
		one.link_copied_by_name,
	]);
	expect(copied).toEqual(
		expect.arrayContaining([
			["Lise Meitner", "COPIED_LINK", member.user.name],
			["Otto Hahn", null, member.user.name],
		]),
	);
	const { audit_entries: entries } = await admin.use("listAuditLog", {
		...here(),
		filter: { record_id: version.document_id, operation: "copySignLinks" },
	});
	expect(entries).toMatchObject([
		{
			actor_name: member.user.name,
			changes: {
				version_1_sign_links: {
					after: {
						person_ids: expect.arrayContaining([ids[0], ids[1]]),
						way: "COPIED_LINK",
					},
				},
			},
		},
	]);
	for (const token of tokens) {
		expect(JSON.stringify(entries)).not.toContain(token);
	}
	const secret = await publishAndAsk([ids[0] ?? ""], "SECRET");
	const refused = await member.call("copySignLinks", {
		document_version_id: secret.version.id,
	});
	expect([refused.status, refused.body.message]).toEqual([
		409,
		expect.stringContaining("needs a link"),
	]);
});

test("a copied link ends with the next one, a new address, 30 days, and the request", async () => {
	const { person, id } = await askOtto();
	const { owner } = served.database;
	// A mailed link would have expired. The copied one counts from its own beginning.
	await owner.query(
		"update document_signatures set requested_at = now() - interval '31 days' where id = $1",
		[id],
	);
	const first = await copy(id);
	expect(await statusOf(first)).toBe(200);
	const second = await copy(id, admin);
	expect([await statusOf(first), await statusOf(second)]).toEqual([400, 200]);
	const { people } = await admin.use("getPeople", { id: person });
	const setAddress = (primary_email_address: string) =>
		admin.use("updatePeople", { id: person, primary_email_address });
	await setAddress("new@example.com");
	expect(await statusOf(second)).toBe(400);
	await setAddress(people.primary_email_address);
	expect(await statusOf(second)).toBe(200);
	// The moment is part of the proof, so an older link is made for its own moment.
	const copiedBefore = async (days: number) => {
		const { rows } = await owner.query<{ at: string }>(
			`update document_signatures set link_copied_at = now() - $2 * interval '1 day' where id = $1
			returning extract(epoch from link_copied_at)::text as at`,
			[id, days],
		);
		return makeSignToken(
			SERVICE_SECRET,
			{ organizationId: served.organizationId, signatureId: id },
			people.primary_email_address,
			rows[0]?.at,
		);
	};
	expect(await statusOf(await copiedBefore(29))).toBe(200);
	expect(await statusOf(await copiedBefore(31))).toBe(400);
	const third = await copy(id);
	await admin.use("cancelSignatureRequest", { id });
	expect(await statusOf(third)).toBe(400);
});

test("a link no longer shows a document that became secret", async () => {
	const { version, id } = await askOtto();
	const token = await copy(id);
	await admin.use("updateDocument", {
		id: version.document_id,
		classification: "SECRET",
	});
	expect(await statusOf(token)).toBe(400);
});
