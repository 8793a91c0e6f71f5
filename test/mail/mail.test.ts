import { pino } from "pino";
import {
	afterAll,
	afterEach,
	beforeAll,
	expect,
	onTestFinished,
	test,
} from "vitest";
import { makePool } from "../../src/db/pool.ts";
import { composers } from "../../src/mail/composers.ts";
import { FAILURE_ADVICE } from "../../src/mail/failure.ts";
import { startMailer } from "../../src/mail/mailer.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { runCommand } from "../support/command.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { makeUser, type TestUser } from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";
import { until } from "../support/until.ts";

const from = "Assay <assay@example.com>";

let served: TestService;
let sink: SmtpSink;
let admin: TestUser;
let cookie: string;
beforeAll(async () => {
	sink = await openSmtpSink();
	served = await startService(undefined, {
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: from,
	});
	const passwordHash = await hashPassword(PASSWORD);
	const { organizationId } = served;
	admin = await makeUser(
		served.database,
		{ organizationId, role: "admin" },
		{ passwordHash },
	);
	({ cookie } = await sendTo(served.service.url, "/api/auth/sign-in/email", {
		email: admin.email,
		password: PASSWORD,
	}));
});
afterEach(() => sink.answers.clear());
afterAll(async () => {
	await served.close();
	sink.close();
});

const use = async (name: string, input: object = {}) => {
	const path = `/api/console/${name}`;
	const organization_id = served.organizationId;
	return sendTo(
		served.service.url,
		path,
		{ organization_id, ...input },
		{ cookie },
	);
};

async function invite(email: string) {
	const { status, body } = await use("inviteMember", { email, role: "viewer" });
	expect({ status, is_mailed: body.is_mailed }).toEqual({
		status: 200,
		is_mailed: true,
	});
	return body;
}

/** Waits until the newest mail to this address is as described, and returns it. */
async function waitFor(
	email: string,
	isReached: (mail: Record<string, unknown>) => boolean,
) {
	return until(`the mail to ${email}`, async () => {
		const { body } = await use("listMails");
		const found = body.mails.find(
			(mail: { recipient: string }) => mail.recipient === email,
		);
		return found && isReached(found) && found;
	});
}

/** Waits until every mail about a forgotten password has this state. */
async function waitForReset(state: string): Promise<void> {
	await until(`mails that are ${state}`, async () => {
		const { rowCount } = await served.database.owner.query(
			"select from mails where kind = 'PASSWORD_RESET' and state <> $1",
			[state],
		);
		return rowCount === 0;
	});
}

const messageId = (text: string) => /^Message-ID: (.*)$/im.exec(text)?.[1];
const linkIn = (text: string) => /#(asy_\w+)/.exec(text)?.[1];

test("a mail that the server did not take is shown with advice, and the retry has the same Message-ID", async () => {
	sink.answers.set("DATA", "451 mailbox of grace@example.com is busy");
	await invite("grace@example.com");
	const waiting = await waitFor("grace@example.com", ({ failure }) =>
		Boolean(failure),
	);
	expect(waiting).toMatchObject({
		kind: "INVITATION",
		state: "QUEUED",
		attempts: 1,
		failure: { kind: "OTHER", advice: FAILURE_ADVICE.OTHER },
	});
	expect(waiting.failure.text).toContain("451 mailbox of [address] is busy");
	sink.answers.clear();
	expect((await use("retryMail", { id: waiting.id })).status).toBe(200);
	const { text } = await sink.next();
	expect(messageId(text)).toBe(`<${waiting.id}@localhost>`);
	const sent = await waitFor(
		"grace@example.com",
		({ state }) => state === "SENT",
	);
	expect(sent).toMatchObject({ failure: null, next_attempt_at: null });
	expect((await use("retryMail", { id: waiting.id })).body.message).toContain(
		"the mail is SENT",
	);
});

