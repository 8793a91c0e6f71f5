import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { makeSecret } from "../../src/tokens/secret.ts";
import { runCommand } from "../support/command.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import {
	auditEntries,
	joinOrganization,
	makeApiToken,
	makeUser,
	type TestUser,
} from "../support/people.ts";
import {
	shareService,
	startService,
	type TestService,
} from "../support/service.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";

const NEW_PASSWORD = "a different battery";

let served: TestService;
let sink: SmtpSink;
let passwordHash: string;
beforeAll(async () => {
	sink = await openSmtpSink();
	served = await startService(undefined, {
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	passwordHash = await hashPassword(PASSWORD);
});
afterAll(async () => {
	await served.close();
	sink.close();
});

/** Creates an organization with an admin and a viewer. */
async function makeTeam() {
	const { database } = served;
	const id = await createOrganization(database.pool, "Acme");
	const make = (role: "admin" | "viewer") =>
		makeUser(database, { organizationId: id, role }, { passwordHash });
	return { id, admin: await make("admin"), viewer: await make("viewer") };
}

const send = (path: string, body: object, cookie = "") =>
	sendTo(served.service.url, path, body, { cookie });

const signIn = (user: TestUser, password = PASSWORD) =>
	send("/api/auth/sign-in/email", { email: user.email, password });

async function makeLink(
	caller: TestUser,
	user: TestUser,
	organizationId: string,
) {
	const { cookie } = await signIn(caller);
	return send(
		"/api/console/createPasswordResetLink",
		{ organization_id: organizationId, user_id: user.id },
		cookie,
	);
}

const tokenIn = (text: string) => /#(asy_rst_\w+)/.exec(text)?.[1] ?? "";

const reset = (token: string, password = NEW_PASSWORD) =>
	send("/api/reset-password", { token, password });

test("an admin's link sets a member's password once, ends the sessions, and revokes API tokens", async () => {
	const { id, admin, viewer } = await makeTeam();
	const { cookie } = await signIn(viewer);
	const { token: apiToken } = await makeApiToken(served.database, viewer);
	const made = await makeLink(admin, viewer, id);
	expect(made.status).toBe(200);
	expect(made.body.reset_url).toContain("/reset-password#asy_rst_");
	const token = tokenIn(made.body.reset_url);
	const short = await reset(token, "short");
	expect(short.body.fields).toMatchObject([{ field: "password" }]);
	const done = await reset(token);
	expect(done).toMatchObject({
		status: 200,
		body: {
			email: viewer.email,
			live_api_tokens: 0,
			revoked_api_tokens: 1,
		},
	});
	expect((await send("/api/console/getProfile", {}, cookie)).status).toBe(401);
	expect((await signIn(viewer)).status).toBe(401);
	expect((await signIn(viewer, NEW_PASSWORD)).status).toBe(200);
	const listed = await sendTo(
		served.service.url,
		"/api/mcp/tools/listOrganizations",
		{},
		{ authorization: `Bearer ${apiToken}` },
	);
	expect(listed.status).toBe(401);
	expect((await reset(token)).status).toBe(400);
	const entries = await auditEntries(served.database, id);
	expect(entries).toContainEqual(
		expect.objectContaining({
			operation: "createPasswordResetLink",
			actor_name: admin.name,
			record_id: viewer.id,
		}),
	);
	expect(entries).toContainEqual(
		expect.objectContaining({
			operation: "resetPassword",
			actor_kind: "USER",
			actor_name: viewer.name,
		}),
	);
	expect(JSON.stringify(entries)).not.toContain("asy_");
});

test("when a reset link is used twice at once, exactly one use succeeds", async () => {
	const { id, admin, viewer } = await makeTeam();
	const token = tokenIn((await makeLink(admin, viewer, id)).body.reset_url);
	const answers = await Promise.all([
		reset(token, "the first password"),
		reset(token, "the second password"),
	]);
	expect(answers.map(({ status }) => status).sort()).toEqual([200, 400]);
});

test("a reset link that was replaced, has expired, was invented or is older than the current password is rejected", async () => {
	const { id, admin, viewer } = await makeTeam();
	const make = async () =>
		tokenIn((await makeLink(admin, viewer, id)).body.reset_url);
	const replaced = await make();
	const changed = await make();
	for (const token of [replaced, makeSecret("rst"), makeSecret("set"), "x"]) {
		expect((await reset(token)).status).toBe(400);
	}
	const { cookie } = await signIn(viewer);
	const change = await send(
		"/api/auth/change-password",
		{ currentPassword: PASSWORD, newPassword: NEW_PASSWORD },
		cookie,
	);
	expect(change.status).toBe(200);
	expect((await reset(changed)).status).toBe(400);
	const expired = await make();
	await served.database.owner.query(
		"update account_links set expires_at = now()",
	);
	expect((await reset(expired)).status).toBe(400);
	expect((await signIn(viewer, NEW_PASSWORD)).status).toBe(200);
});

test("an admin's reset link never gives access to another organization, whether the user is a member there now or joins later", async () => {
	const { id, admin, viewer } = await makeTeam();
	const other = await makeTeam();
	const early = tokenIn((await makeLink(admin, viewer, id)).body.reset_url);
	await joinOrganization(served.database, viewer, other.id, "viewer");
	expect((await reset(early)).status).toBe(400);
	const { cookie } = await signIn(admin);
	const input = { organization_id: id, user_id: viewer.id };
	for (const operation of ["createPasswordResetLink", "resetTwoFactor"]) {
		const answer = await send(`/api/console/${operation}`, input, cookie);
		expect(answer).toMatchObject({ status: 403, body: { error: "forbidden" } });
	}
	// A user who is an admin of both organizations may make a link.
	await joinOrganization(served.database, admin, other.id, "admin");
	expect((await makeLink(admin, viewer, id)).status).toBe(200);
	expect((await signIn(viewer)).status).toBe(200);
});

test("a link made by a user who is no longer admin is rejected", async () => {
	const { id, admin, viewer } = await makeTeam();
	const second = await makeUser(
		served.database,
		{ organizationId: id, role: "admin" },
		{ passwordHash },
	);
	const token = tokenIn((await makeLink(second, viewer, id)).body.reset_url);
	const { cookie } = await signIn(admin);
	await send(
		"/api/console/updateMember",
		{ organization_id: id, user_id: second.id, role: "viewer" },
		cookie,
	);
	expect((await reset(token)).status).toBe(400);
});

test("members can reset nobody's password, and admins neither their own nor those of users of other organizations", async () => {
	const { id, admin, viewer } = await makeTeam();
	const stranger = await makeUser(served.database);
	expect((await makeLink(viewer, admin, id)).status).toBe(403);
	expect((await makeLink(admin, admin, id)).status).toBe(400);
	expect((await makeLink(admin, stranger, id)).status).toBe(404);
});

test("a mailed link sets a forgotten password, an unknown address gets the same response, and mails are limited", async () => {
	const { id, viewer } = await makeTeam();
	const forgot = (email: string) => send("/api/forgot-password", { email });
	const answers = [
		await forgot("nobody@example.com"),
		await forgot(viewer.email.toUpperCase()),
	];
	for (const { status, body } of answers) {
		expect({ status, body }).toEqual({ status: 200, body: {} });
	}
	const first = await sink.next();
	expect(first.to).toBe(viewer.email);
	await forgot(viewer.email);
	await sink.next();
	await forgot(viewer.email);
	const last = await sink.next();
	// The fourth request gets the same response as the others. The next mail is for another user, so
	// this request has caused none.
	expect((await forgot(viewer.email)).status).toBe(200);
	const other = await makeTeam();
	await forgot(other.viewer.email);
	expect((await sink.next()).to).toBe(other.viewer.email);
	expect((await reset(tokenIn(first.text))).status).toBe(400);
	expect((await reset(tokenIn(last.text))).status).toBe(200);
	expect((await signIn(viewer, NEW_PASSWORD)).status).toBe(200);
	const operations = (await auditEntries(served.database, id)).map(
		({ operation }) => operation,
	);
	expect(operations).toContain("requestPasswordReset");
});

test("an invitation is mailed with one link, and the response contains another one", async () => {
	const { id, admin } = await makeTeam();
	const { cookie } = await signIn(admin);
	const { body } = await send(
		"/api/console/inviteMember",
		{ organization_id: id, email: "new@example.com", role: "member" },
		cookie,
	);
	expect(body.is_mailed).toBe(true);
	const { to, text } = await sink.next();
	expect(to).toBe("new@example.com");
	expect(text).toContain("/invitation#asy_inv_");
	expect(text).not.toContain(body.invitation_url);
	expect(text).toContain(`${admin.name} invites you to join Acme`);
});

test("without a mail server the response to a forgotten password says what to do", async () => {
	const apart = await shareService();
	const path = "/api/forgot-password";
	const { body } = await sendTo(apart.service.url, path);
	expect(body).toEqual({ sends_mail: false });
	const answer = await sendTo(apart.service.url, path, {
		email: "ada@example.com",
	});
	expect(answer).toMatchObject({
		status: 400,
		body: { message: expect.stringContaining("admin") },
	});
});

test("a command makes a reset link for any user", async () => {
	const { id, viewer } = await makeTeam();
	const other = await makeTeam();
	await joinOrganization(served.database, viewer, other.id, "admin");
	const settings = { DATABASE_URL: served.database.url };
	const command = ["user", "reset-link", "--email", viewer.email];
	const { stdout } = await runCommand(command, settings);
	expect((await reset(tokenIn(stdout))).status).toBe(200);
	const entries = await auditEntries(served.database, id);
	expect(entries).toContainEqual(
		expect.objectContaining({
			operation: "createPasswordResetLink",
			actor_kind: "SYSTEM",
			record_id: viewer.id,
		}),
	);
});
