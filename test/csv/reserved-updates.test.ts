import { beforeEach, expect, test } from "vitest";
import type { Session } from "../support/console-session.ts";
import { issues, outcomes, testImports } from "./imports.ts";

const imports = testImports();
const { addPerson, doImport, tryImport } = imports;
let admin: Session;
let member: Session;
let organization_id: string;
beforeEach(async () => {
	({ member, organization_id } = imports);
	admin = await imports.served.signIn("admin", organization_id);
});

const addressOf = async (id: string) =>
	(await member.use("getPeople", { id })).people.primary_email_address;

const importAs = (session: Session, lines: string[], more: object = {}) =>
	session.call("importRecords", {
		organization_id,
		kind: "people",
		csv: lines.join("\n"),
		dry_run: false,
		...more,
	});

const WHY =
	"a member of the organization, so only an administrator can change it";

test("an import by a member changes no address that makes somebody a member", async () => {
	const boss = await addPerson("Jonas", admin.user.email);
	const me = await addPerson("Omar", member.user.email);
	const erika = await addPerson("Erika", "erika@example.com");
	const max = await addPerson("Max", "max@example.com");
	const file = [
		"id,full_name,primary_email_address",
		`${boss},Jonas,jonas2@example.com`,
		`${me},Omar,${member.user.email.toUpperCase()}`,
		`${erika},Erika,${admin.user.email}`,
		`${max},Max,max2@example.com`,
	];
	const preview = await tryImport("people", file);
	expect(outcomes(preview)).toEqual(["WRONG", "UPDATE", "WRONG", "UPDATE"]);
	expect(issues(preview)).toEqual([
		`2 primary_email_address: makes this person ${WHY}`,
		`4 primary_email_address: would make this person ${WHY}`,
	]);
	const refused = await importAs(member, file);
	expect([refused.status, refused.body.message]).toEqual([
		400,
		expect.stringContaining("line 2, primary_email_address: makes this person"),
	]);
	const some = await importAs(member, file, { skip_wrong: true });
	expect(some.body).toMatchObject({ update: 2, wrong: 2 });
	expect(await addressOf(boss)).toBe(admin.user.email);
	expect(await addressOf(erika)).toBe("erika@example.com");
	expect(await addressOf(max)).toBe("max2@example.com");
	const asAdmin = await importAs(admin, file, { skip_wrong: true });
	expect(asAdmin.body).toMatchObject({ update: 1, wrong: 1 });
	expect(await addressOf(boss)).toBe("jonas2@example.com");
	const again = await importAs(admin, file);
	expect(again.body).toMatchObject({ update: 1, wrong: 0 });
	expect(await addressOf(erika)).toBe(admin.user.email);
});

test("an import adds no second person with the address of a member", async () => {
	const boss = await addPerson("Jonas", admin.user.email);
	const file = [
		"full_name,kind,primary_email_address",
		`Jonas Again,EMPLOYEE,${admin.user.email.toUpperCase()}`,
		"Max,EMPLOYEE,max@example.com",
		// The member has no person yet.
		`Omar,EMPLOYEE,${member.user.email}`,
	];
	const preview = await tryImport("people", file, { match_by: "none" });
	expect(outcomes(preview)).toEqual(["WRONG", "ADD", "ADD"]);
	expect(issues(preview)).toEqual([
		`2 primary_email_address: is the address of a member who already is the person Jonas (${boss}); change that person`,
	]);
});

test("an import gives the address of a member to one line, however far apart the lines are", async () => {
	const omar = `Omar,EMPLOYEE,${member.user.email}`;
	const others = Array.from(
		{ length: 250 },
		(_, n) => `Person ${n},EMPLOYEE,person${n % 2}@example.com`,
	);
	const file = [
		"full_name,kind,primary_email_address",
		omar,
		...others,
		`Omar Again,EMPLOYEE,${member.user.email.toUpperCase()}`,
	];
	const preview = await tryImport("people", file, { match_by: "none" });
	expect(preview).toMatchObject({ add: 251, wrong: 1 });
	expect(issues(preview)).toEqual([
		"253 primary_email_address: is the address of a member that an earlier person already gets; give it to only one of them",
	]);
	// A line that is skipped gives nobody the address.
	await addPerson("Omar", "omar@example.com");
	const skipping = await tryImport("people", file, {
		match_by: "none",
		skip_known_names: true,
	});
	expect(skipping).toMatchObject({ add: 251, skipped: 1, wrong: 0 });
});

