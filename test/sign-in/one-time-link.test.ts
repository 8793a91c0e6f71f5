import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSetupLink } from "../../src/organizations/first-setup.ts";
import {
	RESET_LINK_HOURS,
	SETUP_LINK_HOURS,
} from "../../src/sign-in/link-hours.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { makeResetLink } from "../../src/sign-in/password-reset.ts";
import { makeSecret } from "../../src/tokens/secret.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { makeUser, type TestUser } from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";

let served: TestService;
beforeAll(async () => {
	served = await startService();
});
afterAll(() => served.close());

const send = (path: string, body: object, cookie = "") =>
	sendTo(served.service.url, path, body, { cookie });
const tokenIn = (link: string | undefined) => new URL(link ?? "").hash.slice(1);
const read = (token: string) => send("/api/link", { token });

async function makeAdmin(): Promise<{ admin: TestUser; cookie: string }> {
	const passwordHash = await hashPassword(PASSWORD);
	const admin = await makeUser(
		served.database,
		{ organizationId: served.organizationId, role: "admin" },
		{ passwordHash },
	);
	const { cookie } = await send("/api/auth/sign-in/email", {
		email: admin.email,
		password: PASSWORD,
	});
	return { admin, cookie };
}

test("a setup link is valid while nobody has an account, and afterwards its page says why it no longer is", async () => {
	const token = tokenIn(
		await makeSetupLink(served.database.pool, served.service.url),
	);
	expect((await read(token)).body).toEqual({ purpose: "SETUP" });
	expect(await read(makeSecret("set"))).toMatchObject({
		status: 400,
		body: { message: expect.stringContaining("setup-link") },
	});
	await makeAdmin();
	expect((await read(token)).body.message).toContain("already set up");
});

test("setup and reset links work for the hours that their texts name", async () => {
	const { admin, cookie } = await makeAdmin();
	const { owner } = served.database;
	const organization_id = served.organizationId;
	const member = await makeUser(served.database, {
		organizationId: organization_id,
		role: "member",
	});
	await makeResetLink(owner, "https://x.test", admin.id);
	const made = await send(
		"/api/console/createPasswordResetLink",
		{ organization_id, user_id: member.id },
		cookie,
	);
	expect(made.status).toBe(200);
	const { rows } = await owner.query(
		`select user_id, round(extract(epoch from expires_at - now()) / 3600)::int as hours
		from account_links where user_id = any($1) or purpose = 'SETUP'`,
		[[admin.id, member.id]],
	);
	expect(rows).toHaveLength(3);
	for (const { user_id, hours } of rows) {
		expect(hours).toBe(user_id ? RESET_LINK_HOURS : SETUP_LINK_HOURS);
	}
});

test("a reset link says whose password it sets, and reading it does not use it up", async () => {
	const { admin } = await makeAdmin();
	const { owner } = served.database;
	const link = await makeResetLink(owner, "https://x.test", admin.id);
	const token = tokenIn(link);
	for (let times = 0; times < 2; times++) {
		expect((await read(token)).body).toEqual({
			purpose: "PASSWORD_RESET",
			email: admin.email,
			live_api_tokens: 0,
			passkeys: 0,
			is_first_proof: true,
		});
	}
	await makeResetLink(owner, "https://x.test", admin.id);
	expect((await read(token)).status).toBe(400);
});

test("until it is revoked, an invitation's page names the organization, and is the same whether or not there is an account", async () => {
	const { admin, cookie } = await makeAdmin();
	const whoHasAnAccount = await makeUser(served.database);
	for (const email of ["New.Person@example.com", whoHasAnAccount.email]) {
		const { body } = await send(
			"/api/console/inviteMember",
			{ organization_id: served.organizationId, email, role: "member" },
			cookie,
		);
		const token = tokenIn(body.invitation_url);
		expect((await read(token)).body).toEqual({
			purpose: "INVITATION",
			email: email.toLowerCase(),
			organization_name: "Acme",
			role: "member",
			invited_by: admin.name,
		});
		await send(
			"/api/console/revokeInvitation",
			{ organization_id: served.organizationId, id: body.invitation.id },
			cookie,
		);
		expect((await read(token)).status).toBe(400);
	}
});

test("malformed links are rejected field by field", async () => {
	for (const token of [
		"",
		"x",
		"asy_rst_short",
		makeSecret("inv").slice(0, -1),
	]) {
		expect(await read(token)).toMatchObject({
			status: 400,
			body: { fields: [{ field: "token" }] },
		});
	}
});
