import { afterAll, beforeAll, expect, test } from "vitest";
import { inviteMember } from "../../src/organizations/invitation-operations.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { type Answer, PASSWORD, sendTo } from "../support/console-client.ts";
import {
	auditEntries,
	callAs,
	makeApiToken,
	makeUser,
	type TestUser,
} from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";

let served: TestService;
let base: string;
let passwordHash: string;
beforeAll(async () => {
	served = await startService();
	base = served.service.url;
	passwordHash = await hashPassword(PASSWORD);
});
afterAll(() => served.close());

const makePerson = (role: "admin" | "viewer" = "viewer") =>
	makeUser(
		served.database,
		{ organizationId: served.organizationId, role },
		{ passwordHash },
	);

const send = (
	path: string,
	body?: object,
	headers?: Record<string, string>,
): Promise<Answer> => sendTo(base, path, body, headers);

const signIn = (email: string, password = PASSWORD) =>
	send("/api/auth/sign-in/email", { email, password });

async function cookieOf(user: TestUser): Promise<{ cookie: string }> {
	const { status, cookie } = await signIn(user.email);
	expect(status).toBe(200);
	return { cookie };
}

test("a user signs in with e-mail and password, in upper or lower case, and calls operations with the cookie", async () => {
	const user = await makePerson();
	const answer = await signIn(user.email.toUpperCase());
	expect(answer.status).toBe(200);
	expect(answer.headers.get("set-cookie")).toMatch(
		/assay\.session_token=.*HttpOnly; SameSite=Strict/,
	);
	const listed = await send(
		"/api/console/listMembers",
		{
			organization_id: served.organizationId,
		},
		{ cookie: answer.cookie },
	);
	expect(listed.status).toBe(200);
	expect(
		listed.body.members.map((member: { email: string }) => member.email),
	).toContain(user.email);
});

test("a wrong password, an unknown user and a user without a password get the same response", async () => {
	const user = await makePerson();
	const without = await makeUser(served.database);
	const answers = [
		await signIn(user.email, "wrong password!"),
		await signIn("nobody@example.com"),
		await signIn(without.email),
	];
	for (const answer of answers) {
		expect(answer.status).toBe(401);
		expect(answer.body).toEqual(answers[0]?.body);
		expect(answer.cookie).toBe("");
	}
});

test("after ten wrong passwords from a network, sign-ins to that account from there have to wait, and others do not", async () => {
	const user = await makePerson();
	const wrong = await Promise.all(
		Array.from({ length: 12 }, () => signIn(user.email, "wrong password!")),
	);
	expect(wrong.map(({ status }) => status).sort()).toEqual([
		...Array<number>(10).fill(401),
		429,
		429,
	]);
	const right = await signIn(user.email);
	expect(right.status).toBe(429);
	expect(Number(right.headers.get("retry-after"))).toBeGreaterThan(0);
	expect((await signIn((await makePerson()).email)).status).toBe(200);
	await served.database.owner.query(
		"update sign_in_failures set ends_at = ends_at - interval '1 hour'",
	);
	expect((await signIn(user.email)).status).toBe(200);
});

test("a right password resets the count of wrong passwords", async () => {
	const user = await makePerson();
	for (let i = 0; i < 15; i++) {
		if (i % 5 === 4) await cookieOf(user);
		else expect((await signIn(user.email, "wrong password!")).status).toBe(401);
	}
});

test("without a session, or with an invented or signed-out one, an operation answers 401", async () => {
	const user = await makePerson();
	const signedIn = await cookieOf(user);
	const call = (headers: Record<string, string>) =>
		send("/api/console/listApiTokens", {}, headers);
	expect((await call(signedIn)).status).toBe(200);
	expect(await call({})).toMatchObject({
		status: 401,
		body: { error: "unauthorized" },
	});
	expect(
		(await call({ cookie: "assay.session_token=invented.invented" })).status,
	).toBe(401);
	expect((await send("/api/auth/sign-out", {}, signedIn)).status).toBe(200);
	expect((await call(signedIn)).status).toBe(401);
});