test("an import by an administrator makes nobody a second person of a member, until the first one has another address", async () => {
	const boss = await addPerson("Jonas", admin.user.email);
	const erika = await addPerson("Erika", "erika@example.com");
	const file = [
		"id,full_name,primary_email_address",
		`${erika},Erika Musterfrau,${admin.user.email.toUpperCase()}`,
	];
	const why = `primary_email_address: is the address of a member who already is the person Jonas (${boss}); change that person`;
	const refused = await importAs(admin, file, { dry_run: true });
	expect(issues(refused.body)).toEqual([`2 ${why}`]);
	expect(outcomes(refused.body)).toEqual(["WRONG"]);
	// In the same file, the change of the first one might be refused.
	const other = `${boss},Jonas,jonas@example.com`;
	const both = await importAs(admin, [...file, other], { dry_run: true });
	expect(outcomes(both.body)).toEqual(["WRONG", "UPDATE"]);
	await importAs(admin, [file[0] as string, other]);
	const { body } = await importAs(admin, file);
	expect(body).toMatchObject({ update: 1, wrong: 0 });
	expect(await addressOf(erika)).toBe(admin.user.email.toUpperCase());
});

test("a rollback makes nobody a second person of a member", async () => {
	const jonas = await addPerson("Jonas", admin.user.email);
	const { body } = await importAs(admin, [
		"id,full_name,primary_email_address",
		`${jonas},Jonas,jonas@example.com`,
	]);
	const boss = await addPerson("The boss", admin.user.email);
	const rolledBack = await admin.call("rollBackImport", { id: body.import_id });
	expect(rolledBack.body).toMatchObject({
		restored: 0,
		kept_records: [
			{
				id: jonas,
				reason: `cannot be restored (primary_email_address: is the address of a member who already is the person The boss (${boss}); change that person)`,
			},
		],
	});
});

test("the rollback of an import by a member changes no address that makes somebody a member", async () => {
	const person = await addPerson("Jonas", "jonas@old.example");
	const { import_id } = await doImport("people", [
		"id,full_name,primary_email_address",
		`${person},Jonas,jonas@new.example`,
	]);
	// The person becomes a member after the import.
	await imports.served.database.owner.query(
		"update users set email = 'jonas@new.example' where id = $1",
		[admin.user.id],
	);
	const { body } = await member.call("rollBackImport", { id: import_id });
	expect(body).toMatchObject({
		restored: 0,
		kept: 1,
		kept_records: [
			{
				id: person,
				name: "Jonas",
				reason: `cannot be restored by you (primary_email_address: makes this person ${WHY})`,
			},
		],
	});
	const id = import_id;
	const refused = await member.call("rollBackImport", { id, dry_run: false });
	expect(refused.status).toBe(400);
	expect(await addressOf(person)).toBe("jonas@new.example");
	await admin.use("rollBackImport", { id, dry_run: false });
	expect(await addressOf(person)).toBe("jonas@old.example");
});

test("neither an import by a member nor its rollback removes approvers of a document with a version", async () => {
	const [ada, ben] = [
		await addPerson("Ada", "ada@example.com"),
		await addPerson("Ben", "ben@example.com"),
	];
	const { document } = await member.use("addDocument", {
		organization_id,
		title: "Access",
		document_type: "POLICY",
		classification: "INTERNAL",
		approver_ids: [ada],
	});
	const file = (approvers: string) => [
		"id,title,approver_ids",
		`${document.id},Access,${approvers}`,
	];
	const approvers = async () =>
		(await member.use("getDocument", { id: document.id })).document
			.approver_ids;
	await member.use("createDraftDocumentVersion", {
		document_id: document.id,
		content: "Text",
	});
	const { import_id: id } = await doImport("document", file(`${ada}; ${ben}`));
	const why =
		"the document has a version already, so only an administrator can remove its approvers";
	for (const cell of [ben, ""]) {
		const preview = await tryImport("document", file(cell));
		expect(issues(preview)).toEqual([`2 approver_ids: ${why}`]);
	}
	const refused = await member.call("importRecords", {
		organization_id,
		kind: "document",
		csv: file("").join("\n"),
		dry_run: false,
	});
	expect(refused.status).toBe(400);
	const { body } = await member.call("rollBackImport", { id });
	expect(body).toMatchObject({
		restored: 0,
		kept_records: [
			{ reason: `cannot be restored by you (approver_ids: ${why})` },
		],
	});
	expect((await approvers()).sort()).toEqual([ada, ben].sort());
	await admin.use("rollBackImport", { id, dry_run: false });
	expect(await approvers()).toEqual([ada]);
});
