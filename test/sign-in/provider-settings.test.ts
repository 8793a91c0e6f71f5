import {
	afterAll,
	beforeAll,
	beforeEach,
	describe,
	expect,
	test,
} from "vitest";
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
import { Visitor } from "../support/visitor.ts";
import { newcomer, START } from "./provider-stand.ts";
import { startWithProvider } from "./service-of-provider.ts";

// Tests whose settings differ start a service of their own.
const provider = await startIdentityProvider();
const plain = await startWithProvider(provider, {});
afterAll(async () => {
	await plain.served.close();
	await provider.close();
});

let somebody: PersonAtProvider;
beforeEach(() => {
	somebody = newcomer();
});

test("without an organization for newcomers, only people with an account or an invitation get in", async () => {
	const { problem } = await plain.signIn(somebody);
	expect(problem).toBe("NOT_INVITED");
	const { rows } = await plain.served.database.owner.query("select from users");
	expect(rows).toEqual([]);
});

describe("passwords", () => {
	const emergency = "emergency@example.com";
	let strict: Awaited<ReturnType<typeof startWithProvider>>;
	beforeAll(async () => {
		strict = await startWithProvider(provider, {
			ASSAY_PASSWORD_SIGN_IN: emergency,
		});
	});
	afterAll(() => strict.served.close());

	test("when only some accounts may use them, others can neither sign in with one nor go on with an older session", async () => {
		const passwordHash = await hashPassword(PASSWORD);
		const { organizationId, database } = strict.served;
		const membership = { organizationId, role: "admin" as const };
		const signInAs = (email: string) =>
			sendTo(strict.base, "/api/auth/sign-in/email", {
				email,
				password: PASSWORD,
			});
		await makeUser(database, membership, { email: emergency, passwordHash });
		const user = await makeUser(database, membership, {
			email: somebody.email as string,
			passwordHash,
		});
		const refused = await signInAs(user.email);
		expect(refused.status).toBe(403);
		expect(refused.body.message).toContain("sign in with Example Inc.");
		const { cookie } = await signInAs(emergency);
		expect((await strict.profileOf(cookie)).email).toBe(emergency);
		await database.owner.query("update sessions set user_id = $1", [user.id]);
		expect(await strict.profileOf(cookie)).toBeUndefined();
		const { body: session } = await sendTo(
			strict.base,
			"/api/auth/get-session",
			undefined,
			{ cookie },
		);
		expect(session).toBeNull();
		const own = await strict.signIn(somebody);
		expect((await strict.profileOf(own.cookie)).user_id).toBe(user.id);
		const { body } = await sendTo(strict.base, "/api/sign-in-ways");
		expect(body).toEqual({
			provider: "Example Inc.",
			has_company_providers: false,
			// The accounts that may use a password may also use a passkey.
			has_passkeys: true,
			has_passwords: false,
		});
	});

	test("an invited person cannot join with a password that could not be used", async () => {
		const { organizationId, database } = strict.served;
		const user = await makeUser(
			database,
			{ organizationId, role: "admin" },
			{ email: somebody.email as string },
		);
		const { cookie } = await strict.signIn(somebody);
		const { body } = await sendTo(
			strict.base,
			"/api/console/inviteMember",
			{
				organization_id: organizationId,
				email: "new@example.com",
				role: "member",
			},
			{ cookie },
		);
		const token = new URL(body.invitation_url).hash.slice(1);
		const joined = await sendTo(strict.base, "/api/join", {
			token,
			name: "New",
			password: PASSWORD,
		});
		expect(joined.status).toBe(403);
		expect(user.id).toBeTruthy();
	});
});

test("trouble of the service is shown on the sign-in page and not as JSON", async () => {
	const { owner } = plain.served.database;
	provider.signInAs(somebody);
	const visitor = new Visitor();
	const { url } = await visitor.open(plain.base + START, (one) =>
		one.pathname.endsWith("/callback"),
	);
	await owner.query("alter table accounts rename to gone");
	try {
		const { url: page } = await visitor.open(
			url.href,
			(one) => one.pathname === "/sign-in",
		);
		expect(page.searchParams.get("problem")).toBe("SERVICE_FAILED");
	} finally {
		await owner.query("alter table gone rename to accounts");
	}
});

describe("providers differ", () => {
	test("one that names the address only at its userinfo endpoint, and wants its clients' secret in a header", async () => {
		const other = await startIdentityProvider({
			tokens: "NO_ADDRESS",
			clientAuth: "client_secret_basic",
		});
		const {
			served: service,
			base: at,
			profileOf,
		} = await startWithProvider(other, {});
		try {
			await makeUser(
				service.database,
				{ organizationId: service.organizationId, role: "viewer" },
				{ email: somebody.email as string },
			);
			other.signInAs(somebody);
			const visitor = new Visitor();
			await visitor.open(at + START, (url) => url.href === `${at}/`);
			const profile = await profileOf(visitor.cookieFor(at));
			expect(profile.email).toBe(somebody.email);
		} finally {
			await service.close();
			await other.close();
		}
	});

	test("one like Okta, whose ID token says neither that the address is verified nor the groups", async () => {
		const okta = await startIdentityProvider({ tokens: "LIKE_OKTA" });
		const organization = makeOrganizationId();
		const {
			served: service,
			base: at,
			profileOf,
		} = await startWithProvider(okta, {
			ASSAY_OIDC_ORGANIZATION: organization,
			ASSAY_OIDC_ROLES: "viewer, Security=admin",
		});
		const open = async (person: PersonAtProvider) => {
			okta.signInAs(person);
			const visitor = new Visitor();
			const { url } = await visitor.open(
				at + START,
				(one) => !one.pathname.startsWith("/api/") && one.href.startsWith(at),
			);
			return { url, profile: await profileOf(visitor.cookieFor(at)) };
		};
		try {
			await withTenant(service.database.pool, organization, (client) =>
				insertOrganization(client, organization, { name: "Newcomers" }),
			);
			const { profile } = await open({ ...somebody, groups: ["Security"] });
			expect(profile.organizations).toMatchObject([{ role: "admin" }]);

			// The endpoint's answer about one address does not count for another.
			const { url } = await open({
				...somebody,
				sub: "other",
				email_in_token: "somebody-else@example.com",
			});
			expect(url.searchParams.get("problem")).toBe("UNVERIFIED_ADDRESS");
		} finally {
			await service.close();
			await okta.close();
		}
	});

	test("one that is away; the service starts without it, and says so to whoever signs in", async () => {
		const away = await startIdentityProvider();
		const { served: service, base: at } = await startWithProvider(away, {});
		try {
			await away.close();
			const { url } = await new Visitor().open(
				`${at}${START}?to=/help`,
				(one) => one.pathname === "/sign-in",
			);
			expect(url.search).toBe("?to=%2Fhelp&problem=PROVIDER_FAILED");
		} finally {
			await service.close();
		}
	});
});
