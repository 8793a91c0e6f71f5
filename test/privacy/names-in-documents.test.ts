import { afterAll, beforeAll, expect, test } from "vitest";
import { appendChanges } from "../../src/audit/log.ts";
import { withTenant } from "../../src/db/pool.ts";
import type { Change } from "../../src/operation.ts";
import type { Principal } from "../../src/principal.ts";
import { type Calls, makeCalls } from "../support/calls.ts";
import { makeUser, signedIn } from "../support/people.ts";
import { privacyCommands } from "./commands.ts";
import { MARKER } from "./personal-data.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await makeCalls();
	organization_id = calls.organizationId;
	await makeUser(calls.database, {
		organizationId: organization_id,
		role: "admin",
	});
});
afterAll(() => calls.close());

const { run, rowsWith, verify } = privacyCommands(() => calls);

let made = 0;
async function addPerson(name: string): Promise<{ id: string; email: string }> {
	const email = `${name}-${++made}@example.com`;
	const { people } = await calls.call("addPeople", {
		organization_id,
		full_name: `${name} Jones`,
		primary_email_address: email,
		kind: "EMPLOYEE",
	});
	return { id: people.id, email };
}

/** Makes the account of a person, whose name the account has too. */
async function addAccount(email: string, name: string): Promise<Principal> {
	const user = await makeUser(
		calls.database,
		{ organizationId: organization_id, role: "member" },
		{ email },
	);
	await calls.database.owner.query("update users set name = $2 where id = $1", [
		user.id,
		name,
	]);
	return { ...(await signedIn(calls.database, user)), name };
}

/** Publishes a version that `approver` has approved. Returns it with the document's id. */
async function publish(approver: { id: string; as: Principal }) {
	const { document } = await calls.call("addDocument", {
		organization_id,
		title: "Visitors",
		document_type: "POLICY",
		classification: "INTERNAL",
		approver_ids: [approver.id],
	});
	const { document_version: draft } = await calls.call(
		"createDraftDocumentVersion",
		{ document_id: document.id, content: "Visitors wear a badge." },
	);
	await calls.call("requestDocumentVersionApproval", { id: draft.id });
	const { document_version: version } = await calls.call(
		"approveDocumentVersion",
		{ id: draft.id, note: "Read twice" },
		approver.as,
	);
	expect(version.status).toBe("PUBLISHED");
	return version;
}

const erase = async (...args: string[]) => {
	const { code, stderr, result } = await run(...args);
	expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	return result;
};
const erasePerson = (id: string) =>
	erase("person", "erase", "--org", organization_id, "--person", id);

test("entries about a document name the people who were asked, signed, approved or got a link by their ids", async () => {
	const person = await addPerson(MARKER);
	const approver = await addPerson("numbat");
	const as = await addAccount(approver.email, "numbat Jones");
	const version = await publish({ id: approver.id, as });
	const { id: document_version_id, content_hash } = version;
	const ask = (...person_ids: string[]) =>
		calls.call("requestDocumentVersionSignature", {
			document_version_id,
			person_ids,
		});
	await ask(person.id, approver.id);
	await calls.call(
		"signDocumentVersion",
		{ id: document_version_id, content_hash },
		as,
	);
	const { document_version_signatures: signatures } = await calls.call(
		"listDocumentVersionSignatures",
		{ document_version_id, state: "REQUESTED" },
	);
	await calls.call("copySignLink", { id: signatures[0].id });
	await calls.call("copySignLinks", { document_version_id });
	await calls.call("cancelSignatureRequest", { id: signatures[0].id });
	await ask(person.id);

	const { audit_entries: entries } = await calls.call("listAuditLog", {
		organization_id,
		filter: { record_id: version.document_id },
	});
	const after = (operation: string, field: string) =>
		entries.find((one: { operation: string }) => one.operation === operation)
			.changes[`version_1_${field}`];
	expect(after("approveDocumentVersion", "approval").after).toEqual({
		decision: "APPROVED",
		person_id: approver.id,
		note: "Read twice",
	});
	expect(after("signDocumentVersion", "signature").after).toMatchObject({
		person_id: approver.id,
	});
	expect(after("copySignLink", "sign_link").after).toMatchObject({
		person_id: person.id,
	});
	expect(after("copySignLinks", "sign_links").after).toMatchObject({
		person_ids: [person.id],
	});
	expect(
		after("cancelSignatureRequest", "signatures_requested").before,
	).toEqual({ person_ids: [person.id] });
	expect(
		after("requestDocumentVersionSignature", "signatures_requested").after,
	).toEqual({ person_ids: [person.id] });

	await erasePerson(person.id);
	await erasePerson(approver.id);
	await erase("user", "erase", "--email", approver.email);
	expect(await rowsWith(MARKER)).toEqual([]);
	expect(await rowsWith("numbat")).toEqual([]);
	expect((await verify()).findings).toEqual([]);
});

