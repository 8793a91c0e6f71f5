import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { Session } from "../support/console-session.ts";
import { startInviting } from "../support/invitations.ts";

const inviting = startInviting();
const { invite, countOpen } = inviting;

let admin: Session;
beforeAll(async () => {
	admin = await inviting.served.signIn("admin");
});

test("a file counts once against the limit of a day", async () => {
	const counted = await inviting.served.signIn("admin");
	const sent = async () => {
		const { rows } = await inviting.served.database.owner.query(
			"select count(distinct coalesce(bulk_id, id))::integer as count from invitations where invited_by_id = $1",
			[counted.user.id],
		);
		return rows[0].count;
	};
	await invite(counted, "email\na@example.net\nb@example.net\nc@example.net");
	expect(await sent()).toBe(1);
	await inviting.served.database.owner.query(
		`insert into invitations (organization_id, id, email, role, token_hash, invited_by, invited_by_id, expires_at)
		select $1::text, lpad(n::text, 32, 'x'), 'x' || n || '@example.net', 'viewer', sha256(('x' || n)::bytea), 'Ada', $2, now() + interval '1 day'
		from generate_series(1, 98) n`,
		[inviting.served.organizationId, counted.user.id],
	);
	expect((await invite(counted, "email\nd@example.net")).status).toBe(200);
	const refused = await invite(counted, "email\ne@example.net");
	expect(refused.status).toBe(400);
	expect(refused.body.message).toContain("100 invitations within a day");
});

test("wrong lines are named with their numbers, and then nobody is invited", async () => {
	const csv = `Role;Note;Email
member;x;Grace@example.com

owner;x;ada@example.com
viewer;x;not an address
;x;grace@EXAMPLE.com`;
	const before = await countOpen();
	const trial = await invite(admin, csv, { dry_run: true });
	expect(trial.body.invited).toEqual([
		{ email: "grace@example.com", role: "member", is_mailed: true },
	]);
	expect(trial.body.problems).toEqual([
		{ line: 4, message: "role must be one of viewer, member, admin" },
		{
			line: 5,
			message: "email must be an e-mail address such as ada@example.com",
		},
		{ line: 6, message: "has the same address as line 2" },
	]);
	const refused = await invite(admin, csv);
	expect(refused.status).toBe(400);
	expect(
		refused.body.fields.map((one: { field: string }) => one.field),
	).toEqual(["csv line 4", "csv line 5", "csv line 6"]);
	expect(await countOpen()).toBe(before);
});

test.each([
	"email",
	"E-mail",
	"E-Mail Address",
	"Email Address [Required]",
	"email_address",
	"Mail",
	"Work email",
	"primary_email_address",
])("the addresses may stand under the heading %s, and columns that are not read are named", async (heading) => {
	const csv = `Full name;${heading};Department;;ROLE\nJo;jo@example.com;IT;;Viewer\nMo;mo@example.com;;;`;
	const { body } = await invite(admin, csv, { dry_run: true });
	expect(body).toMatchObject({
		invited: [
			{ email: "jo@example.com", role: "viewer" },
			{ email: "mo@example.com", role: "member" },
		],
		problems: [],
		unknown_columns: ["Full name", "Department"],
	});
});

test("two columns that could both have the addresses are refused, because a guess would invite the wrong people", async () => {
	const csv = "E-Mail,Work email\nprivate@example.com,work@example.com";
	const { status, body } = await invite(admin, csv, { dry_run: true });
	expect(status).toBe(400);
	expect(body.message).toContain(
		'must have one column email; "E-Mail", "Work email" could all be it',
	);
});

test("the example file of the documentation is accepted as it is", async () => {
	const file = join(import.meta.dirname, "../../deploy/people.csv");
	const csv = await readFile(file, "utf8");
	const { body } = await invite(admin, csv, {
		dry_run: true,
	});
	expect(body.problems).toEqual([]);
	expect(body.invited).toHaveLength(3);
	const page = join(import.meta.dirname, "../../docs/inviting.md");
	const shown = csv.trim().replaceAll(/^/gm, "    ");
	expect(await readFile(page, "utf8")).toContain(shown);
});

test.each([
	["no column email", "address\nada@example.com", "the column email"],
	["no line", "email\n", "1 to 2000 lines"],
	[
		"too many lines",
		`email\n${"a@example.com\n".repeat(2_001)}`,
		"1 to 2000 lines",
	],
])("a file with %s is refused", async (_, csv, expected) => {
	const { status, body } = await invite(admin, csv);
	expect(status).toBe(400);
	expect(body.message).toContain(expected);
});

test("a file that would make too many open invitations is refused as a whole", async () => {
	await inviting.served.database.owner.query(
		`insert into invitations (organization_id, id, email, role, token_hash, invited_by, expires_at)
		select $1::text, lpad(n::text, 32, 'y'), 'y' || n || '@example.net', 'viewer', sha256(('y' || n)::bytea), 'Ada', now() + interval '1 day'
		from generate_series(1, 2000 - $2::int - 9) n`,
		[inviting.served.organizationId, await countOpen()],
	);
	const before = await countOpen();
	const lines = Array.from({ length: 10 }, (_, n) => `many-${n}@example.com`);
	const { status, body } = await invite(admin, `email\n${lines.join("\n")}`);
	expect(status).toBe(400);
	expect(body.message).toContain("the maximum of an organization is 2000");
	expect(await countOpen()).toBe(before);
});

test("somebody who made the organization on their own mails only a few, and gets links for the others", async () => {
	const person = await inviting.served.signIn("viewer");
	const { organization } = await person.use("createOrganization", {
		name: "Own",
	});
	const lines = Array.from({ length: 20 }, (_, n) => `own-${n}@example.com`);
	const { body } = await person.call("inviteMembers", {
		organization_id: organization.id,
		csv: `email\n${lines.join("\n")}`,
	});
	const mailed = body.invited.filter(
		(one: { is_mailed: boolean }) => one.is_mailed,
	);
	expect(mailed).toHaveLength(5);
	expect(body.invited).toHaveLength(20);
	expect(body.invited[19].invitation_url).toContain("/invitation#asy_inv_");
});

test("only administrators invite", async () => {
	const member = await inviting.served.signIn("member");
	expect((await invite(member, "email\na@example.com")).status).toBe(403);
});
