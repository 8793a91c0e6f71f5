import { randomUUID } from "node:crypto";
import {
	afterAll,
	beforeAll,
	beforeEach,
	describe,
	expect,
	test,
} from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { makeId, makeOrganizationId } from "../../src/id.ts";
import { insertOrganization } from "../../src/organizations/organization-store.ts";
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
	joinOrganization,
	makeUser,
	type TestUser,
} from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";
import { Visitor } from "../support/visitor.ts";

const START = "/api/sign-in-with-provider";

let provider: IdentityProvider;
let served: TestService;
let base: string;
let ours: string;
const theirs = makeOrganizationId();
let admin: TestUser & { cookie: string };
/** The provider of our organization, enabled. */
let id: string;
let somebody: PersonAtProvider;

beforeAll(async () => {
	provider = await startIdentityProvider();
	const port = await findFreePort();
	base = `http://localhost:${port}`;
	served = await startService(undefined, {
		ASSAY_PORT: String(port),
		ASSAY_OUTGOING_NETWORKS: "127.0.0.1",
	});
	ours = served.organizationId;
	await withTenant(served.database.pool, theirs, (client) =>
		insertOrganization(client, theirs, { name: "Theirs" }),
	);
	admin = await signedInUser(ours);
	id = await addEnabled(ours, admin.cookie);
});
afterAll(async () => {
	await served.close();
	await provider.close();
});
beforeEach(() => {
	const sub = randomUUID();
	somebody = {
		sub,
		email: `${sub}@example.com`,
		email_verified: true,
		name: "Ada Lovelace",
	};
});

/** Makes a user with a password, and signs them in. */
async function signedInUser(
	organizationId: string,
	role: "admin" | "member" | "viewer" = "admin",
	email?: string,
) {
	const user = await makeUser(
		served.database,
		{ organizationId, role },
		{
			passwordHash: await hashPassword(PASSWORD),
			...(email !== undefined && { email }),
		},
	);
	return { ...user, cookie: await signInWithPassword(user.email) };
}

async function signInWithPassword(email: string): Promise<string> {
	const { cookie } = await sendTo(base, "/api/auth/sign-in/email", {
		email,
		password: PASSWORD,
	});
	return cookie;
}

const call = (operation: string, input: object, cookie: string) =>
	sendTo(base, `/api/console/${operation}`, input, { cookie });

const settings = (organization_id: string, changes: object = {}) => ({
	organization_id,
	kind: "OIDC",
	name: "Example Inc.",
	issuer: provider.issuer,
	client_id: CLIENT_ID,
	client_secret: CLIENT_SECRET,
	role: "viewer",
	group_roles: [
		{ group: "Security", role: "admin" },
		{ group: "Staff", role: "member" },
	],
	...changes,
});

async function add(organizationId: string, cookie: string, changes = {}) {
	const { body } = await call(
		"addIdentityProvider",
		settings(organizationId, changes),
		cookie,
	);
	provider.allowRedirect(body.identity_provider.callback_url);
	return body.identity_provider.id as string;
}

async function addEnabled(
	organizationId: string,
	cookie: string,
	changes = {},
) {
	const made = await add(organizationId, cookie, changes);
	provider.signInAs({
		sub: "tester",
		email: "t@example.com",
		email_verified: true,
	});
	await tryOut(made, cookie);
	await switchOn(organizationId, made, cookie);
	return made;
}

async function tryOut(providerId: string, cookie: string) {
	const visitor = new Visitor();
	visitor.keep(base, cookie);
	const path = `${base}${START}?provider=${providerId}&test=1`;
	return visitor.open(path, isPage);
}

const switchOn = (organization_id: string, made: string, cookie: string) =>
	call(
		"updateIdentityProvider",
		{ organization_id, id: made, is_enabled: true },
		cookie,
	);

const isPage = (url: URL) =>
	!url.pathname.startsWith("/api/") && url.port === new URL(base).port;