test("requests from a page of another site, or from no page, are rejected, with and without a session", async () => {
	const signedIn = await cookieOf(await makePerson());
	for (const path of ["/api/console/listApiTokens", "/api/auth/sign-out"]) {
		for (const origin of ["https://evil.example", "null"]) {
			const answer = await send(path, {}, { ...signedIn, origin });
			expect(answer.status, `${path} ${origin}`).toBe(403);
		}
		const response = await fetch(`${base}${path}`, {
			method: "POST",
			body: "{}",
			headers: { ...signedIn, "content-type": "application/json" },
		});
		expect(response.status).toBe(403);
	}
	expect((await send("/api/console/listApiTokens", {}, signedIn)).status).toBe(
		200,
	);
});

test("nobody can sign up, and only the listed routes of better-auth exist", async () => {
	const input = { email: "new@example.com", password: PASSWORD, name: "New" };
	const before = await served.database.owner.query("select from users");
	for (const path of [
		"/api/auth/sign-up/email",
		"/api/auth//sign-up/email",
		"/api/auth/sign-in/../sign-up/email",
		"/api/auth/update-user",
		"/api/auth/delete-user",
	]) {
		expect((await send(path, input)).status, path).toBe(404);
	}
	expect((await send("/api/auth/error")).status).toBe(404);
	const after = await served.database.owner.query("select from users");
	expect(after.rowCount).toBe(before.rowCount);
});

test("errors of operations name their fields, and calls that the role does not permit get 403", async () => {
	const signedIn = await cookieOf(await makePerson());
	const wrong = await send(
		"/api/console/createApiToken",
		{ nmae: 1 },
		signedIn,
	);
	expect(wrong.status).toBe(400);
	expect(wrong.body).toMatchObject({ error: "bad_request" });
	expect(wrong.body.fields).toContainEqual({
		field: "name",
		message: "is required",
	});
	const invite = {
		organization_id: served.organizationId,
		email: "x@example.com",
		role: "admin",
	};
	expect(
		(await send("/api/console/inviteMember", invite, signedIn)).status,
	).toBe(403);
	expect((await send("/api/console/nothing", {}, signedIn)).status).toBe(404);
});

test("an invited user creates an account with the link, once, and signs in", async () => {
	const admin = await makePerson("admin");
	const made = await callAs(served.database, admin, inviteMember, {
		organization_id: served.organizationId,
		email: "invited@example.com",
		role: "member",
	});
	const token = new URL(made.invitation_url).hash.slice(1);
	const input = { token, name: "Ada", password: PASSWORD };
	const short = await send("/api/join", { ...input, password: "short" });
	expect(short.body.fields).toMatchObject([{ field: "password" }]);
	const joined = await send("/api/join", input);
	expect(joined.status).toBe(200);
	expect(joined.body).toMatchObject({
		email: "invited@example.com",
		organization_id: served.organizationId,
	});
	expect((await send("/api/join", input)).status).toBe(400);
	expect((await signIn("invited@example.com")).status).toBe(200);
	const entries = await auditEntries(served.database, served.organizationId);
	expect(entries).toContainEqual(
		expect.objectContaining({
			operation: "acceptInvitation",
			actor_name: "Ada",
		}),
	);
});

test("an API token cannot call operations of the console, so it cannot create another token", async () => {
	const user = await makePerson("admin");
	const { token } = await makeApiToken(served.database, user);
	const headers = { authorization: `Bearer ${token}` };
	const input = { name: "another" };
	const asTool = await send("/api/mcp/tools/createApiToken", input, headers);
	expect(asTool.status).toBe(404);
	const asConsole = await send("/api/console/createApiToken", input, headers);
	expect(asConsole.status).toBe(401);
});