test("a mail that was sent by a process that died has the same Message-ID and link the second time", async () => {
	const { invitation } = await invite("edsger@example.com");
	const first = await sink.next();
	const { id } = await waitFor(
		"edsger@example.com",
		({ state }) => state === "SENT",
	);
	// A process that is killed before it notes the end leaves the row like this, and the time passes.
	await served.database.owner.query(
		"update mails set state = 'QUEUED', sent_at = null, due_at = now() where id = $1",
		[id],
	);
	served.service.wake();
	const second = await sink.next();
	expect(messageId(second.text)).toBe(messageId(first.text));
	expect(linkIn(second.text)).toBe(linkIn(first.text));
	const { body } = await sendTo(served.service.url, "/api/link", {
		token: linkIn(second.text) ?? "",
	});
	expect(body).toMatchObject({
		purpose: "INVITATION",
		email: invitation.email,
	});
});

test("no table contains a mailed link, and a used link does not work again when its mail is repeated", async () => {
	const { url } = served.service;
	await sendTo(url, "/api/forgot-password", { email: admin.email });
	const { text } = await sink.next();
	const token = linkIn(text) ?? "";
	const { rows } = await served.database.owner.query<{ all: string }>(
		"select string_agg(m::text, ' ') || (select string_agg(l::text, ' ') from account_links l) as all from mails m",
	);
	expect(rows[0]?.all).not.toContain(token.slice(8));
	expect(rows[0]?.all).not.toContain("@");
	const password = "a better battery horse";
	const used = await sendTo(url, "/api/reset-password", { token, password });
	expect(used.status).toBe(200);
	({ cookie } = await sendTo(url, "/api/auth/sign-in/email", {
		email: admin.email,
		password,
	}));
	await waitForReset("SENT");
	await served.database.owner.query(
		"update mails set state = 'QUEUED', sent_at = null, due_at = now() where kind = 'PASSWORD_RESET'",
	);
	served.service.wake();
	await waitForReset("NOT_NEEDED");
	expect(sink.waiting()).toBe(0);
	expect(
		(await sendTo(url, "/api/reset-password", { token, password })).status,
	).toBe(400);
});

test("an address that the mail server rejects is not tried again, and nobody is mailed for a revoked invitation", async () => {
	sink.answers.set("RCPT", "550 no such user");
	await invite("nobody@example.com");
	const failed = await waitFor(
		"nobody@example.com",
		({ state }) => state === "FAILED",
	);
	expect(failed).toMatchObject({
		attempts: 1,
		failure: { kind: "RECIPIENT" },
	});
	sink.answers.clear();
	const { body } = await use("listInvitations");
	const { id } = body.invitations.find(
		(each: { email: string }) => each.email === "nobody@example.com",
	);
	await use("revokeInvitation", { id });
	await use("retryMail", { id: failed.id });
	await waitFor("nobody@example.com", ({ state }) => state === "NOT_NEEDED");
	expect(sink.waiting()).toBe(0);
});

test("an administrator gets a test mail, and cannot reach the mails of another organization", async () => {
	expect((await use("sendTestMail")).status).toBe(200);
	const { to, text } = await sink.next();
	expect(to).toBe(admin.email);
	expect(text).toContain("This is a test.");
	const elsewhere = await createOrganization(served.database.pool, "Elsewhere");
	const other = await makeUser(
		served.database,
		{ organizationId: elsewhere, role: "admin" },
		{ passwordHash: await hashPassword(PASSWORD) },
	);
	const entered = await sendTo(served.service.url, "/api/auth/sign-in/email", {
		email: other.email,
		password: PASSWORD,
	});
	const theirs = { cookie: entered.cookie };
	const { url } = served.service;
	const listed = await sendTo(
		url,
		"/api/console/listMails",
		{ organization_id: elsewhere },
		theirs,
	);
	expect(listed.body).toEqual({ sends_mail: true, mails: [] });
	const { body } = await use("listMails");
	const retried = await sendTo(
		url,
		"/api/console/retryMail",
		{ organization_id: elsewhere, id: body.mails[0].id },
		theirs,
	);
	expect(retried.status).toBe(404);
});

