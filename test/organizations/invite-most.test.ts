import { afterAll, beforeAll, expect, test } from "vitest";
import { sendTo } from "../support/console-client.ts";
import {
	type Session,
	startConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";

let served: TestConsole;
let sink: SmtpSink;
beforeAll(async () => {
	sink = await openSmtpSink();
	served = await startConsole({
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
});
afterAll(async () => {
	await served.close();
	sink.close();
});

const invite = ({ call }: Session, csv: string, options: object = {}) =>
	call("inviteMembers", {
		organization_id: served.organizationId,
		csv,
		...options,
	});
const countOpen = async () => {
	const { rows } = await served.database.owner.query(
		"select count(*)::integer as count from invitations where accepted_at is null and revoked_at is null",
	);
	return rows[0].count;
};

test("500 people are invited from a file, get their mails, and one of them joins by the link in it", async () => {
	const admin = await served.signIn("admin");
	const lines = Array.from(
		{ length: 500 },
		(_, n) => `person-${n}@example.org,${n % 2 ? "viewer" : ""}`,
	);
	const csv = `email,role\n${lines.join("\n")}\n`;
	const trial = await invite(admin, csv, { dry_run: true });
	expect(trial.body.invited).toHaveLength(500);
	expect(JSON.stringify(trial.body)).not.toContain("asy_inv_");
	expect(await countOpen()).toBe(0);

	const { status, body } = await invite(admin, csv);
	expect(status).toBe(200);
	expect(body.problems).toEqual([]);
	expect(body.invited.slice(0, 2)).toMatchObject([
		{ email: "person-0@example.org", role: "member", is_mailed: true },
		{ email: "person-1@example.org", role: "viewer", is_mailed: true },
	]);
	const mails = new Map<string, string>();
	while (mails.size < 500) {
		const { to, text } = await sink.next();
		mails.set(to, text);
	}
	expect(sink.waiting()).toBe(0);
	const text = mails.get("person-7@example.org") ?? "";
	const token = /invitation#(\S+)/.exec(text)?.[1];
	const joined = await sendTo(served.service.url, "/api/join", {
		token,
		name: "Person 7",
		password: "correct horse battery",
	});
	expect(joined.status).toBe(200);

	const again = await invite(admin, csv);
	expect(again.body.invited).toEqual([]);
	expect(again.body.skipped).toHaveLength(500);
	expect(again.body.skipped[7]).toEqual({
		line: 9,
		email: "person-7@example.org",
		reason: "MEMBER",
	});
	expect(again.body.skipped[8].reason).toBe("INVITED");
});
