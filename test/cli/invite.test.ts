import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { makeLogger } from "../../src/log.ts";
import { type Service, serve } from "../../src/serve.ts";
import { runCommand } from "../support/command.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { makeFolder } from "../support/folder.ts";
import { auditEntries } from "../support/people.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";

let database: TestDatabase;
let settings: Record<string, string>;
let service: Service;
let sink: SmtpSink;
let organization: string;
beforeAll(async () => {
	database = await createDatabase();
	sink = await openSmtpSink();
	settings = {
		DATABASE_URL: database.url,
		ASSAY_SECRET: "what the sessions of the tests are signed with",
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	};
	service = await serve(
		readConfig({ ...settings, ASSAY_PORT: "0" }),
		makeLogger("silent"),
	);
	const made = await command("org", "create", "--name", "Acme", "--json");
	organization = JSON.parse(made.stdout).organization_id;
	await makeUser("ada@example.com", "Ada", "admin");
	await makeUser("bob@example.com", "Bob", "member");
});
afterAll(async () => {
	await service.close();
	await database.drop();
	sink.close();
});

const command = (...args: string[]) => runCommand(args, settings);

async function makeUser(email: string, name: string, role: string) {
	const who = ["--email", email, "--name", name, "--role", role];
	const made = await command("user", "create", ...who, "--org", organization);
	expect(made.code).toBe(0);
}

/** Runs `assay user invite` with the file on standard input. */
const invite = (csv: string, options: string[] = [], by = "ada@example.com") =>
	runCommand(
		["user", "invite", "-", "--org", organization, "--by", by, ...options],
		settings,
		csv,
	);

async function countInvitations(): Promise<number> {
	const { rows } = await database.owner.query(
		"select count(*)::integer as count from invitations",
	);
	return rows[0].count;
}

test("the operator invites 120 people from a file, and the service mails each in the name of the administrator", async () => {
	const lines = Array.from(
		{ length: 120 },
		(_, n) => `person-${n}@example.org,${n < 20 ? "viewer" : ""},Person ${n}`,
	);
	const csv = `E-mail,Role,Full name\n${lines.join("\n")}\nbob@example.com,,Bob\n`;
	const trial = await invite(csv, ["--dry-run"]);
	expect(trial).toMatchObject({ code: 0, stderr: "" });
	expect(
		trial.stdout,
	).toBe(`Nobody was invited. 120 people would be (20 as viewer, 100 as member).
Not read: the columns Full name.
Skipped: 1
  line 122: bob@example.com is a member already
The service would mail them their links.
`);
	expect(await countInvitations()).toBe(0);

	const done = await invite(csv);
	expect(done).toMatchObject({ code: 0, stderr: "" });
	expect(done.stdout).toContain(
		"120 people invited (20 as viewer, 100 as member).",
	);
	expect(done.stdout).toContain("Mails are queued for 120.");
	expect(done.stdout).not.toContain("asy_inv_");
	const addresses = new Set<string>();
	while (addresses.size < 120) {
		const { to, text } = await sink.next();
		expect(text).toContain("Ada invites you to join Acme");
		addresses.add(to);
	}
	expect(sink.waiting()).toBe(0);
	const entries = await auditEntries(database, organization);
	const invited = entries.filter(
		({ operation }) => operation === "inviteMembers",
	);
	expect(invited).toHaveLength(120);
	expect(invited[0]).toMatchObject({
		actor_kind: "SYSTEM",
		actor_name: "Ada",
		client: expect.stringMatching(/^command line, ./),
	});

	const again = await invite(csv);
	expect(again).toMatchObject({ code: 0, stderr: "" });
	expect(again.stdout).toContain("0 people invited.");
	expect(again.stdout).toContain("and 101 more");
});

test("without a mail server, the links are printed", async () => {
	const file = join(await makeFolder("assay-invite-"), "people.csv");
	await writeFile(file, "\ufeffemail\nlink@example.net\n");
	const { ASSAY_SMTP_URL: _, ASSAY_MAIL_FROM: __, ...unmailed } = settings;
	const of = ["--org", organization, "--by", "ada@example.com"];
	const { code, stdout } = await runCommand(
		["user", "invite", file, ...of, "--role", "viewer"],
		unmailed,
	);
	expect(code).toBe(0);
	expect(stdout).toContain("1 person gets no mail. Send them their links");
	expect(stdout).toMatch(
		/link@example\.net {2}viewer {2}http:\S+\/invitation#asy_inv_\S+\n/,
	);
});

test("a wrong line is named, nobody is invited, and the command exits with 1", async () => {
	const before = await countInvitations();
	const csv = "email,role\nok@example.net,\nwrong@example.net,owner\n";
	const trial = await invite(csv, ["--dry-run", "--json"]);
	expect(trial.code).toBe(1);
	expect(JSON.parse(trial.stdout)).toMatchObject({
		is_dry_run: true,
		invited: [{ email: "ok@example.net" }],
		problems: [{ line: 3, message: expect.stringContaining("role must be") }],
	});
	const refused = await invite(csv);
	expect(refused).toMatchObject({ code: 1, stdout: "" });
	expect(refused.stderr).toBe(
		"assay: nobody was invited; 1 line is wrong:\n  line 3: role must be one of viewer, member, admin\n",
	);
	expect(await countInvitations()).toBe(before);
});

test.each([
	["a file that is not there", ["/nowhere/people.csv"], "pass the file on"],
	[
		"no administrator",
		["-", "--by", "bob@example.com"],
		"not an administrator",
	],
	["no user", ["-", "--by", "eve@example.com"], "there is no user"],
])("%s is refused with what to do, and exit code 1", async (_, args, message) => {
	const by = args.includes("--by") ? [] : ["--by", "ada@example.com"];
	const { code, stderr } = await runCommand(
		["user", "invite", ...args, ...by, "--org", organization],
		settings,
		"email\na@example.com",
	);
	expect(code).toBe(1);
	expect(stderr).toContain(message);
});
