import { expect, test } from "vitest";
import { sendTo } from "../support/console-client.ts";
import { startInviting } from "../support/invitations.ts";

const inviting = startInviting();
const { invite, countOpen } = inviting;

test("500 people are invited from a file, get their mails, and one of them joins by the link in it", async () => {
	const admin = await inviting.served.signIn("admin");
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
		const { to, text } = await inviting.sink.next();
		mails.set(to, text);
	}
	expect(inviting.sink.waiting()).toBe(0);
	const text = mails.get("person-7@example.org") ?? "";
	const token = /invitation#(\S+)/.exec(text)?.[1];
	const joined = await sendTo(inviting.served.service.url, "/api/join", {
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
