import { createHash, randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { makeId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { systemPrincipal } from "../../src/principal.ts";
import { endSignInRule } from "../../src/sign-in/only-provider/sign-in-rule.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { findFreePort } from "../support/free-port.ts";
import {
	CLIENT_ID,
	CLIENT_SECRET,
	type IdentityProvider,
	type PersonAtProvider,
	startIdentityProvider,
} from "../support/identity-provider.ts";
import {
	auditEntries,
	joinOrganization,
	makeUser,
	type TestUser,
} from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";
import { openSmtpSink, type SmtpSink } from "../support/smtp-sink.ts";
import { Visitor } from "../support/visitor.ts";

const START = "/api/sign-in-with-provider";
/** The domain of the addresses that the installation's provider may vouch for. */
const DOMAIN = "verified.example";

let provider: IdentityProvider;
let sink: SmtpSink;
let served: TestService;
let base: string;
let passwordHash: string;

beforeAll(async () => {
	provider = await startIdentityProvider();
	sink = await openSmtpSink();
	const port = await findFreePort();
	base = `http://localhost:${port}`;
	provider.allow(base);
	served = await startService(undefined, {
		...provider.settings(DOMAIN),
		ASSAY_PORT: String(port),
		ASSAY_OUTGOING_NETWORKS: "127.0.0.1",
		ASSAY_OAUTH: "on",
		ASSAY_OAUTH_REGISTRATION: "on",
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	passwordHash = await hashPassword(PASSWORD);
});
afterAll(async () => {
	await served.close();
	await provider.close();
	sink.close();
});

const call = (operation: string, input: object, cookie: string) =>
	sendTo(base, `/api/console/${operation}`, input, { cookie });

const query = (sql: string, values: unknown[] = []) =>
	served.database.owner.query(sql, values).then(({ rows }) => rows);

const isPage = (url: URL) =>
	!url.pathname.startsWith("/api/") && url.port === new URL(base).port;

async function signInWithPassword(email: string): Promise<string> {
	const { cookie } = await sendTo(base, "/api/auth/sign-in/email", {
		email,
		password: PASSWORD,
	});
	return cookie;
}

const setSecondFactor = (userId: string, isOn: boolean) =>
	query("update users set two_factor_enabled = $2 where id = $1", [
		userId,
		isOn,
	]);

/**
 * Signs in with the passkey that has the user's id. Two-factor authentication is on afterwards.
 */
async function signInWithPasskey({ id, email }: TestUser): Promise<string> {
	await setSecondFactor(id, false);
	const cookie = await signInWithPassword(email);
	await setSecondFactor(id, true);
	// The service stores this when a real passkey signs in.
	await query(
		`update sessions set passkey_id = $1 where id = (
			select id from sessions where user_id = $1 order by created_at desc limit 1
		)`,
		[id],
	);
	return cookie;
}

/** Makes a member with a password, and signs them in with it. */
async function member(
	organizationId: string,
	role: "admin" | "member" | "viewer" = "member",
	email?: string,
) {
	const user = await makeUser(
		served.database,
		{ organizationId, role },
		{ passwordHash, ...(email !== undefined && { email }) },
	);
	return { ...user, cookie: await signInWithPassword(user.email) };
}

const personAt = (domain = "example.com"): PersonAtProvider => {
	const sub = randomUUID();
	return { sub, email: `${sub}@${domain}`, email_verified: true, name: "Ada" };
};

async function signInAt(
	path: string,
	person: PersonAtProvider,
): Promise<string> {
	provider.signInAs(person);
	const visitor = new Visitor();
	const { url } = await visitor.open(`${base}${path}`, isPage);
	expect(url.searchParams.get("problem")).toBeNull();
	return visitor.cookieFor(base);
}

/**
 * Makes an organization with a provider, an administrator who came in through it, and another one
 * with a password, a passkey and two-factor authentication, who can have an emergency account.
 */
async function makeCompany() {
	const id = await createOrganization(served.database.pool, "Acme");
	const keeper = await member(id, "admin");
	await query(
		`insert into passkeys (id, user_id, rp_id, credential_id, public_key, name, can_sign_in, is_synced)
		values ($1::text, $1, 'localhost', convert_to($1::text, 'UTF8'), '\\x00', 'Key', true, false)`,
		[keeper.id],
	);
	keeper.cookie = await signInWithPasskey(keeper);
	const { body } = await call(
		"addIdentityProvider",
		{
			organization_id: id,
			kind: "OIDC",
			name: "Example Inc.",
			issuer: provider.issuer,
			client_id: CLIENT_ID,
			client_secret: CLIENT_SECRET,
			role: "viewer",
			group_roles: [{ group: "Security", role: "admin" }],
		},
		keeper.cookie,
	);
	const providerId = body.identity_provider.id as string;
	provider.allowRedirect(body.identity_provider.callback_url);
	await query(
		"update identity_providers set tested_at = now(), is_enabled = true where id = $1",
		[providerId],
	);
	const path = `${START}?provider=${providerId}`;
	const boss = await signInAt(path, { ...personAt(), groups: ["Security"] });
	const update = (fields: object, cookie = boss) =>
		call("updateSignInRule", { organization_id: id, ...fields }, cookie);
	return {
		id,
		providerId,
		path,
		boss,
		keeper,
		update,
		switchOn: async () => {
			const answer = await update({
				only_provider: true,
				emergency_user_ids: [keeper.id],
			});
			expect(answer.status, JSON.stringify(answer.body)).toBe(200);
			return answer.body.rule;
		},
	};
}

const read = (organization_id: string, cookie: string) =>
	call("listRisks", { organization_id }, cookie);

const makeToken = async (cookie: string, fields: object = {}) =>
	(await call("createApiToken", { name: "Script", ...fields }, cookie)).body
		.token as string;

/** Calls a tool over plain HTTP and over MCP. Returns both statuses, and the text of the first. */
async function callTool(token: string, organization_id: string) {
	const post = (path: string, body: object) =>
		fetch(`${base}${path}`, {
			method: "POST",
			headers: {
				authorization: `Bearer ${token}`,
				"content-type": "application/json",
				accept: "application/json, text/event-stream",
			},
			body: JSON.stringify(body),
		});
	const plain = await post("/api/mcp/tools/listRisks", { organization_id });
	const mcp = await post("/api/mcp/v1", {
		jsonrpc: "2.0",
		id: 1,
		method: "tools/call",
		params: { name: "listRisks", arguments: { organization_id } },
	});
	await mcp.text();
	return { statuses: [plain.status, mcp.status], text: await plain.text() };
}

/** Connects a program with OAuth in the session. Returns its access token. */
async function connectApp(cookie: string, fields: object = {}) {
	const redirect_uri = "http://127.0.0.1:1455/callback";
	const { body: registered } = await sendTo(base, "/oauth/register", {
		client_name: "A program",
		redirect_uris: [redirect_uri],
	});
	const verifier = randomBytes(32).toString("base64url");
	const { status, body } = await call(
		"allowApp",
		{
			client_id: registered.client_id,
			redirect_uri,
			response_type: "code",
			code_challenge: createHash("sha256").update(verifier).digest("base64url"),
			code_challenge_method: "S256",
			state: "12345678901234567890",
			...fields,
		},
		cookie,
	);
	if (status !== 200) return { status, token: "" };
	const response = await fetch(`${base}/oauth/token`, {
		method: "POST",
		body: new URLSearchParams({
			grant_type: "authorization_code",
			code: new URL(body.redirect_to).searchParams.get("code") ?? "",
			code_verifier: verifier,
			client_id: registered.client_id,
			redirect_uri,
		}),
	});
	const { access_token } = (await response.json()) as { access_token: string };
	return { status, token: access_token };
}

describe("switching it on", () => {
	test("takes a session of the provider, and an administrator who gets in without it", async () => {
		const { id, keeper, update } = await makeCompany();
		const named = { emergency_user_ids: [keeper.id] };
		const withPassword = await update(
			{ only_provider: true, ...named },
			keeper.cookie,
		);
		expect(withPassword.body.fields[0].field).toBe("only_provider");
		const alone = await update({ only_provider: true });
		expect(alone.body.fields[0].field).toBe("emergency_user_ids");
		const { body } = await update({ only_provider: true, ...named });
		expect(body.rule).toMatchObject({
			only_provider: true,
			accepts_older_tokens: true,
			is_own_session_accepted: true,
		});
		const [entry] = (await auditEntries(served.database, id)).slice(-1);
		expect(entry).toMatchObject({
			operation: "updateSignInRule",
			changes: {
				only_provider: { before: false, after: true },
				emergency_accounts: { before: [], after: [keeper.email] },
			},
		});
	});

	test("an emergency account is an administrator with a safe way to sign in", async () => {
		const { id, update } = await makeCompany();
		const weak = await member(id, "admin");
		const plain = await member(id, "member");
		for (const user of [weak, plain]) {
			const { body } = await update({ emergency_user_ids: [user.id] });
			expect(body.fields[0].field).toBe("emergency_user_ids[0]");
		}
		await query("update users set two_factor_enabled = true where id = $1", [
			weak.id,
		]);
		const { status } = await update({ emergency_user_ids: [weak.id] });
		expect(status).toBe(200);
	});

	test("it takes a fresh proof, and an administrator", async () => {
		const { id, boss, update } = await makeCompany();
		const viewer = await member(id, "viewer");
		expect((await update({ only_provider: false }, viewer.cookie)).status).toBe(
			403,
		);
		const { body: me } = await call("getProfile", {}, boss);
		await query(
			"update sessions set proved_at = now() - interval '11 minutes' where user_id = $1",
			[me.profile.user_id],
		);
		const { body } = await update({ only_provider: true });
		expect(body.fields[0].field).toBe("proof");
	});
});

describe("a session without the provider", () => {
	test("reaches the organization at no door of the console, and is told how to sign in", async () => {
		const { id, path, switchOn } = await makeCompany();
		const locked = await member(id, "admin");
		const risk = await call(
			"addRisk",
			{
				organization_id: id,
				name: "R",
				category: "C",
				treatment: "ACCEPTED",
				inherent_likelihood: 1,
				inherent_impact: 1,
			},
			locked.cookie,
		);
		expect(risk.status).toBe(200);
		await switchOn();
		const { status, body } = await read(id, locked.cookie);
		expect(status).toBe(403);
		expect(body.message).toBe(
			"Acme accepts only its identity provider; sign in with it to continue there",
		);
		for (const [operation, input] of [
			["getRisk", { id: risk.body.risk.id }],
			["updateRisk", { id: risk.body.risk.id, note: "x" }],
			["listMembers", { organization_id: id }],
			["updateSignInRule", { organization_id: id, only_provider: false }],
			["leaveOrganization", { organization_id: id }],
		] as const) {
			const answer = await call(operation, input, locked.cookie);
			expect(answer.status, operation).toBe(403);
		}
		const csv = await sendTo(
			base,
			`/api/console/export/listRisks.csv?organization_id=${id}`,
			undefined,
			{ cookie: locked.cookie },
		);
		expect(csv.status).toBe(403);
		const listed = await call("listOrganizations", {}, locked.cookie);
		expect(listed.body.organizations).toEqual([]);
		expect(listed.body.closed).toEqual([
			{
				id,
				message: expect.stringContaining("Acme"),
				why: "PROVIDER",
				sign_in_ways: [{ name: "Example Inc.", path }],
			},
		]);
		// The session goes on for what is the user's own.
		expect((await call("getProfile", {}, locked.cookie)).status).toBe(200);
	});

	test("goes on in the other organizations of its user", async () => {
		const { id, switchOn } = await makeCompany();
		const user = await member(id, "member");
		const other = await createOrganization(served.database.pool, "Easy");
		await joinOrganization(served.database, user, other, "admin");
		await switchOn();
		expect((await read(id, user.cookie)).status).toBe(403);
		expect((await read(other, user.cookie)).status).toBe(200);
	});

	test("is also one of another organization's provider", async () => {
		const acme = await makeCompany();
		const other = await makeCompany();
		const domain = `${randomUUID()}.example`;
		await verify(other.id, domain);
		const person = personAt(domain);
		const user = await makeUser(
			served.database,
			{ organizationId: acme.id, role: "admin" },
			{ email: person.email ?? "" },
		);
		await joinOrganization(served.database, user, other.id, "viewer");
		const cookie = await signInAt(other.path, person);
		expect((await read(acme.id, cookie)).status).toBe(200);
		await acme.switchOn();
		expect((await read(acme.id, cookie)).status).toBe(403);
		expect((await read(other.id, cookie)).status).toBe(200);
	});

	test("the installation's provider counts if the domain of the address is verified for the organization", async () => {
		const { id, switchOn } = await makeCompany();
		const person = personAt(DOMAIN);
		await makeUser(
			served.database,
			{ organizationId: id, role: "viewer" },
			{ email: person.email ?? "" },
		);
		await switchOn();
		const cookie = await signInAt(START, person);
		expect((await read(id, cookie)).status).toBe(403);
		await verify(id, DOMAIN);
		expect((await read(id, cookie)).status).toBe(200);
		await query("delete from organization_domains where domain = $1", [DOMAIN]);
		expect((await read(id, cookie)).status).toBe(403);
	});
});

const verify = (organizationId: string, domain: string) =>
	query(
		`insert into organization_domains (organization_id, id, domain, challenge, verified_by, verified_at)
		values ($1, $2, $3, repeat('x', 30), 'OPERATOR', now())`,
		[organizationId, makeId(organizationId, "domain"), domain],
	);

describe("API tokens and connected apps", () => {
	test("those that were made without the provider do not reach the organization", async () => {
		const { id, path, switchOn } = await makeCompany();
		const user = await member(id, "member");
		const other = await createOrganization(served.database.pool, "Easy");
		await joinOrganization(served.database, user, other, "admin");
		await switchOn();
		const token = await makeToken(user.cookie);
		const app = await connectApp(user.cookie);
		for (const secret of [token, app.token]) {
			const refused = await callTool(secret, id);
			expect(refused.statuses).toEqual([403, 403]);
			expect(refused.text).toContain("sign-in with its identity provider");
			expect((await callTool(secret, other)).statuses).toEqual([200, 200]);
		}
		const named = await call(
			"createApiToken",
			{ name: "x", organization_ids: [id] },
			user.cookie,
		);
		expect(named.status).toBe(400);
		const boss = await signInAt(path, personAt());
		for (const secret of [
			await makeToken(boss),
			(await connectApp(boss)).token,
		]) {
			expect((await callTool(secret, id)).statuses).toEqual([200, 200]);
		}
	});

	test("a token that would reach nothing is not made", async () => {
		const { id, switchOn } = await makeCompany();
		const user = await member(id, "member");
		await switchOn();
		const { status, body } = await call(
			"createApiToken",
			{ name: "x" },
			user.cookie,
		);
		expect(status).toBe(403);
		expect(body.message).toContain("only its identity provider");
		expect((await connectApp(user.cookie)).status).toBe(403);
	});

	test("older ones go on, are marked, and can be shut out in one step", async () => {
		const { id, boss, keeper, update, switchOn } = await makeCompany();
		const user = await member(id, "member");
		const token = await makeToken(user.cookie);
		expect((await switchOn()).older_tokens).toBe(1);
		expect((await callTool(token, id)).statuses).toEqual([200, 200]);
		const tokens = async () =>
			(
				await call("listOrganizationApiTokens", { organization_id: id }, boss)
			).body.api_tokens.map((one: Record<string, unknown>) => [
				one.name,
				one.is_made_without_provider,
			]);
		await makeToken(boss, { name: "New" });
		expect(await tokens()).toEqual([
			["New", false],
			["Script", true],
		]);
		// A second token in the place of the old one is a new one.
		const { body: own } = await call("listApiTokens", {}, user.cookie);
		const rotated = await call(
			"rotateApiToken",
			{ id: own.api_tokens[0].id },
			user.cookie,
		);
		expect(rotated.status).toBe(403);
		const shut = await update({ accepts_older_tokens: false });
		expect(shut.body.rule.older_tokens).toBe(0);
		expect((await callTool(token, id)).statuses).toEqual([403, 403]);
		expect(await tokens()).toEqual([["New", false]]);
		const off = await update({ only_provider: false }, keeper.cookie);
		expect(off.status).toBe(200);
		expect((await callTool(token, id)).statuses).toEqual([200, 200]);
	});
});

describe("an emergency account", () => {
	test("reaches the organization, which the audit log and a mail to the others say once", async () => {
		const { id, boss, keeper, switchOn } = await makeCompany();
		await switchOn();
		const cookie = await signInWithPasskey(keeper);
		const { body: me } = await call("getProfile", {}, boss);
		const both = await Promise.all([read(id, cookie), read(id, cookie)]);
		expect(both.map(({ status }) => status)).toEqual([200, 200]);
		await read(id, cookie);
		const uses = (await auditEntries(served.database, id)).filter(
			({ operation }) => operation === "useEmergencyAccount",
		);
		expect(uses).toMatchObject([{ actor_id: keeper.id, outcome: "DONE" }]);
		const mail = await nextMailTo(me.profile.email);
		expect(mail.text).toContain("Emergency account used in Acme");
		expect(mail.text).toContain(keeper.name);
		const mails = await query(
			"select user_id from mails where organization_id = $1 and kind = 'EMERGENCY_SIGN_IN'",
			[id],
		);
		expect(mails).toEqual([{ user_id: me.profile.user_id }]);
	});

	test("does not get in without two-factor authentication, whatever it signs in with", async () => {
		const { id, keeper, update, switchOn } = await makeCompany();
		await switchOn();
		const second = await member(id, "admin");
		await setSecondFactor(second.id, true);
		await update({ emergency_user_ids: [keeper.id, second.id] });
		for (const { id: user, cookie } of [keeper, second]) {
			expect((await read(id, cookie)).status).toBe(200);
			await setSecondFactor(user, false);
			const { status, body } = await read(id, cookie);
			expect(status).toBe(403);
			expect(body.message).toContain(
				"your emergency account and two-factor authentication",
			);
		}
	});

	test("cannot be an account with a passkey and no second factor, because the password alone would open it", async () => {
		const { keeper, update } = await makeCompany();
		await setSecondFactor(keeper.id, false);
		const { status, body } = await update({ emergency_user_ids: [keeper.id] });
		expect(status).toBe(400);
		expect(body.message).toContain("two-factor authentication on");
	});

	test("does not get in through a provider that is not the organization's, also if it has a second factor", async () => {
		const { id, keeper, update, switchOn } = await makeCompany();
		const second = await member(id, "admin", `${randomUUID()}@${DOMAIN}`);
		const person = { ...personAt(DOMAIN), email: second.email };
		// Otherwise, the first sign-in with the provider would remove the password.
		await query(
			"update users set address_proof = 'LINK', two_factor_enabled = true where id = $1",
			[second.id],
		);
		const cookie = await signInAt(START, person);
		expect((await read(id, cookie)).status).toBe(200);
		await switchOn();
		const named = { emergency_user_ids: [keeper.id, second.id] };
		expect((await update(named)).status).toBe(200);
		expect((await read(id, second.cookie)).status).toBe(200);
		expect((await read(id, cookie)).status).toBe(403);
	});

	test("makes no API token for the organization, and no other member gets in with it", async () => {
		const { id, keeper, switchOn } = await makeCompany();
		await switchOn();
		const cookie = await signInWithPasskey(keeper);
		const other = await createOrganization(served.database.pool, "Easy");
		expect((await call("createApiToken", { name: "x" }, cookie)).status).toBe(
			403,
		);
		await joinOrganization(served.database, keeper, other, "admin");
		const token = await makeToken(cookie);
		expect((await callTool(token, id)).statuses).toEqual([403, 403]);
		expect((await callTool(token, other)).statuses).toEqual([200, 200]);
	});

	test("the last one cannot be removed, demoted or leave, until another is named", async () => {
		const { id, boss, keeper, update, switchOn } = await makeCompany();
		await switchOn();
		const one = { organization_id: id, user_id: keeper.id };
		for (const [operation, input, cookie] of [
			["removeMember", one, boss],
			["updateMember", { ...one, role: "member" }, boss],
			["leaveOrganization", { organization_id: id }, keeper.cookie],
		] as const) {
			const { status, body } = await call(operation, input, cookie);
			expect([status, body.message], operation).toEqual([
				400,
				expect.stringContaining("last emergency account"),
			]);
		}
		const none = await update({ emergency_user_ids: [] });
		expect(none.body.fields[0].field).toBe("emergency_user_ids");
		const second = await member(id, "admin");
		await query("update users set two_factor_enabled = true where id = $1", [
			second.id,
		]);
		await update({ emergency_user_ids: [keeper.id, second.id] });
		const demoted = await call(
			"updateMember",
			{ ...one, role: "member" },
			boss,
		);
		expect(demoted.status).toBe(200);
		expect((await read(id, keeper.cookie)).status).toBe(403);
		await call("updateMember", { ...one, role: "admin" }, boss);
		expect((await read(id, keeper.cookie)).status).toBe(403);
	});
});

/** Returns the next mail to this address. Mails about new sign-ins to others may come before it. */
async function nextMailTo(address: string) {
	for (;;) {
		const mail = await sink.next();
		if (mail.to.includes(address)) return mail;
	}
}

test("the last provider stays on, and switching the rule off opens everything again", async () => {
	const { id, providerId, boss, keeper, update, switchOn } =
		await makeCompany();
	const user = await member(id, "member");
	await switchOn();
	const one = { organization_id: id, id: providerId };
	const off = { ...one, is_enabled: false };
	for (const cookie of [boss, keeper.cookie]) {
		expect((await call("updateIdentityProvider", off, cookie)).status).toBe(
			400,
		);
		expect((await call("deleteIdentityProvider", one, cookie)).status).toBe(
			400,
		);
	}
	expect((await read(id, user.cookie)).status).toBe(403);
	await withTenant(served.database.pool, id, (client) =>
		endSignInRule(client, systemPrincipal(), id),
	);
	expect((await read(id, user.cookie)).status).toBe(200);
	expect((await auditEntries(served.database, id)).at(-1)).toMatchObject({
		operation: "updateSignInRule",
		changes: { only_provider: { before: true, after: false } },
	});
	await expect(
		withTenant(served.database.pool, id, (client) =>
			endSignInRule(client, systemPrincipal(), id),
		),
	).rejects.toThrow("already");
	expect((await update({ only_provider: false })).status).toBe(200);
	expect(
		(await call("updateIdentityProvider", off, keeper.cookie)).status,
	).toBe(200);
});
