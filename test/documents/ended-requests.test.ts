import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { storeDailyEvents } from "../../src/notifications/daily-events.ts";
import { overdueWork } from "../../src/notifications/overdue-mail.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import {
	type Session,
	shareConsole,
	type TestConsole,
} from "../support/console-session.ts";

let served: TestConsole;
let organization_id: string;
let admin: Session;
let viewer: Session;
/** The person of the viewer. */
let vera: string;
beforeAll(async () => {
	served = await shareConsole();
});
afterAll(() => served.close());
beforeEach(async () => {
	organization_id = await createOrganization(served.database.pool, "Ended");
	admin = await served.signIn("admin", organization_id);
	viewer = await served.signIn("viewer", organization_id);
	vera = await addPerson("Vera", viewer.user.email);
});

async function addPerson(full_name: string, email: string): Promise<string> {
	const { people } = await admin.use("addPeople", {
		organization_id,
		full_name,
		kind: "EMPLOYEE",
		primary_email_address: email,
	});
	return people.id;
}

async function publish(document_id: string, more: object = {}) {
	const { document_version } = await admin.use("createDraftDocumentVersion", {
		document_id,
		content: "Lock your screen.",
		...more,
	});
	const { id } = document_version;
	return (await admin.use("publishDocumentVersion", { id })).document_version;
}

/** Publishes a document, and asks these people to sign it eight days ago. */
async function ask(person_ids: string[]) {
	const { document } = await admin.use("addDocument", {
		organization_id,
		title: "Acceptable use",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const version = await publish(document.id);
	await admin.use("requestDocumentVersionSignature", {
		document_version_id: version.id,
		person_ids,
	});
	await served.database.owner.query(
		"update document_signatures set requested_at = now() - interval '8 days' where version_id = $1",
		[version.id],
	);
	return version;
}

/** Returns the places that say that a signature is missing. */
async function told(): Promise<string[]> {
	const { owner, pool } = served.database;
	const { mine } = await viewer.use("getOverview", {
		organization_id,
		today: new Date().toISOString().slice(0, 10),
	});
	const { total } = await admin.use("listDocuments", {
		organization_id,
		filter: { lacks_signatures: true },
	});
	await owner.query("delete from events where organization_id = $1", [
		organization_id,
	]);
	const weekly = await withTenant(pool, organization_id, async (client) => {
		await storeDailyEvents(client, organization_id, "http://localhost");
		return client.query(
			`select from (${overdueWork()}) w where w.field = 'signature'`,
			[organization_id],
		);
	});
	const { rows } = await owner.query<{ count: number }>(
		`select (data ->> 'count')::int as count from events
		where organization_id = $1 and type = 'signatures.missing'`,
		[organization_id],
	);
	return [
		...(mine.waiting.length > 0 ? ["home"] : []),
		...(total > 0 ? ["list"] : []),
		...(rows[0]?.count ? ["daily event"] : []),
		...(weekly.rowCount ? ["weekly mail"] : []),
	];
}

const ALL = ["home", "list", "daily event", "weekly mail"];

const signaturesOf = async (version: { id: string }) =>
	(
		await admin.use("listDocumentVersionSignatures", {
			document_version_id: version.id,
		})
	).document_version_signatures;

const countsOf = async ({ id }: { id: string }) => {
	const { document_version } = await admin.use("getDocumentVersion", { id });
	const { signatures_requested, signatures_ended, signatures_given } =
		document_version;
	return [signatures_requested, signatures_ended, signatures_given];
};

const sign = (version: { id: string; content_hash: string }) =>
	viewer.call("signDocumentVersion", {
		id: version.id,
		content_hash: version.content_hash,
	});

test("a newer version ends the requests to sign the one before, which nobody signs any more", async () => {
	const first = await ask([vera]);
	expect(await told()).toEqual(ALL);
	expect(await countsOf(first)).toEqual([1, 0, 0]);
	const second = await publish(first.document_id);
	expect(await told()).toEqual([]);
	expect(await countsOf(first)).toEqual([0, 1, 0]);
	expect(await signaturesOf(first)).toMatchObject([
		{ state: "REQUESTED", ended: "SUPERSEDED" },
	]);
	const message =
		"version 2 of the document is in force, so nobody signs version 1 any more";
	const { status, body } = await sign(first);
	expect([status, body.message]).toEqual([409, message]);
	const again = await admin.call("requestDocumentVersionSignature", {
		document_version_id: first.id,
		person_ids: [vera],
	});
	expect([again.status, again.body.message]).toEqual([409, message]);
	await admin.use("requestDocumentVersionSignature", {
		document_version_id: second.id,
		person_ids: [vera],
	});
	expect((await sign(second)).status).toBe(200);
	expect(await countsOf(second)).toEqual([0, 0, 1]);
});

test("archiving a document ends its requests to sign, until it is taken back", async () => {
	const version = await ask([vera]);
	const archive = (archived: boolean) =>
		admin.use("archiveRecords", {
			organization_id,
			record_ids: [version.document_id],
			archived,
		});
	await archive(true);
	expect(await told()).toEqual([]);
	expect(await signaturesOf(version)).toMatchObject([{ ended: "ARCHIVED" }]);
	const { status, body } = await sign(version);
	expect([status, body.message]).toEqual([
		409,
		"the document is archived, so nobody signs it any more",
	]);
	await archive(false);
	expect(await told()).toEqual(ALL);
	expect((await sign(version)).status).toBe(200);
});

test("a version of an archived document waits for nobody's approval", async () => {
	const member = await served.signIn("member", organization_id);
	const max = await addPerson("Max", member.user.email);
	const { document } = await admin.use("addDocument", {
		organization_id,
		title: "Visitors",
		document_type: "POLICY",
		classification: "INTERNAL",
		approver_ids: [max],
	});
	const { document_version } = await admin.use("createDraftDocumentVersion", {
		document_id: document.id,
		content: "Visitors wear a badge.",
	});
	await admin.use("requestDocumentVersionApproval", {
		id: document_version.id,
	});
	const waiting = async () =>
		(
			await member.use("getOverview", {
				organization_id,
				today: new Date().toISOString().slice(0, 10),
			})
		).mine.waiting.length;
	expect(await waiting()).toBe(1);
	await admin.use("archiveRecords", {
		organization_id,
		record_ids: [document.id],
	});
	expect(await waiting()).toBe(0);
});

test("who has left without an account lacks no signature, and is not asked again", async () => {
	const otto = await addPerson("Otto", "otto@example.com");
	const version = await ask([otto]);
	expect(await told()).toEqual(ALL.slice(1));
	await admin.use("updatePeople", {
		id: otto,
		contract_end_date: "2020-01-01",
	});
	expect(await told()).toEqual([]);
	expect(await countsOf(version)).toEqual([0, 1, 0]);
	expect(await signaturesOf(version)).toMatchObject([
		{ ended: "LEFT", reach: "LEFT" },
	]);
	const next = await publish(version.document_id, { asks_again: true });
	expect(await signaturesOf(next)).toEqual([]);
});

test("a member whose contract has ended is still asked, as long as the account lives", async () => {
	await admin.use("updatePeople", {
		id: vera,
		contract_end_date: "2020-01-01",
	});
	const version = await ask([vera]);
	expect(await told()).toEqual(ALL);
	const next = await publish(version.document_id, { asks_again: true });
	expect(await signaturesOf(next)).toMatchObject([
		{ signed_by: vera, ended: null },
	]);
});
