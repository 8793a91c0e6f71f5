import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { type Answer, PASSWORD, sendTo } from "../support/console-client.ts";
import { nameOfRole } from "../support/database.ts";
import {
	auditEntries,
	joinOrganization,
	makeUser,
	type TestUser,
} from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";

let served: TestService;
let passwordHash: string;
beforeAll(async () => {
	served = await startService();
	passwordHash = await hashPassword(PASSWORD);
});
afterAll(() => served.close());

const send = (path: string, body: object, cookie = "", userAgent = "Firefox") =>
	sendTo(served.service.url, path, body, { cookie, "user-agent": userAgent });

const signIn = (user: TestUser, password = PASSWORD, userAgent?: string) =>
	send(
		"/api/auth/sign-in/email",
		{ email: user.email, password },
		"",
		userAgent,
	);

/** Creates a user who is the only member of two organizations. */
async function makePerson() {
	const { database } = served;
	const first = await createOrganization(database.pool, "First");
	const second = await createOrganization(database.pool, "Second");
	const user = await makeUser(
		database,
		{ organizationId: first, role: "admin" },
		{ passwordHash },
	);
	await joinOrganization(database, user, second, "viewer");
	return { user, first, second };
}

const call = (operation: string, input: object, cookie: string) =>
	send(`/api/console/${operation}`, input, cookie);

/** Returns the audit log's entries about accounts, oldest first. */
async function eventsIn(organizationId: string): Promise<string[]> {
	const entries = await auditEntries(served.database, organizationId);
	return entries
		.filter(({ record_kind }) => record_kind === "user")
		.map(({ operation, outcome }) => `${operation} ${outcome}`);
}

test("users see and change their own name, and each of their organizations logs the change", async () => {
	const { user, first, second } = await makePerson();
	const { cookie } = await signIn(user);
	const { body } = await call("getProfile", {}, cookie);
	expect(body.profile).toMatchObject({
		user_id: user.id,
		email: user.email,
		two_factor_enabled: false,
		organizations: [
			{ id: first, name: "First", role: "admin" },
			{ id: second, name: "Second", role: "viewer" },
		],
	});
	const changed = await call("updateProfile", { name: "Grace" }, cookie);
	expect(changed.body.profile).toEqual({ ...body.profile, name: "Grace" });
	const session = await sendTo(
		served.service.url,
		"/api/auth/get-session",
		undefined,
		{ cookie },
	);
	expect(session.body.user.name).toBe("Grace");
	for (const organizationId of [first, second]) {
		const entries = await auditEntries(served.database, organizationId);
		expect(entries.at(-1)).toMatchObject({
			operation: "updateProfile",
			changes: { name: { before: user.name, after: "Grace" } },
		});
	}
	const empty = await call("updateProfile", { name: "" }, cookie);
	expect(empty.body.fields).toMatchObject([{ field: "name" }]);
});

test("sessions are listed without secrets, the current one is marked, and one or all others can be ended", async () => {
	const { user } = await makePerson();
	const here = (await signIn(user, PASSWORD, "Firefox")).cookie;
	const there = (await signIn(user, PASSWORD, "Safari")).cookie;
	const third = (await signIn(user, PASSWORD, "Chrome")).cookie;
	const list = async (cookie = here) =>
		(await call("listSessions", {}, cookie)).body.sessions as Record<
			string,
			unknown
		>[];
	const sessions = await list();
	expect(sessions).toHaveLength(3);
	expect(sessions.filter(({ is_current }) => is_current)).toMatchObject([
		{ user_agent: "Firefox", address: expect.stringContaining("127.0.0.1") },
	]);
	const secret = decodeURIComponent(there).split("=")[1]?.split(".")[0] ?? "-";
	expect(JSON.stringify(sessions)).not.toContain(secret);
	const safari = sessions.find(({ user_agent }) => user_agent === "Safari");
	const ended = await call("revokeSession", { id: safari?.id }, here);
	expect(ended.body).toEqual({ revoked_session_ids: [safari?.id] });
	expect((await call("getProfile", {}, there)).status).toBe(401);
	expect((await call("revokeSession", { id: safari?.id }, here)).status).toBe(
		404,
	);
	await call("revokeOtherSessions", {}, here);
	expect((await call("getProfile", {}, third)).status).toBe(401);
	expect(await list()).toHaveLength(1);
});

test("nobody can end another user's session", async () => {
	const mine = await makePerson();
	const theirs = await makePerson();
	const { cookie } = await signIn(mine.user);
	const other = (await signIn(theirs.user)).cookie;
	const { body } = await call("listSessions", {}, other);
	const { id } = body.sessions[0];
	expect((await call("revokeSession", { id }, cookie)).status).toBe(404);
	await call("revokeOtherSessions", {}, cookie);
	expect((await call("getProfile", {}, other)).status).toBe(200);
	for (const junk of ["", "a\u0000b", "a".repeat(65), "♠"]) {
		const refused = await call("revokeSession", { id: junk }, cookie);
		expect(refused.status).toBe(400);
		expect(refused.body.message).toContain("id");
	}
});