async function signIn(
	person: PersonAtProvider,
	{ of = id, visitor = new Visitor(), to = "" } = {},
) {
	provider.signInAs(person);
	const { url } = await visitor.open(
		`${base}${START}?provider=${of}${to}`,
		isPage,
	);
	return {
		visitor,
		page: url.pathname + url.search,
		problem: url.searchParams.get("problem"),
		cookie: visitor.cookieFor(base),
	};
}

const profileOf = async (cookie: string) =>
	(await call("getProfile", {}, cookie)).body.profile;
const query = (sql: string, values: unknown[] = []) =>
	served.database.owner.query(sql, values).then(({ rows }) => rows);

describe("setting a provider up", () => {
	test("it is off until an administrator has tested it, and a test signs nobody in", async () => {
		const made = await add(ours, admin.cookie);
		expect((await switchOn(ours, made, admin.cookie)).body.fields).toEqual([
			expect.objectContaining({ field: "is_enabled" }),
		]);
		expect((await signIn(somebody, { of: made })).problem).toBe("NO_PROVIDER");
		provider.signInAs({ ...somebody, groups: ["Staff"] });
		const { url } = await tryOut(made, admin.cookie);
		expect(url.pathname).toBe("/provider-tested");
		expect(Object.fromEntries(url.searchParams)).toEqual({
			email: somebody.email,
			role: "member",
		});
		expect(
			await query("select from users where email = $1", [somebody.email]),
		).toEqual([]);
		expect((await switchOn(ours, made, admin.cookie)).status).toBe(200);
		expect((await signIn(somebody, { of: made })).problem).toBeNull();
	});

	test("only an administrator of its organization can test it", async () => {
		const member = await signedInUser(ours, "member");
		const stranger = await signedInUser(theirs);
		for (const cookie of [member.cookie, stranger.cookie, ""]) {
			const response = await fetch(`${base}${START}?provider=${id}&test=1`, {
				redirect: "manual",
				headers: { cookie },
			});
			expect([401, 403]).toContain(response.status);
		}
	});

	test("a test fails if the provider says nothing of the address", async () => {
		const made = await add(ours, admin.cookie);
		provider.signInAs({ sub: "x", email: "x@example.com" });
		const { url } = await tryOut(made, admin.cookie);
		expect(url.searchParams.get("problem")).toBe("UNVERIFIED_ADDRESS");
		expect((await switchOn(ours, made, admin.cookie)).status).toBe(400);
	});

	test("another client id switches it off until it is tested again", async () => {
		const made = await addEnabled(ours, admin.cookie);
		const change = { organization_id: ours, id: made, client_id: "other" };
		const kept = await call("updateIdentityProvider", change, admin.cookie);
		expect(kept.body.fields[0].field).toBe("is_enabled");
		const { body } = await call(
			"updateIdentityProvider",
			{ ...change, is_enabled: false },
			admin.cookie,
		);
		expect(body.identity_provider).toMatchObject({
			is_enabled: false,
			tested_at: null,
		});
	});

	test("its secret is encrypted, and no answer and no audit entry contains it", async () => {
		const [row] = await query(
			"select client_secret from identity_providers where id = $1",
			[id],
		);
		expect(row.client_secret).toMatch(/^v1\./);
		const listed = await call(
			"listIdentityProviders",
			{ organization_id: ours },
			admin.cookie,
		);
		const log = await query("select * from audit_entries");
		expect(JSON.stringify(listed.body)).toContain(id);
		expect(JSON.stringify([listed.body, log])).not.toContain(CLIENT_SECRET);
		expect(JSON.stringify(log)).not.toContain(row.client_secret);
	});

	test("it must be on the public internet or in a network that the operator allows", async () => {
		const port = await findFreePort();
		const strict = await startService(undefined, { ASSAY_PORT: String(port) });
		const at = `http://localhost:${port}`;
		try {
			const user = await makeUser(
				strict.database,
				{ organizationId: strict.organizationId, role: "admin" },
				{ passwordHash: await hashPassword(PASSWORD) },
			);
			const { cookie } = await sendTo(at, "/api/auth/sign-in/email", {
				email: user.email,
				password: PASSWORD,
			});
			const { body } = await sendTo(
				at,
				"/api/console/addIdentityProvider",
				settings(strict.organizationId),
				{ cookie },
			);
			const visitor = new Visitor();
			visitor.keep(at, cookie);
			const { url } = await visitor.open(
				`${at}${START}?provider=${body.identity_provider.id}&test=1`,
				(one) => !one.pathname.startsWith("/api/"),
			);
			expect(url.href).toBe(`${at}/provider-tested?problem=PROVIDER_FAILED`);
		} finally {
			await strict.close();
		}
	});

	test.each([
		"http://login.example.com",
		"https://user@login.example.com",
		"https://login.example.com?x=1",
		"javascript:alert(1)",
		"login.example.com",
	])("%s is no issuer", async (issuer) => {
		const { body } = await call(
			"addIdentityProvider",
			settings(ours, { issuer }),
			admin.cookie,
		);
		expect(body.fields).toEqual([expect.objectContaining({ field: "issuer" })]);
	});

	test("it takes a fresh proof", async () => {
		const user = await signedInUser(ours);
		await query(
			"update sessions set proved_at = now() - interval '1 hour' where user_id = $1",
			[user.id],
		);
		const { body } = await call(
			"addIdentityProvider",
			settings(ours),
			user.cookie,
		);
		expect(body.fields[0].field).toBe("proof");
	});
});

