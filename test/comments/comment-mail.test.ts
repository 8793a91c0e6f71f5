import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { updateComment } from "../../src/comments/own-comments.ts";
import { invoke, type Services } from "../../src/invoke.ts";
import { sendTo } from "../support/console-client.ts";
import { makeServices, signedIn } from "../support/people.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";
import { startTools, type TestTools } from "../support/tools.ts";

let sink: SmtpSink;
let tools: TestTools;
/** The addresses of the members by their ids. */
let emails: Map<string, string>;
beforeAll(async () => {
	sink = await openSmtpSink();
	tools = await startTools(undefined, {
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	const { members } = await use("listMembers", {});
	emails = new Map(
		members.map((one: { user_id: string; email: string }) => [
			one.user_id,
			one.email,
		]),
	);
	for (const [id, email] of emails) {
		await use("addPeople", {
			full_name: `Person ${id.slice(-4)}`,
			primary_email_address: email,
			kind: "EMPLOYEE",
		});
	}
});
beforeEach(() => tools.database.owner.query("delete from mails"));
afterAll(async () => {
	await tools.close();
	sink.close();
});

const use = (tool: string, input: object, token?: string) =>
	tools.use(tool, { organization_id: tools.organizationId, ...input }, token);

async function makeTask(name = "Rotate the keys"): Promise<string> {
	const { task } = await use("addTask", { name });
	return task.id;
}

const comment = (record_id: string, more: object = {}, token?: string) =>
	tools.use("addComment", { record_id, text: "A secret text", ...more }, token);

const mails = async () =>
	(
		await tools.database.owner.query(
			`select p.primary_email_address as to, m.state, m.due_at - now() as wait,
				m.due_at > now() + interval '50 minutes' as is_late
			from mails m join people p on p.id = m.people_id order by m.created_at, p.id`,
		)
	).rows;

/**
 * Makes the waiting mails due, and wakes the mailer as a new mail does. A mail that is being sent would
 * be sent twice.
 */
async function hurry(): Promise<void> {
	await tools.database.owner.query(
		"update mails set due_at = now() where state = 'QUEUED' and attempts = 0",
	);
	tools.service.wake();
}

test("who is mentioned or watches gets one mail about several comments, without their text, and the author gets none", async () => {
	const { admin, member, viewer } = tools;
	const record_id = await makeTask();
	await tools.use("watchRecord", { record_id }, admin.token);
	await comment(record_id, { mentioned_user_ids: [viewer.id] }, member.token);
	await comment(record_id, {}, member.token);
	const queued = await mails();
	expect(queued.map(({ to }) => to).sort()).toEqual(
		[emails.get(admin.id), emails.get(viewer.id)].sort(),
	);
	await hurry();
	const arrived = [await sink.next(), await sink.next()];
	const of = (id: string) => arrived.find(({ to }) => to === emails.get(id));
	expect(of(viewer.id)?.text).toContain(
		'2 comments on the task "Rotate the keys" and mentioned you',
	);
	expect(of(admin.id)?.text).toContain('2 comments on the task "Rotate');
	expect(of(admin.id)?.text).not.toContain("mentioned you");
	expect(of(admin.id)?.text).toContain(
		`/o/${tools.organizationId}/r/task/${record_id}`,
	);
	for (const { text } of arrived) expect(text).not.toContain("secret text");
});

test("a second mail about a record comes an hour after the first, and only with what is new", async () => {
	const { admin, member } = tools;
	const record_id = await makeTask("Second");
	await tools.use("watchRecord", { record_id }, admin.token);
	await comment(record_id, {}, member.token);
	await hurry();
	await sink.next();
	await expect.poll(async () => (await mails())[0]?.state).toBe("SENT");
	await comment(record_id, {}, member.token);
	const [, second] = await mails();
	expect(second).toMatchObject({ state: "QUEUED", is_late: true });
	await hurry();
	expect((await sink.next()).text).toContain('a comment on the task "Second"');
});

test("who is mentioned only by a correction gets a mail about the old comment, and watchers get none", async () => {
	const { admin, member, viewer } = tools;
	const record_id = await makeTask("Corrected");
	await tools.use("watchRecord", { record_id }, admin.token);
	const { comment: made } = await comment(record_id, {}, member.token);
	await hurry();
	expect((await sink.next()).to).toBe(emails.get(admin.id));
	await tools.database.owner.query(
		"update record_comments set created_at = now() - interval '10 minutes' where id = $1",
		[made.id],
	);
	const author = { id: member.id, name: "Member", email: "" };
	// The operation needs a session, so the test calls it without a door, as if with a mail server.
	const mail = { wake: () => {} } as Services["mail"];
	await invoke(
		{ ...makeServices(tools.database), mail },
		await signedIn(tools.database, author),
		updateComment,
		{ id: made.id, text: made.text, mentioned_user_ids: [viewer.id] },
	);
	await hurry();
	const { to, text } = await sink.next();
	expect(to).toBe(emails.get(viewer.id));
	expect(text).toContain('a comment on the task "Corrected" and mentioned you');
	expect(sink.waiting()).toBe(0);
});

test("no mail goes out if the comment is deleted, or the membership has ended meanwhile", async () => {
	const { member } = tools;
	const record_id = await makeTask("Third");
	const leaver = await tools.makeUser({ [tools.organizationId]: "viewer" });
	const ending = await tools.makeUser({ [tools.organizationId]: "viewer" });
	const { members } = await use("listMembers", {});
	for (const { user_id, email } of members) {
		if (user_id !== leaver.id && user_id !== ending.id) continue;
		await use("addPeople", {
			full_name: "Leaver",
			primary_email_address: email,
			kind: "EMPLOYEE",
		});
	}
	const { comment: made } = await comment(
		record_id,
		{ mentioned_user_ids: [tools.viewer.id] },
		member.token,
	);
	const other = await makeTask("Fourth");
	await comment(
		other,
		{ mentioned_user_ids: [leaver.id, ending.id] },
		member.token,
	);
	await tools.use("deleteComment", { id: made.id });
	await use("removeMember", { user_id: leaver.id });
	await use("updateMember", { user_id: ending.id, ends_on: "2199-01-01" });
	await tools.database.owner.query(
		"update memberships set ends_on = '2020-01-01' where user_id = $1",
		[ending.id],
	);
	await hurry();
	await expect
		.poll(async () => (await mails()).map(({ state }) => state))
		.toEqual(["NOT_NEEDED", "NOT_NEEDED", "NOT_NEEDED"]);
	expect(sink.waiting()).toBe(0);
});

test("the link in a mail stops all mails about comments, and no other record is mailed about", async () => {
	const { admin, member } = tools;
	const record_id = await makeTask("Fifth");
	await tools.use("watchRecord", { record_id }, admin.token);
	await comment(record_id, {}, member.token);
	await hurry();
	const { text } = await sink.next();
	expect(text).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click/im);
	const token = /stop-mails#(\S+)/.exec(text)?.[1];
	const answer = await sendTo(tools.url, "/api/stop-mails/choice", {
		token,
		is_stopped: true,
	});
	expect(answer.body).toEqual({ kind: "COMMENTS", is_stopped: true });
	const next = await makeTask("Sixth");
	await comment(next, { mentioned_user_ids: [admin.id] }, member.token);
	expect(await mails()).toHaveLength(1);
});
