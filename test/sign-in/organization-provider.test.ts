import { randomUUID } from "node:crypto";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { findFreePort } from "../support/free-port.ts";
import {
	CLIENT_SECRET,
	type PersonAtProvider,
} from "../support/identity-provider.ts";
import { makeUser } from "../support/people.ts";
import { refusedSignIn } from "../support/readable-log.ts";
import { startService } from "../support/service.ts";
import { Visitor } from "../support/visitor.ts";
import {
	START,
	startOrganizationProvider,
} from "./organization-provider-stand.ts";
import { newcomer } from "./provider-stand.ts";

const {
	add,
	addEnabled,
	admin,
	base,
	call,
	close,
	id,
	isPage,
	log,
	ours,
	profileOf,
	provider,
	query,
	settings,
	signedInUser,
	signIn,
	switchOn,
	theirs,
	tryOut,
} = await startOrganizationProvider();
afterAll(close);

let somebody: PersonAtProvider;
beforeEach(() => {
	somebody = newcomer();
});

/** Returns the lines about refused sign-ins since the last call. */
const refusals = () => log.take("sign_in_failed");

const refusal = (reason: string, provider = id) =>
	refusedSignIn(reason, { provider });

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
		refusals();
		for (const { email, id: userId } of [owner, member]) {
			const { problem, cookie } = await signIn({
				...somebody,
				sub: randomUUID(),
				email,
			});
			expect([problem, cookie]).toEqual(["DOMAIN_NOT_VERIFIED", ""]);
			expect(JSON.stringify(log.lines)).not.toContain(email);
			expect(refusals()).toEqual([refusal("DOMAIN_NOT_VERIFIED")]);
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
		refusals();
		const { problem } = await signIn(somebody, { of: copy });
		expect(problem).toBe("DOMAIN_NOT_VERIFIED");
		expect(refusals()).toEqual([refusal("DOMAIN_NOT_VERIFIED", copy)]);
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
			refusals();
			expect(await problemAt(visitor, url)).toBe("NO_ATTEMPT");
			const at = path.split("/")[2];
			expect(refusals()).toEqual([
				at ? refusal("NO_ATTEMPT", at) : refusedSignIn("NO_ATTEMPT"),
			]);
			expect(visitor.cookieFor(base)).toBe("");
		}
	});

	test("of another issuer are refused, and so are invented codes", async () => {
		const failures = {
			iss: { cause: expect.stringContaining('"iss"') },
			code: { said: expect.stringContaining("invalid_grant") },
			state: { cause: expect.stringContaining('"state"') },
		};
		for (const [name, failure] of Object.entries(failures)) {
			const visitor = new Visitor();
			const url = await answerFor(visitor);
			url.searchParams.set(name, "x".repeat(43));
			log.take();
			expect(await problemAt(visitor, url)).toBe("PROVIDER_FAILED");
			expect(visitor.cookieFor(base)).toBe("");
			expect(log.take("provider_failed", "sign_in_failed")).toEqual([
				expect.objectContaining({ provider: id, ...failure }),
				refusal("PROVIDER_FAILED"),
			]);
		}
	});

	test("work only in the browser that asked, and once", async () => {
		const visitor = new Visitor();
		const url = await answerFor(visitor);
		refusals();
		expect(await problemAt(new Visitor(), url)).toBe("NO_ATTEMPT");
		expect(await problemAt(visitor, url)).toBeNull();
		expect(await problemAt(visitor, url)).toBe("NO_ATTEMPT");
		const one = refusal("NO_ATTEMPT");
		expect(refusals()).toEqual([one, one]);
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
