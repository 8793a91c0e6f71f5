import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { UNATTENDED_HEADER } from "../../src/sign-in/unattended-header.ts";
import { type Answer, PASSWORD, sendTo } from "../support/console-client.ts";
import { auditEntries, joinOrganization, makeUser } from "../support/people.ts";
import { shareService, type TestService } from "../support/service.ts";

let served: TestService;
let passwordHash: string;
beforeAll(async () => {
	served = await shareService();
	passwordHash = await hashPassword(PASSWORD);
});
afterAll(() => served.close());

const send = (
	path: string,
	body: object | undefined,
	headers: Record<string, string> = {},
) => sendTo(served.service.url, path, body, headers);
const signIn = async (email: string, headers: Record<string, string> = {}) =>
	(
		await send(
			"/api/auth/sign-in/email",
			{ email, password: PASSWORD },
			headers,
		)
	).cookie;
const call = (
	name: string,
	input: object,
	cookie: string,
	headers: Record<string, string> = {},
): Promise<Answer> =>
	send(`/api/console/${name}`, input, { cookie, ...headers });

/** Makes an organization with these limits, and an administrator of it. */
async function makeLimited(limits: object) {
	const organization_id = await createOrganization(
		served.database.pool,
		"Acme",
	);
	const user = await makeUser(
		served.database,
		{ organizationId: organization_id, role: "admin" },
		{ passwordHash },
	);
	const cookie = await signIn(user.email);
	const set = await call(
		"updateSessionLimits",
		{ organization_id, ...limits },
		cookie,
	);
	expect(set.status).toBe(200);
	return { organization_id, user, cookie };
}

/** Changes the user's sessions as if they had not been used for this long. */
const leave = (userId: string, interval: string) =>
	served.database.owner.query(
		"update sessions set last_used_at = now() - $2::interval where user_id = $1",
		[userId, interval],
	);
const age = (userId: string, interval: string) =>
	served.database.owner.query(
		"update sessions set created_at = now() - $2::interval where user_id = $1",
		[userId, interval],
	);
const sessionsOf = async (userId: string) =>
	(
		await served.database.owner.query(
			"select id from sessions where user_id = $1",
			[userId],
		)
	).rows.length;

test("a session that was not used for longer than the organization allows ends with its next request, at every door", async () => {
	const { organization_id, user } = await makeLimited({
		session_idle_minutes: 30,
	});
	const doors: [string, (cookie: string) => Promise<Answer>, unknown][] = [
		["a read", (cookie) => call("listRisks", { organization_id }, cookie), 401],
		["a write", (cookie) => call("updateProfile", { name: "X" }, cookie), 401],
		[
			"a file",
			(cookie) =>
				send(
					`/api/console/export/listRisks.csv?organization_id=${organization_id}`,
					undefined,
					{ cookie },
				),
			401,
		],
		[
			"the password",
			(cookie) =>
				send("/api/auth/verify-password", { password: PASSWORD }, { cookie }),
			401,
		],
		[
			"the session",
			(cookie) => send("/api/auth/get-session", undefined, { cookie }),
			200,
		],
	];
	for (const [name, use, status] of doors) {
		await served.database.owner.query(
			"delete from sessions where user_id = $1",
			[user.id],
		);
		const cookie = await signIn(user.email);
		await leave(user.id, "29 minutes");
		expect((await call("getProfile", {}, cookie)).status, name).toBe(200);
		await leave(user.id, "31 minutes");
		const answer = await use(cookie);
		expect(answer.status, name).toBe(status);
		if (status === 200) expect(answer.body, name).toBe(null);
		expect(await sessionsOf(user.id), name).toBe(0);
	}
});

test("a session that is used all the time still ends when it is as old as the organization allows", async () => {
	const { organization_id, user, cookie } = await makeLimited({
		session_max_hours: 12,
	});
	await age(user.id, "11 hours 59 minutes");
	expect((await call("listRisks", { organization_id }, cookie)).status).toBe(
		200,
	);
	await age(user.id, "12 hours 1 minute");
	expect((await call("listRisks", { organization_id }, cookie)).status).toBe(
		401,
	);
});