test("a mail about an account is the operator's, and no administrator sees or retries it", async () => {
	sink.answers.set("DATA", "451 not now");
	const { status } = await sendTo(served.service.url, "/api/forgot-password", {
		email: admin.email,
	});
	expect(status).toBe(200);
	const env = { DATABASE_URL: served.database.url };
	let mail: { id: string; recipient: string; failure: string } | undefined;
	while (!mail?.failure) {
		const { stdout, stderr } = await runCommand(
			["mail", "list", "--json"],
			env,
		);
		expect(stderr).toBe("");
		mail = JSON.parse(stdout).mails.find(
			({ kind }: { kind: string }) => kind === "PASSWORD_RESET",
		);
	}
	expect(mail.recipient).toBe(admin.email);
	const { body } = await use("listMails");
	expect(body.mails.map(({ id }: { id: string }) => id)).not.toContain(mail.id);
	expect((await use("retryMail", { id: mail.id })).status).toBe(404);
	sink.answers.clear();
	expect((await runCommand(["mail", "retry", mail.id], env)).code).toBe(0);
	// The command runs in another process, and the service looks for due mails every five seconds.
	served.service.wake();
	expect((await sink.next()).text).toContain("#asy_");
	const again = await runCommand(["mail", "retry", `${"A".repeat(32)}`], env);
	expect(again.stderr).toContain("there is no mail with this id");
});

test("the operator's list of mails says how many it leaves out, and lists only one state on request", async () => {
	const env = { DATABASE_URL: served.database.url };
	const list = (...options: string[]) =>
		runCommand(["mail", "list", ...options], env);
	const all = JSON.parse((await list("--json")).stdout);
	expect(all.total).toBe(all.mails.length);
	expect(all.total).toBeGreaterThan(1);
	const { stdout } = await list("--limit", "1");
	expect(stdout).toContain(all.mails[0].id);
	expect(stdout).not.toContain(all.mails[1].id);
	expect(stdout).toContain(`These are the last 1 of ${all.total} mails.`);
	const { owner } = served.database;
	const { id } = all.mails[1];
	await owner.query(
		"update mails set state = 'FAILED', due_at = null, sent_at = null where id = $1",
		[id],
	);
	const failed = JSON.parse((await list("--state", "FAILED", "--json")).stdout);
	expect(failed.mails.map((one: { id: string }) => one.id)).toContain(id);
	for (const { state } of failed.mails) expect(state).toBe("FAILED");
	expect((await list()).stdout).not.toContain("These are the last");
});

test("a user sends at most five test mails an hour, in all organizations together", async () => {
	for (let sent = 1; sent < 5; sent++) {
		expect((await use("sendTestMail")).status).toBe(200);
		await sink.next();
	}
	const sixth = await use("sendTestMail");
	expect(sixth).toMatchObject({ status: 400, body: { error: "bad_request" } });
	const elsewhere = await createOrganization(served.database.pool, "Second");
	await served.database.owner.query(
		"insert into memberships (organization_id, user_id, role) values ($1, $2, 'admin')",
		[elsewhere, admin.id],
	);
	const other = await use("sendTestMail", { organization_id: elsewhere });
	expect(other.status).toBe(400);
});

test("processes that share a database send each mail once, and the log has no address", async () => {
	const lines: string[] = [];
	const log = pino({}, { write: (line) => void lines.push(line) });
	const { database, organizationId } = served;
	const pool = makePool(
		{ connectionString: database.url },
		{ max: 4, role: "identity", times: "Date" },
	);
	onTestFinished(() => pool.end());
	const config = { smtpUrl: sink.url, from, requiresTls: false };
	const parts = {
		pool,
		appPool: database.pool,
		baseUrl: "http://localhost",
		secret: "x".repeat(32),
	};
	await database.owner.query(
		`insert into mails (id, organization_id, kind, user_id)
		select left($1, 12) || 'm' || lpad(n::text, 19, '0'), $1, 'TEST', $2 from generate_series(1, 40) n`,
		[organizationId, admin.id],
	);
	const mailers = [1, 2].map(() => startMailer(config, parts, composers, log));
	const ids = new Set<string | undefined>();
	for (let n = 0; n < 40; n++) ids.add(messageId((await sink.next()).text));
	expect(ids.size).toBe(40);
	for (const mailer of mailers) await mailer.idle();
	expect(sink.waiting()).toBe(0);
	sink.answers.set("DATA", `451 not now for ${admin.email}`);
	await database.owner.query(
		"insert into mails (id, organization_id, kind, user_id) values (left($1, 12) || 'n' || repeat('0', 19), $1, 'TEST', $2)",
		[organizationId, admin.id],
	);
	for (const mailer of mailers) mailer.wake();
	for (const mailer of mailers) await mailer.stop();
	sink.answers.clear();
	expect(lines.join()).not.toContain("@");
});
