import {
	afterAll,
	beforeAll,
	beforeEach,
	describe,
	expect,
	test,
} from "vitest";
import { makeId } from "../../src/id.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import type { PersonAtProvider } from "../support/identity-provider.ts";
import { joinOrganization, makeUser } from "../support/people.ts";
import { Visitor } from "../support/visitor.ts";
import {
	START,
	startOrganizationProvider,
} from "./organization-provider-stand.ts";
import { newcomer } from "./provider-stand.ts";

const {
	addEnabled,
	admin,
	base,
	call,
	close,
	id,
	isPage,
	ours,
	profileOf,
	provider,
	query,
	served,
	signedInUser,
	signIn,
	signInWithPassword,
	switchOn,
	theirs,
} = await startOrganizationProvider();
afterAll(close);

let somebody: PersonAtProvider;
beforeEach(() => {
	somebody = newcomer();
});

test("nobody new joins a closed organization, also not by an invitation", async () => {
	await call(
		"inviteMember",
		{ organization_id: ours, email: somebody.email, role: "member" },
		admin.cookie,
	);
	await query(
		"insert into organization_closures (organization_id, kind, reason) values ($1, 'SUSPENDED', 'No contract.')",
		[ours],
	);
	const closed = [await signIn(somebody), await signIn(newcomer())];
	await query("delete from organization_closures");
	expect(closed.map(({ problem }) => problem)).toEqual([
		"ORGANIZATION_CLOSED",
		"ORGANIZATION_CLOSED",
	]);
	const { cookie } = await signIn(somebody);
	expect((await profileOf(cookie)).organizations).toEqual([
		expect.objectContaining({ id: ours, role: "member" }),
	]);
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