test("a user can leave an organization, but its last admin cannot", async () => {
	const { user, first, second } = await makePerson();
	const { cookie } = await signIn(user);
	const leave = (organization_id: string): Promise<Answer> =>
		call("leaveOrganization", { organization_id }, cookie);
	expect(await leave(first)).toMatchObject({
		status: 400,
		body: { message: expect.stringContaining("last admin") },
	});
	expect((await leave(second)).body).toEqual({ left_organization_id: second });
	expect((await leave(second)).status).toBe(403);
	const entries = await auditEntries(served.database, second);
	expect(entries.at(-1)).toMatchObject({
		operation: "leaveOrganization",
		actor_name: user.name,
		changes: { role: { before: "viewer" } },
	});
});

test("changing a password needs the current one, ends other sessions if asked, and limits guesses", async () => {
	const { user, first } = await makePerson();
	const other = (await signIn(user)).cookie;
	const { cookie } = await signIn(user);
	const change = (currentPassword: string, newPassword: string) =>
		send(
			"/api/auth/change-password",
			{ currentPassword, newPassword, revokeOtherSessions: true },
			cookie,
		);
	expect((await change("wrong password!", "the new password")).status).toBe(
		400,
	);
	expect((await change(PASSWORD, "short")).status).toBe(400);
	const changed = await change(PASSWORD, "the new password");
	expect(changed.status).toBe(200);
	expect((await call("getProfile", {}, other)).status).toBe(401);
	expect((await call("getProfile", {}, changed.cookie)).status).toBe(200);
	expect((await signIn(user, "the new password")).status).toBe(200);
	const guesses = await Promise.all(
		Array.from({ length: 12 }, () =>
			send(
				"/api/auth/change-password",
				{ currentPassword: "a wrong guess", newPassword: "the new password" },
				changed.cookie,
			),
		),
	);
	expect(guesses.filter(({ status }) => status === 429)).toHaveLength(2);
	// Wrong guesses within a session do not keep the user from signing in.
	expect((await signIn(user, "the new password")).status).toBe(200);
	expect(await eventsIn(first)).toContain("changePassword DONE");
	expect(await eventsIn(first)).toContain("changePassword REFUSED");
});

test("sign-ins, wrong passwords of known users and sign-outs are in the log of each organization, without secrets", async () => {
	const { user, first, second } = await makePerson();
	await signIn(user, "wrong password!");
	// A rejected sign-in is answered before it is logged, so that the duration of the answer reveals
	// nothing.
	await expect.poll(() => eventsIn(second)).toEqual(["signIn REFUSED"]);
	await sendTo(served.service.url, "/api/auth/sign-in/email", {
		email: "nobody@example.com",
		password: "wrong password!",
	});
	const { cookie } = await signIn(user);
	await send("/api/auth/sign-out", {}, cookie);
	for (const organizationId of [first, second]) {
		expect(await eventsIn(organizationId)).toEqual([
			"signIn REFUSED",
			"signIn DONE",
			"signOut DONE",
		]);
		const entries = await auditEntries(served.database, organizationId);
		expect(entries.at(-1)).toMatchObject({
			actor_kind: "USER",
			actor_name: user.name,
			client: "Firefox",
			record_id: user.id,
		});
		const text = JSON.stringify(entries);
		expect(text).not.toContain("wrong password!");
		expect(text).not.toContain(PASSWORD);
	}
	for (let i = 0; i < 15; i++) await signIn(user, "wrong password!");
	const countRefused = async () =>
		(await eventsIn(first)).filter((one) => one.endsWith("REFUSED")).length;
	// One entry is from before, ten are for the passwords that were checked, and one says that no
	// more passwords are checked.
	await expect.poll(countRefused).toBe(12);
	expect(JSON.stringify(await auditEntries(served.database, first))).toContain(
		'{"throttled":{"after":"15 minutes"}}',
	);
});

test("a failing audit log does not keep users from signing in", async () => {
	const { user, first } = await makePerson();
	const { owner } = served.database;
	const app = await nameOfRole(owner, "app");
	await owner.query(`revoke execute on function audit_append from ${app}`);
	expect((await signIn(user)).status).toBe(200);
	await owner.query(`grant execute on function audit_append to ${app}`);
	expect(await eventsIn(first)).toEqual([]);
	expect((await signIn(user)).status).toBe(200);
	expect(await eventsIn(first)).toEqual(["signIn DONE"]);
});
