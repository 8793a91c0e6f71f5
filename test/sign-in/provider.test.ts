import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { makeOrganizationId } from "../../src/id.ts";
import { insertOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import {
	type PersonAtProvider,
	startIdentityProvider,
} from "../support/identity-provider.ts";
import { makeUser } from "../support/people.ts";
import { ReadableLog, refusedSignIn } from "../support/readable-log.ts";
import { Visitor } from "../support/visitor.ts";
import { START } from "./provider-stand.ts";
import { startWithProvider } from "./service-of-provider.ts";

const newcomers = makeOrganizationId();
const log = new ReadableLog();
const provider = await startIdentityProvider();
const { base, isPage, profileOf, served, signIn } = await startWithProvider(
	provider,
	{
		ASSAY_OIDC_ORGANIZATION: newcomers,
		ASSAY_OIDC_ROLES: "viewer, Security=admin, Staff=member",
	},
	log,
);
await withTenant(served.database.pool, newcomers, (client) =>
	insertOrganization(client, newcomers, { name: "Newcomers" }),
);
afterAll(async () => {
	await served.close();
	await provider.close();
});

let people = 0;
let somebody: PersonAtProvider;
beforeEach(() => {
	people++;
	somebody = {
		sub: `subject-${people}`,
		email: `person-${people}@example.com`,
		email_verified: true,
		name: `Person ${people}`,
	};
});

const query = (sql: string, values: unknown[] = []) =>
	served.database.owner.query(sql, values).then(({ rows }) => rows);

describe("who gets in", () => {
	test("nobody new joins the organization of newcomers while it is suspended", async () => {
		await query(
			"insert into organization_closures (organization_id, kind, reason) values ($1, 'SUSPENDED', 'No contract.')",
			[newcomers],
		);
		const refused = await signIn(somebody);
		await query("delete from organization_closures");
		expect(refused.problem).toBe("ORGANIZATION_CLOSED");
		expect((await signIn(somebody)).problem).toBeNull();
	});

	test("a person who is new gets an account and joins the organization of newcomers as its default role", async () => {
		const { cookie, page } = await signIn(somebody, {
			path: `${START}?to=/o/x/devices?state=ACTIVE`,
		});
		expect(page).toBe("/o/x/devices?state=ACTIVE");
		const profile = await profileOf(cookie);
		expect(profile).toMatchObject({
			name: somebody.name,
			email: somebody.email,
			organizations: [{ id: newcomers, role: "viewer" }],
		});
		const events = await query(
			"select operation from audit_entries where actor_id = $1 order by at, id",
			[profile.user_id],
		);
		expect(events.map(({ operation }) => operation)).toEqual([
			"joinWithProvider",
			"joinWithProvider",
			"linkProvider",
			"signIn",
		]);
		expect(
			await query(
				"select full_name from people where organization_id = $1 and primary_email_address = $2",
				[newcomers, somebody.email],
			),
		).toEqual([{ full_name: somebody.name }]);
	});

	test("the highest role of the person's groups counts", async () => {
		const { cookie } = await signIn({
			...somebody,
			groups: ["Staff", "Security", "Unknown"],
		});
		expect((await profileOf(cookie)).organizations).toEqual([
			expect.objectContaining({ role: "admin" }),
		]);
	});

	test("somebody who comes back has the same account, also with another name and address, and does not join again", async () => {
		const first = await profileOf((await signIn(somebody)).cookie);
		await query("delete from memberships where user_id = $1", [first.user_id]);
		const again = {
			...somebody,
			email: "renamed@example.org",
			name: "Renamed",
		};
		const profile = await profileOf((await signIn(again)).cookie);
		expect(profile).toMatchObject({
			user_id: first.user_id,
			email: somebody.email,
			name: somebody.name,
			organizations: [],
		});
	});

	test("an existing account is found by its address and keeps its password", async () => {
		const user = await makeUser(
			served.database,
			{ organizationId: served.organizationId, role: "member" },
			{
				email: somebody.email as string,
				passwordHash: await hashPassword(PASSWORD),
			},
		);
		const { cookie } = await signIn({
			...somebody,
			email: somebody.email?.toUpperCase() as string,
		});
		expect(await profileOf(cookie)).toMatchObject({
			user_id: user.id,
			organizations: [{ id: served.organizationId, role: "member" }],
		});
	});

	test("the first sign-in throws out whoever prepared the account for somebody else's address", async () => {
		const squatter = await makeUser(served.database, undefined, {
			email: somebody.email as string,
			passwordHash: await hashPassword(PASSWORD),
		});
		const { cookie } = await sendTo(base, "/api/auth/sign-in/email", {
			email: squatter.email,
			password: PASSWORD,
		});
		expect((await profileOf(cookie)).user_id).toBe(squatter.id);
		const owner = await signIn(somebody);
		expect((await profileOf(owner.cookie)).user_id).toBe(squatter.id);
		expect(await profileOf(cookie)).toBeUndefined();
		expect(
			await query(
				"select password from accounts where user_id = $1 and password is not null",
				[squatter.id],
			),
		).toEqual([]);
	});

	test("an invited person joins where the invitation leads, and nowhere else", async () => {
		const admin = await makeUser(
			served.database,
			{ organizationId: served.organizationId, role: "admin" },
			{ passwordHash: await hashPassword(PASSWORD) },
		);
		const { cookie } = await sendTo(base, "/api/auth/sign-in/email", {
			email: admin.email,
			password: PASSWORD,
		});
		const invited = await sendTo(
			base,
			"/api/console/inviteMember",
			{
				organization_id: served.organizationId,
				email: somebody.email,
				role: "member",
			},
			{ cookie },
		);
		expect(invited.status).toBe(200);
		const profile = await profileOf((await signIn(somebody)).cookie);
		expect(profile.organizations).toEqual([
			expect.objectContaining({ id: served.organizationId, role: "member" }),
		]);
	});

	test("two sign-ins at the same time make one account", async () => {
		provider.signInAs(somebody);
		const visitors = [new Visitor(), new Visitor(), new Visitor()];
		await Promise.all(visitors.map((one) => one.open(base + START, isPage)));
		const profiles = await Promise.all(
			visitors.map((one) => profileOf(one.cookieFor(base))),
		);
		expect(new Set(profiles.map(({ user_id }) => user_id)).size).toBe(1);
	});
});

describe("who does not get in", () => {
	test.each([
		["without an address", { email: undefined }, "NO_ADDRESS"],
		["with something that is no address", { email: "ada" }, "NO_ADDRESS"],
		[
			"with an unverified address",
			{ email_verified: false },
			"UNVERIFIED_ADDRESS",
		],
		[
			"with an address of which nobody says whether it is verified",
			{ email_verified: undefined },
			"UNVERIFIED_ADDRESS",
		],
		[
			"with an address of another domain",
			{ email: "ada@example.net" },
			"OTHER_DOMAIN",
		],
		[
			"with an address of a subdomain",
			{ email: "ada@sub.example.com" },
			"OTHER_DOMAIN",
		],
	])("a person %s", async (_, claims, expected) => {
		log.take();
		const { problem, cookie, page } = await signIn({
			...somebody,
			...claims,
		} as PersonAtProvider);
		expect(problem).toBe(expected);
		expect(page).toMatch(/^\/sign-in\?/);
		expect(cookie).toBe("");
		expect(log.take("sign_in_failed")).toEqual([refusedSignIn(expected)]);
	});

	test("somebody who was given the address of a person who has left", async () => {
		await signIn(somebody);
		log.take();
		const { problem } = await signIn({ ...somebody, sub: "a successor" });
		expect(problem).toBe("OTHER_PERSON");
		expect(log.take("sign_in_failed")).toEqual([refusedSignIn("OTHER_PERSON")]);
	});

	test("somebody who presses Cancel at the provider", async () => {
		const { problem, page } = await signIn(undefined, {
			path: `${START}?to=/help`,
		});
		expect(problem).toBe("CANCELLED");
		expect(page).toBe("/sign-in?to=%2Fhelp&problem=CANCELLED");
	});
});

describe("a session of the provider", () => {
	test("is replaced when its browser signs in again", async () => {
		const first = await signIn(somebody);
		const second = await signIn(somebody, { visitor: first.visitor });
		expect(await profileOf(first.cookie)).toBeUndefined();
		expect((await profileOf(second.cookie)).email).toBe(somebody.email);
	});

	test("gives lasting access only soon after the person gave a password to the provider", async () => {
		const { cookie, visitor } = await signIn(somebody);
		const addToken = () =>
			sendTo(
				base,
				"/api/console/createApiToken",
				{ name: `token of ${somebody.sub}` },
				{ cookie },
			);
		expect((await addToken()).status).toBe(200);
		await query(
			"update sessions set proved_at = now() - interval '11 minutes'",
		);
		expect((await addToken()).body.fields).toEqual([
			expect.objectContaining({ field: "proof" }),
		]);
		const confirmed = await signIn(somebody, {
			visitor,
			path: `${START}?confirm=1`,
		});
		expect(confirmed.page).toBe("/confirmed");
		expect(confirmed.cookie).toBe(cookie);
		expect((await addToken()).status).toBe(200);
	});

	test("cannot be confirmed by somebody else", async () => {
		const { cookie, visitor } = await signIn(somebody);
		await query(
			"update sessions set proved_at = now() - interval '11 minutes'",
		);
		const other = { ...somebody, sub: "other", email: "other@example.com" };
		await signIn(other);
		visitor.forget(provider.issuer);
		const { problem } = await signIn(other, {
			visitor,
			path: `${START}?confirm=1`,
		});

		expect(problem).toBe("OTHER_ACCOUNT");
		const token = await sendTo(
			base,
			"/api/console/createApiToken",
			{ name: "x" },
			{ cookie },
		);
		expect(token.status).toBe(403);
	});

	test("is needed to confirm anything", async () => {
		const response = await fetch(`${base}${START}?confirm=1`, {
			redirect: "manual",
		});
		expect(response.status).toBe(401);
	});
});

test("a session of a provider that is no longer set has ended", async () => {
	const { cookie } = await signIn(somebody);
	expect((await profileOf(cookie)).email).toBe(somebody.email);
	await query(
		"update sessions set provider = 'https://former.example.com' where provider is not null",
	);
	const { body } = await sendTo(base, "/api/auth/get-session", undefined, {
		cookie,
	});
	expect(body).toBeNull();
	expect(await profileOf(cookie)).toBeUndefined();
});

test("a provider may replace its signing keys", async () => {
	expect((await signIn(somebody)).problem).toBeNull();
	await provider.rotateKeys();
	// The keys are read again at most once in a minute.
	vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61_000 });
	try {
		expect((await signIn(somebody)).problem).toBeNull();
	} finally {
		vi.useRealTimers();
	}
});