test("an erasure removes names that earlier versions wrote into entries about documents, and only these", async () => {
	const person = await addPerson("wombat");
	const renamed = { id: person.id, full_name: "wombat Smith" };
	await calls.call("updatePeople", renamed);
	const as = await addAccount(person.email, "wombat Account");
	const { document } = await calls.call("addDocument", {
		organization_id,
		title: "Passwords",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const append = (
		by: Principal,
		kind: string,
		fields: Change["fields"],
		id = document.id,
	) =>
		withTenant(calls.database.pool, organization_id, (client) =>
			appendChanges(client, by, "signDocumentByLink", organization_id, [
				{ kind, id, name: "Passwords", fields },
			]),
		);
	const admin = calls.principal("admin");
	await append(admin, "document", {
		version_1_status: { after: "PUBLISHED" },
		version_1_signatures_requested: { after: ["Bob", "wombat Jones"] },
	});
	await append(admin, "document", {
		version_1_sign_link: { after: { person: "wombat Smith", way: "X" } },
	});
	await append(admin, "document", {
		version_1_sign_links: { after: { people: ["Bob", "wombat Smith"] } },
	});
	await append(admin, "document", {
		version_1_signatures_requested: { before: ["wombat Smith"] },
	});
	await append(as, "document", {
		version_1_signature: { after: { person: "wombat Account" } },
	});
	await append(as, "document", {
		version_1_approval: { after: { person: "wombat Smith", note: null } },
	});
	await append(admin, "document", {
		version_2_signatures_requested: { after: ["Bob"] },
	});
	await append(
		admin,
		"organization",
		{ emergency_accounts: { before: [], after: [person.email] } },
		organization_id,
	);
	const exported = await run(
		...["person", "export", "--org", organization_id, "--person", person.id],
	);
	expect(
		exported.result.audit_entries.filter(
			(one: { record_kind: string }) => one.record_kind === "document",
		),
	).toHaveLength(5);

	await erasePerson(person.id);
	await erase("user", "erase", "--email", person.email);
	expect(await rowsWith("wombat")).toEqual([]);
	const { rows } = await calls.database.owner.query(
		`select e.changes from audit_entries e
		where e.record_id = $1 and e.operation = 'signDocumentByLink' order by e.id`,
		[document.id],
	);
	const erased = { after: "[erased]" };
	expect(rows.map(({ changes }) => changes)).toEqual([
		{
			version_1_status: { after: "PUBLISHED" },
			version_1_signatures_requested: erased,
		},
		{ version_1_sign_link: erased },
		{ version_1_sign_links: erased },
		{ version_1_signatures_requested: { before: "[erased]" } },
		{ version_1_signature: erased },
		{ version_1_approval: erased },
		{ version_2_signatures_requested: { after: ["Bob"] } },
	]);
	expect((await verify()).findings).toEqual([]);
	const again = await erasePerson(person.id);
	expect(again).toMatchObject({ redacted_entries: 0 });
});

test("a person's export contains signatures, approvals, links, mails and requests for exceptions", async () => {
	const person = await addPerson("bilby");
	const as = await addAccount(person.email, "bilby Jones");
	const version = await publish({ id: person.id, as });
	await calls.call("requestDocumentVersionSignature", {
		document_version_id: version.id,
		person_ids: [person.id],
	});
	await calls.call(
		"signDocumentVersion",
		{ id: version.id, content_hash: version.content_hash },
		{ ...as, address: "192.0.2.88" },
	);
	const { device } = await calls.call("addDevice", {
		organization_id,
		name: "laptop",
		owner_id: person.id,
	});
	const admin = await makeUser(calls.database, {
		organizationId: organization_id,
		role: "admin",
	});
	await calls.call(
		"copyMyDevicesLink",
		{ organization_id, device_id: device.id },
		await signedIn(calls.database, admin),
	);
	await calls.database.owner.query(
		"insert into notification_stops (organization_id, people_id, kind) values ($1, $2, 'COMMENTS')",
		[organization_id, person.id],
	);
	await calls.database.owner.query(
		`insert into mails (organization_id, id, kind, people_id) values ($1, $2, 'MY_DEVICES', $2)`,
		[organization_id, person.id],
	);
	const { device_exception: exception } = await calls.call(
		"addDeviceException",
		{
			organization_id,
			check: "FIREWALL_ENABLED",
			device_id: device.id,
			reason: "On a ship",
			ends_at: new Date(Date.now() + 86_400_000).toISOString(),
		},
		as,
	);
	await calls.database.owner.query(
		`update device_exceptions set requested_by_person_id = $2, requested_by_id = null, requested_by_name = null
		where id = $1`,
		[exception.id, person.id],
	);
	const { result } = await run(
		...["person", "export", "--org", organization_id, "--person", person.id],
	);
	expect(result).toMatchObject({
		document_signatures: [
			{ title: "Visitors", way: "SESSION", address: "192.0.2.88" },
		],
		document_approvals: [{ decision: "APPROVED", note: "Read twice" }],
		approves_documents: [{ title: "Visitors" }],
		requested_exceptions: [{ id: exception.id, reason: "On a ship" }],
		my_devices_links: [{ is_copied: true, redeemed_at: null }],
		mails: [{ kind: "MY_DEVICES", state: "QUEUED" }],
		stopped_mails: [{ kind: "COMMENTS" }],
	});
	expect(JSON.stringify(result)).not.toMatch(/token_hash|session_hash/);

	const { result: account } = await run(
		...["user", "export", "--email", person.email],
	);
	expect(account).toMatchObject({
		document_approvals: [{ decision: "APPROVED", note: "Read twice" }],
		document_signatures: [{ way: "SESSION", address: "192.0.2.88" }],
	});
	await erase("user", "erase", "--email", person.email);
	expect(await rowsWith("192.0.2.88")).toEqual([]);
});