describe("who gets in", () => {
	test("a newcomer gets an account and joins with the default role", async () => {
		const { cookie, page } = await signIn(somebody, { to: "&to=/help/x" });
		expect(page).toBe("/help/x");
		expect(await profileOf(cookie)).toMatchObject({
			name: "Ada Lovelace",
			email: somebody.email,
			provider: "Example Inc.",
			identity_provider_id: id,
			organizations: [{ id: ours, role: "viewer" }],
		});
		const [user] = await query(
			"select address_proof from users where email = $1",
			[somebody.email],
		);
		expect(user.address_proof).toBeNull();
	});

	test("the highest role of the person's groups counts", async () => {
		const { cookie } = await signIn({
			...somebody,
			groups: ["Staff", "Security", "Other"],
		});
		expect((await profileOf(cookie)).organizations[0].role).toBe("admin");
	});

	test("somebody who comes back has the same account", async () => {
		const first = await profileOf((await signIn(somebody)).cookie);
		const again = { ...somebody, email: `new-${somebody.email}` };
		const second = await profileOf((await signIn(again)).cookie);
		expect(second.user_id).toBe(first.user_id);
	});

	test("without a default role an invited person gets in, and nobody else", async () => {
		const strict = await addEnabled(ours, admin.cookie, {
			role: null,
			group_roles: [],
		});
		expect((await signIn(somebody, { of: strict })).problem).toBe(
			"NOT_INVITED",
		);
		await call(
			"inviteMember",
			{ organization_id: ours, email: somebody.email, role: "member" },
			admin.cookie,
		);
		const { cookie } = await signIn(somebody, { of: strict });
		expect((await profileOf(cookie)).organizations).toEqual([
			expect.objectContaining({ id: ours, role: "member" }),
		]);
	});

	test("a member who was removed gets in again only by an invitation", async () => {
		const { cookie } = await signIn(somebody);
		const { user_id } = await profileOf(cookie);
		await query("delete from memberships where user_id = $1", [user_id]);
		expect(
			await query("select from sessions where user_id = $1", [user_id]),
		).toEqual([]);
		expect(await profileOf(cookie)).toBeUndefined();
		expect((await signIn(somebody)).problem).toBe("NOT_INVITED");
		await call(
			"inviteMember",
			{ organization_id: ours, email: somebody.email, role: "member" },
			admin.cookie,
		);
		const again = await profileOf((await signIn(somebody)).cookie);
		expect(again).toMatchObject({
			user_id,
			organizations: [{ id: ours, role: "member" }],
		});
		const { body } = await call(
			"listInvitations",
			{ organization_id: ours },
			admin.cookie,
		);
		expect(
			body.invitations.filter(
				(one: { email: string }) => one.email === somebody.email,
			),
		).toEqual([]);
		await query("delete from memberships where user_id = $1", [user_id]);
		expect((await signIn(somebody)).problem).toBe("NOT_INVITED");
	});
});

