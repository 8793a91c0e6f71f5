import { afterAll, beforeAll, expect, test } from "vitest";
import { type Calls, makeCalls } from "../support/calls.ts";
import { makeUser, signedIn } from "../support/people.ts";
import { privacyCommands } from "./commands.ts";
import { MARKER, USER_MARKER } from "./personal-data.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await makeCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

const { run, rowsWith } = privacyCommands(() => calls);

test("nothing is left of erased people and users in what the past keeps of deleted documents and statements", async () => {
	await makeUser(calls.database, {
		organizationId: organization_id,
		role: "admin",
	});
	const user = await makeUser(
		calls.database,
		{ organizationId: organization_id, role: "admin" },
		{ email: `${USER_MARKER}@example.com` },
	);
	await calls.database.owner.query("update users set name = $2 where id = $1", [
		user.id,
		`${USER_MARKER} User`,
	]);
	const acting = {
		...(await signedIn(calls.database, user)),
		name: `${USER_MARKER} User`,
	};
	const { people: person } = await calls.call("addPeople", {
		organization_id,
		full_name: `${MARKER} Jones`,
		primary_email_address: `${MARKER}@example.com`,
		kind: "EMPLOYEE",
	});
	const { document } = await calls.call("addDocument", {
		organization_id,
		title: "Visitors",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const { document_version: version } = await calls.call(
		"createDraftDocumentVersion",
		{ document_id: document.id, content: "Visitors wear a badge." },
		acting,
	);
	await calls.call("publishDocumentVersion", { id: version.id }, acting);
	await calls.call(
		"requestDocumentVersionSignature",
		{ document_version_id: version.id, person_ids: [person.id] },
		acting,
	);
	// The person signs by a link to the address that the user set.
	await calls.database.owner.query(
		`update document_signatures set state = 'SIGNED', signed_at = now(), way = 'LINK',
			content_hash = sha256('x'), mailed_to = $2, address_set_by_id = $3, address_set_by_name = $4,
			address_set_at = now()
		where person_id = $1`,
		[person.id, `${MARKER}@example.com`, user.id, acting.name],
	);
	const { framework } = await calls.call("addFramework", {
		organization_id,
		name: "ISO 27001",
	});
	const { control } = await calls.call("addControl", {
		organization_id,
		framework_id: framework.id,
		section_title: "A.5",
		name: "Policies",
	});
	const framework_id: string = framework.id;
	const { sha256 } = await calls.call("getStatementOfApplicability", {
		framework_id,
	});
	await calls.call(
		"approveStatementOfApplicability",
		{ framework_id, sha256 },
		acting,
	);
	await calls.call("deleteDocument", { id: document.id });
	await calls.call("deleteControl", { id: control.id });
	await calls.call("deleteFramework", { id: framework.id });
	const keptOf = async (text: string) =>
		(await rowsWith(text)).filter((row) => row.startsWith("record_versions"));
	// The signature; and the version before and after its publication, the request and the statement.
	expect(await keptOf(MARKER)).toHaveLength(1);
	expect(await keptOf(USER_MARKER)).toHaveLength(4);

	for (const args of [
		["person", "erase", "--org", organization_id, "--person", person.id],
		["user", "erase", "--email", user.email],
	]) {
		const { code, stderr } = await run(...args);
		expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	}
	expect(await keptOf(MARKER)).toEqual([]);
	expect(await rowsWith(USER_MARKER)).toEqual([]);
});

test("the names of an erased user go from the versions that the user published and from the requests to sign", async () => {
	await makeUser(calls.database, {
		organizationId: organization_id,
		role: "admin",
	});
	const user = await makeUser(
		calls.database,
		{ organizationId: organization_id, role: "admin" },
		{ email: `${USER_MARKER}-2@example.com` },
	);
	const name = `${USER_MARKER} Publisher`;
	await calls.database.owner.query("update users set name = $2 where id = $1", [
		user.id,
		name,
	]);
	const acting = { ...(await signedIn(calls.database, user)), name };
	const { people: person } = await calls.call("addPeople", {
		organization_id,
		full_name: "Signer",
		primary_email_address: "signer@example.com",
		kind: "EMPLOYEE",
	});
	const { document } = await calls.call("addDocument", {
		organization_id,
		title: "Visitors",
		document_type: "POLICY",
		classification: "INTERNAL",
	});
	const { document_version: version } = await calls.call(
		"createDraftDocumentVersion",
		{ document_id: document.id, content: "Visitors wear a badge." },
	);
	await calls.call("publishDocumentVersion", { id: version.id }, acting);
	await calls.call(
		"requestDocumentVersionSignature",
		{ document_version_id: version.id, person_ids: [person.id] },
		acting,
	);
	const inDocuments = async () =>
		(await rowsWith(USER_MARKER)).filter((row) => row.startsWith("document_"));
	expect(await inDocuments()).toHaveLength(2);
	const { code, stderr } = await run("user", "erase", "--email", user.email);
	expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	expect(await inDocuments()).toEqual([]);
});