test("a session that exceeds the limits of one organization goes on in the others, and does not come back by being used", async () => {
	const { organization_id, user, cookie } = await makeLimited({
		session_idle_minutes: 30,
	});
	const other = await createOrganization(served.database.pool, "Easy");
	await joinOrganization(served.database, user, other, "admin");
	await leave(user.id, "31 minutes");
	for (let request = 0; request < 3; request++) {
		const refused = await call("listRisks", { organization_id }, cookie);
		expect(refused.status).toBe(403);
		expect(refused.body.message).toBe(
			"Acme ends sessions after 30 minutes without use; sign in again to continue there",
		);
		expect(
			(await call("listRisks", { organization_id: other }, cookie)).status,
		).toBe(200);
	}
	const { body } = await call("listOrganizations", {}, cookie);
	expect(body.organizations).toMatchObject([{ id: other }]);
	expect(body.closed).toMatchObject([{ id: organization_id, why: "SESSION" }]);
	const again = await signIn(user.email, { cookie });
	expect((await call("listRisks", { organization_id }, again)).status).toBe(
		200,
	);
});

test("requests that a page sends by itself do not keep a session alive", async () => {
	const { organization_id, user, cookie } = await makeLimited({
		session_idle_minutes: 30,
	});
	await leave(user.id, "29 minutes");
	const input = { organization_id };
	const alone = await call("listRisks", input, cookie, {
		[UNATTENDED_HEADER]: "1",
	});
	expect(alone.status).toBe(200);
	const { rows } = await served.database.owner.query(
		"select last_used_at < now() - interval '28 minutes' as is_unchanged from sessions where user_id = $1",
		[user.id],
	);
	expect(rows).toEqual([{ is_unchanged: true }]);
	expect((await call("listRisks", input, cookie)).status).toBe(200);
	const { rows: used } = await served.database.owner.query(
		"select last_used_at > now() - interval '1 minute' as is_new from sessions where user_id = $1",
		[user.id],
	);
	expect(used).toEqual([{ is_new: true }]);
});

test("only an administrator who has just proved their identity changes the limits, and the audit log has them", async () => {
	const { organization_id, cookie, user } = await makeLimited({});
	const member = await makeUser(
		served.database,
		{ organizationId: organization_id, role: "member" },
		{ passwordHash },
	);
	const change = (input: object, as = cookie) =>
		call("updateSessionLimits", { organization_id, ...input }, as);
	const refused = await change(
		{ session_max_hours: 12 },
		await signIn(member.email),
	);
	expect(refused.status).toBe(403);
	for (const [input, allowed] of [
		[{ session_idle_minutes: 4 }, 5],
		[{ session_idle_minutes: 10_081 }, 10_080],
		[{ session_max_hours: 0 }, 1],
		[{ session_max_hours: 721 }, 720],
		[{ session_max_hours: 1.5 }, "whole number"],
	] as const) {
		const { status, body } = await change(input);
		expect(status).toBe(400);
		expect(body.fields).toMatchObject([{ field: Object.keys(input)[0] }]);
		expect(body.message).toContain(String(allowed));
	}
	await served.database.owner.query(
		"update sessions set proved_at = now() - interval '11 minutes' where user_id = $1",
		[user.id],
	);
	const stale = await change({ session_max_hours: 12 });
	expect(stale.body.fields).toMatchObject([{ field: "proof" }]);
	await send(
		"/api/auth/verify-password",
		{ password: PASSWORD },
		{
			cookie,
		},
	);
	const { body } = await change({
		session_max_hours: 12,
		session_idle_minutes: 60,
	});
	expect(body.limits).toEqual({
		session_max_hours: 12,
		session_idle_minutes: 60,
	});
	const cleared = await change({ session_idle_minutes: null });
	expect(cleared.body.limits.session_idle_minutes).toBe(null);
	expect(
		(await auditEntries(served.database, organization_id)).at(-1),
	).toMatchObject({
		operation: "updateSessionLimits",
		changes: { session_idle_minutes: { before: 60, after: null } },
	});
});

test("the list of sessions says where each was used last, and with which browser", async () => {
	const { cookie } = await makeLimited({});
	await call("getProfile", {}, cookie, { "user-agent": "Firefox" });
	const { body } = await call("listSessions", {}, cookie, {
		"user-agent": "curl/8.0",
	});
	expect(body.sessions).toMatchObject([
		{
			last_user_agent: "curl/8.0",
			last_address: expect.stringContaining("127.0.0.1"),
		},
	]);
	expect(body.sessions[0].user_agent).not.toBe("curl/8.0");
});