describe("who does not get in", () => {
	test.each([
		["no address", { email: undefined }, "NO_ADDRESS"],
		["an unverified address", { email_verified: false }, "UNVERIFIED_ADDRESS"],
		[
			"an address of which nothing is said",
			{ email_verified: undefined },
			"UNVERIFIED_ADDRESS",
		],
	])("a person with %s", async (_, claims, expected) => {
		const { problem, cookie } = await signIn({
			...somebody,
			...claims,
		} as PersonAtProvider);
		expect(problem).toBe(expected);
		expect(cookie).toBe("");
	});

	test("a person with somebody else's address, because the domain is not verified", async () => {
		const owner = await signedInUser(theirs, "admin", somebody.email);
		const member = await signedInUser(ours, "admin", `m-${somebody.email}`);
		for (const { email, id: userId } of [owner, member]) {
			const { problem, cookie } = await signIn({
				...somebody,
				sub: randomUUID(),
				email,
			});
			expect([problem, cookie]).toEqual(["DOMAIN_NOT_VERIFIED", ""]);
			expect(
				await query(
					"select from accounts where user_id = $1 and provider_id <> 'credential'",
					[userId],
				),
			).toEqual([]);
		}
	});

	test("a person who is known to another organization's provider with the same issuer", async () => {
		const other = await signedInUser(theirs);
		const copy = await addEnabled(theirs, other.cookie);
		await signIn(somebody);
		const { problem } = await signIn(somebody, { of: copy });
		expect(problem).toBe("DOMAIN_NOT_VERIFIED");
	});
});

describe("with a verified domain", () => {
	const domain = "verified.example";
	beforeAll(async () => {
		await query(
			`insert into organization_domains (organization_id, id, domain, challenge, verified_by, verified_at)
			values ($1, $2, $3, repeat('x', 30), 'OPERATOR', now())`,
			[ours, makeId(ours, "domain"), domain],
		);
	});
	const ofDomain = () => ({ ...somebody, email: `${somebody.sub}@${domain}` });

	test("an existing account is linked by its address, and its session reaches all organizations", async () => {
		const { email } = ofDomain();
		const user = await makeUser(
			served.database,
			{ organizationId: ours, role: "viewer" },
			{ email },
		);
		await joinOrganization(served.database, user, theirs, "member");
		const { cookie } = await signIn(ofDomain());
		const profile = await profileOf(cookie);
		expect(profile.user_id).toBe(user.id);
		expect(profile.organizations).toHaveLength(2);
		expect((await call("listSessions", {}, cookie)).status).toBe(200);
	});

	test("an existing account that was invited joins at the first sign-in, and no other does", async () => {
		const { email } = ofDomain();
		await makeUser(
			served.database,
			{ organizationId: theirs, role: "viewer" },
			{ email },
		);
		const organizations = async () =>
			(await profileOf((await signIn(ofDomain())).cookie)).organizations;
		expect(await organizations()).toMatchObject([{ id: theirs }]);
		await query("delete from accounts where provider_id = $1", [id]);
		await call(
			"inviteMember",
			{ organization_id: ours, email, role: "member" },
			admin.cookie,
		);
		expect(await organizations()).toHaveLength(2);
	});

	test("a new account is proven, and its address leads to the provider", async () => {
		const person = ofDomain();
		provider.signInAs(person);
		const visitor = new Visitor();
		const { url } = await visitor.open(
			`${base}${START}?address=${encodeURIComponent(person.email.toUpperCase())}`,
			isPage,
		);
		expect(url.pathname + url.search).toBe("/");
		const [user] = await query(
			"select address_proof from users where email = $1",
			[person.email],
		);
		expect(user.address_proof).toBe("LINK");
		const { body } = await sendTo(base, "/api/sign-in-ways");
		expect(body.has_company_providers).toBe(true);
	});

	test("the first sign-in throws out whoever prepared the account for the address", async () => {
		const { email } = ofDomain();
		const squatter = await makeUser(served.database, undefined, {
			email,
			passwordHash: await hashPassword(PASSWORD),
		});
		const cookie = await signInWithPassword(email);
		expect((await profileOf(cookie)).user_id).toBe(squatter.id);
		expect((await signIn(ofDomain())).problem).toBeNull();
		expect(await profileOf(cookie)).toBeUndefined();
		expect(
			await query(
				"select from accounts where user_id = $1 and password is not null",
				[squatter.id],
			),
		).toEqual([]);
	});

	test("the provider of another organization still links nobody with such an address", async () => {
		const other = await signedInUser(theirs);
		const copy = await addEnabled(theirs, other.cookie);
		await makeUser(
			served.database,
			{ organizationId: theirs, role: "viewer" },
			{ email: ofDomain().email },
		);
		const { problem } = await signIn(ofDomain(), { of: copy });
		expect(problem).toBe("DOMAIN_NOT_VERIFIED");
	});

	test("a session is confined again when the domain is no longer verified", async () => {
		const { cookie } = await signIn(ofDomain());
		expect((await call("listSessions", {}, cookie)).status).toBe(200);
		await query(
			"update organization_domains set verified_at = null, verified_by = null",
		);
		expect((await call("listSessions", {}, cookie)).status).toBe(403);
		await query(
			"update organization_domains set verified_at = now(), verified_by = 'OPERATOR'",
		);
	});

	test("an address of a domain that nobody has gets the answer that an address without a provider gets", async () => {
		await query(
			`insert into organization_domains (organization_id, id, domain, challenge, verified_by, verified_at)
			values ($1, $2, 'without.example', repeat('x', 30), 'OPERATOR', now())`,
			[theirs, makeId(theirs, "domain")],
		);
		await query(
			"update identity_providers set is_enabled = false where organization_id = $1",
			[theirs],
		);
		const answers = await Promise.all(
			["ada@nobody.example", "ada@without.example", "ada", ""].map(
				async (address) => {
					const query = new URLSearchParams({ address });
					const { headers, status } = await fetch(`${base}${START}?${query}`, {
						redirect: "manual",
					});
					return [status, headers.get("location")];
				},
			),
		);
		expect(new Set(answers.map(String))).toEqual(
			new Set(["302,/sign-in?problem=NO_PROVIDER"]),
		);
	});
});

describe("answers", () => {
	/** Returns the address to which the provider sends the visitor back. */
	async function answerFor(visitor: Visitor, of = id) {
		provider.signInAs(somebody);
		const { url } = await visitor.open(
			`${base}${START}?provider=${of}`,
			(one) => one.pathname.includes("/callback"),
		);
		return url;
	}
	const problemAt = async (visitor: Visitor, url: URL) =>
		(await visitor.open(url.href, isPage)).url.searchParams.get("problem");

	test("of one provider are refused at the address of another", async () => {
		const other = await signedInUser(theirs);
		const copy = await addEnabled(theirs, other.cookie);
		for (const path of [`/callback/${copy}`, "/callback", "/callback/x"]) {
			const visitor = new Visitor();
			const url = await answerFor(visitor);
			url.pathname = START + path;
			expect(await problemAt(visitor, url)).toBe("NO_ATTEMPT");
			expect(visitor.cookieFor(base)).toBe("");
		}
	});

	test("of another issuer are refused, and so are invented codes", async () => {
		for (const [name, value] of [
			["iss", "https://other.example.com"],
			["code", "x".repeat(43)],
			["state", "x".repeat(43)],
		] as const) {
			const visitor = new Visitor();
			const url = await answerFor(visitor);
			url.searchParams.set(name, value);
			expect(await problemAt(visitor, url)).toBe("PROVIDER_FAILED");
		}
	});

	test("work only in the browser that asked, and once", async () => {
		const visitor = new Visitor();
		const url = await answerFor(visitor);
		expect(await problemAt(new Visitor(), url)).toBe("NO_ATTEMPT");
		expect(await problemAt(visitor, url)).toBeNull();
		expect(await problemAt(visitor, url)).toBe("NO_ATTEMPT");
	});

	test("never lead to another website", async () => {
		for (const to of ["https://evil.example.com/", "//evil.example.com/"]) {
			const { page } = await signIn(somebody, {
				to: `&to=${encodeURIComponent(to)}`,
			});
			expect(page).toBe("/");
		}
	});
});

describe("a session of an organization's provider", () => {
	/** Signs somebody in who is also an administrator elsewhere. */
	async function signInAsMemberOfBoth() {
		const { cookie, visitor } = await signIn({
			...somebody,
			groups: ["Security"],
		});
		const profile = await profileOf(cookie);
		const user = {
			id: profile.user_id,
			name: profile.name,
			email: profile.email,
		};
		await joinOrganization(served.database, user, theirs, "admin");
		return { cookie, user, visitor };
	}

	test("reaches only this organization", async () => {
		const { cookie } = await signInAsMemberOfBoth();
		const { body } = await call("listOrganizations", {}, cookie);
		expect(body.organizations.map((one: { id: string }) => one.id)).toEqual([
			ours,
		]);
		expect((await profileOf(cookie)).organizations).toHaveLength(1);
		for (const operation of ["getOrganization", "listMembers", "listRisks"]) {
			const input = { organization_id: theirs };
			const answer = await call(operation, input, cookie);
			expect([403, 404]).toContain(answer.status);
		}
		expect(
			(await call("listMembers", { organization_id: ours }, cookie)).status,
		).toBe(200);
	});

	test.each([
		["updateProfile", { name: "Other" }],
		["createOrganization", { name: "Mine" }],
		["acceptInvitation", { token: "x" }],
		["listSessions", {}],
		["revokeOtherSessions", {}],
		["leaveOrganization", null],
	])("%s does not reach beyond it", async (operation, input) => {
		const { cookie } = await signInAsMemberOfBoth();
		const answer = await call(
			operation,
			input ?? { organization_id: theirs },
			cookie,
		);
		expect(answer.status).toBe(403);
	});

	test.each([
		["/change-password", { currentPassword: PASSWORD, newPassword: "x" }],
		["/two-factor/enable", { password: PASSWORD }],
		["/passkey/registration-options", {}],
		["/passkey/register", { name: "Mine" }],
		["/passkey/enable-two-factor", {}],
	])("%s adds no other way into the account", async (path, body) => {
		const { cookie } = await signIn(somebody);
		const answer = await sendTo(base, `/api/auth${path}`, body, { cookie });
		expect(answer.status).toBe(403);
	});

	test("makes no password link for a member, who may belong elsewhere too", async () => {
		const { cookie, user } = await signInAsMemberOfBoth();
		const other = await makeUser(served.database, {
			organizationId: ours,
			role: "viewer",
		});
		await joinOrganization(served.database, other, theirs, "viewer");
		expect(user.id).not.toBe(other.id);
		for (const operation of ["createPasswordResetLink", "resetTwoFactor"]) {
			const input = { organization_id: ours, user_id: other.id };
			expect((await call(operation, input, cookie)).status).toBe(403);
		}
	});

	test("makes API tokens that reach only this organization, and sees no others", async () => {
		const { cookie } = await signInAsMemberOfBoth();
		const made = await call("createApiToken", { name: "narrow" }, cookie);
		expect(made.body.api_token.scopes.organization_ids).toEqual([ours]);
		const listed = await fetch(`${base}/api/mcp/tools/listOrganizations`, {
			method: "POST",
			headers: {
				authorization: `Bearer ${made.body.token}`,
				"content-type": "application/json",
			},
			body: "{}",
		});
		const { organizations } = (await listed.json()) as {
			organizations: { id: string }[];
		};
		expect(organizations.map((one) => one.id)).toEqual([ours]);
		const wide = await call(
			"createApiToken",
			{ name: "wide", organization_ids: [ours, theirs] },
			cookie,
		);
		expect(wide.status).toBe(400);
		// A token of before that reaches all organizations.
		await query("update api_tokens set organization_ids = null where id = $1", [
			made.body.api_token.id,
		]);
		expect((await call("listApiTokens", {}, cookie)).body.api_tokens).toEqual(
			[],
		);
		for (const operation of ["rotateApiToken", "revokeApiToken"]) {
			const answer = await call(
				operation,
				{ id: made.body.api_token.id },
				cookie,
			);
			expect(answer.status).toBe(404);
		}
	});

	test("is confirmed by the same provider", async () => {
		const { cookie, visitor } = await signIn(somebody);
		await query(
			"update sessions set proved_at = now() - interval '11 minutes'",
		);
		const addToken = () => call("createApiToken", { name: "x" }, cookie);
		expect((await addToken()).body.fields[0].field).toBe("proof");
		const { url } = await visitor.open(`${base}${START}?confirm=1`, isPage);
		expect(url.pathname + url.search).toBe("/confirmed");
		expect((await addToken()).status).toBe(200);
	});

	test("is ended at the provider with the ID token of the sign-in, which only that address gets", async () => {
		const { visitor } = await signIn(somebody);
		const signOut = async (cookie: string) => {
			const response = await fetch(`${base}${START}/sign-out?provider=${id}`, {
				redirect: "manual",
				headers: { cookie },
			});
			const [forgotten] = response.headers.getSetCookie();
			expect(forgotten).toMatch(
				/^assay\.id_token=; Max-Age=0; Path=\/api\/sign-in-with-provider\/sign-out;/,
			);
			return new URL(response.headers.get("location") ?? "", base);
		};
		const cookie = visitor.cookieFor(base);
		const url = await signOut(cookie);
		expect(url.origin).toBe(provider.issuer);
		expect(url.searchParams.get("post_logout_redirect_uri")).toBe(
			`${base}/sign-in`,
		);
		const hint = url.searchParams.get("id_token_hint") ?? "";
		const claims = Buffer.from(hint.split(".")[1] ?? "", "base64url");
		expect(JSON.parse(claims.toString())).toMatchObject({ sub: somebody.sub });

		for (const sent of [
			"",
			`assay.id_token=${id}:a&b`,
			`assay.id_token=another-provider:${hint}`,
		]) {
			const { searchParams } = await signOut(sent);
			expect(searchParams.has("id_token_hint")).toBe(false);
		}
	});

	test("keeps no ID token of before, if its own is too long for a proxy", async () => {
		const { visitor } = await signIn(somebody);
		expect(visitor.cookieFor(base)).toContain("assay.id_token=");
		const groups = Array.from({ length: 150 }, (_, n) => `a group ${n}`);
		const { visitor: other } = await signIn(
			{ ...somebody, groups },
			{ visitor },
		);
		expect(other.cookieFor(base)).not.toContain("assay.id_token=");
	});

	test("ends when the provider is switched off or deleted, and the links go with it", async () => {
		const fresh = await signedInUser(ours);
		const made = await addEnabled(ours, fresh.cookie);
		const one = { organization_id: ours, id: made };
		const first = await signIn(somebody, { of: made });
		await call(
			"updateIdentityProvider",
			{ ...one, is_enabled: false },
			fresh.cookie,
		);
		expect(await profileOf(first.cookie)).toBeUndefined();
		await switchOn(ours, made, fresh.cookie);
		const second = await signIn(somebody, { of: made });
		expect((await profileOf(second.cookie)).email).toBe(somebody.email);
		await call("deleteIdentityProvider", one, fresh.cookie);
		expect(await profileOf(second.cookie)).toBeUndefined();
		expect(
			await query("select from accounts where provider_id = $1", [made]),
		).toEqual([]);
	});
});
