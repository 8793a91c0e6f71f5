import {
	afterAll,
	beforeAll,
	describe,
	expect,
	onTestFinished,
	test,
} from "vitest";
import { makeId } from "../../src/id.ts";
import type { PersonAtProvider } from "../support/identity-provider.ts";
import { makeUser } from "../support/people.ts";
import { Visitor } from "../support/visitor.ts";
import { newcomer, START, type Stand, startStand } from "./provider-stand.ts";

/** The claims of a provider that names groups only to a client with the scope `groups`. */
const GROUPS_BY_SCOPE = {
	openid: ["sub"],
	email: ["email", "email_verified"],
	profile: ["name"],
	groups: ["groups"],
};

let stand: Stand;
beforeAll(async () => {
	// The service reads the metadata of the provider once. All tests need a provider with this scope.
	stand = await startStand({ claims: GROUPS_BY_SCOPE });
});
afterAll(() => stand.close());

/** Makes the provider behave like this, and forgets what happened before. */
function start(options: Parameters<typeof startStand>[0] = {}): Stand {
	stand.provider.change(options);
	stand.provider.answerUserInfo();
	stand.provider.asked.length = 0;
	stand.logged.length = 0;
	return stand;
}

describe("the scope groups", () => {
	const refused = ({ logged } = stand) =>
		logged.filter(({ event }) => event === "groups_scope_refused");
	const names = { ...GROUPS_BY_SCOPE, profile: ["name", "groups"] };

	test("is asked for once; if the provider refuses it, the sign-in goes on without it", async () => {
		const { signIn, provider } = start({
			claims: names,
			clientScope: "openid email profile",
		});
		const { page, role } = await signIn(newcomer({ groups: ["Security"] }), {
			query: "?to=/help",
		});
		expect([page, role]).toEqual(["/help", "admin"]);
		expect(refused()).toEqual([
			expect.objectContaining({
				issuer: provider.issuer,
				msg: expect.stringMatching(/refused the scope groups/),
			}),
		]);
		expect(provider.asked.filter((path) => path === "/auth").length).toBe(2);
	});

	test("is not asked for if groups give no roles", async () => {
		const other = await startStand(
			{ claims: names, clientScope: "openid email profile" },
			{ ASSAY_OIDC_ROLES: "viewer" },
		);
		onTestFinished(other.close);
		expect((await other.signIn(newcomer())).role).toBe("viewer");
		expect(refused(other)).toEqual([]);
	});

	test("is not the reason if the provider refuses the other scopes too, and the sign-in ends", async () => {
		const { signIn, provider } = start({
			claims: names,
			clientScope: "openid",
		});
		expect((await signIn(newcomer())).page).toBe(
			"/sign-in?problem=PROVIDER_FAILED",
		);
		expect(provider.asked.filter((path) => path === "/auth").length).toBe(2);
	});

	test("is refused in words of somebody else's attempt without any effect", async () => {
		const { base, provider } = start({ claims: names });
		const visitor = new Visitor();
		provider.signInAs(newcomer());
		await visitor.open(
			base + START,
			(url) => url.origin === provider.issuer && url.pathname === "/auth",
		);
		const { url } = await visitor.open(
			`${base}${START}/callback?error=invalid_scope&state=invented`,
			(one) => !one.pathname.startsWith("/api/"),
		);
		expect(url.search).toBe("?problem=PROVIDER_FAILED");
		expect(refused()).toEqual([]);
	});
});

describe("a userinfo endpoint that does not answer", () => {
	const onlyGroups = { claims: GROUPS_BY_SCOPE, onlyUserInfo: ["groups"] };

	test("keeps out newcomers whose role it decides, and nobody else", async () => {
		const { signIn, provider, served, logged } = start(onlyGroups);
		const known = newcomer({ groups: ["Security"] });
		expect((await signIn(known)).role).toBe("admin");
		const linked = newcomer({ groups: ["Security"] });
		await makeUser(
			served.database,
			{ organizationId: stand.organization, role: "viewer" },
			{ email: linked.email as string },
		);

		provider.answerUserInfo(503);
		const waiting = newcomer({ groups: ["Guests"] });
		expect((await signIn(waiting)).page).toBe(
			"/sign-in?problem=GROUPS_UNKNOWN",
		);
		const { rows } = await served.database.owner.query(
			"select from users where email = $1",
			[waiting.email],
		);
		expect(rows).toEqual([]);
		expect(
			logged.filter(({ msg }) => String(msg).includes("did not answer")).length,
		).toBe(1);
		expect((await signIn(known)).role).toBe("admin");
		// The groups of somebody who is a member already give no other role, answered or not.
		expect((await signIn(linked)).role).toBe("viewer");

		provider.answerUserInfo();
		expect((await signIn(waiting)).role).toBe("viewer");
	});

	test("lets an invited person in with the role of the invitation", async () => {
		const { signIn, provider, served } = start(onlyGroups);
		const invited = newcomer();
		await served.database.owner.query(
			`insert into invitations (
				organization_id, id, email, role, token_hash, invited_by, expires_at
			) select $1, $2, $3, 'viewer', sha256('x'), 'Ada', now() + interval '1 day'`,
			[
				stand.organization,
				makeId(stand.organization, "invitation"),
				invited.email,
			],
		);
		provider.answerUserInfo(503);
		expect((await signIn(invited)).role).toBe("viewer");
	});

	test("refuses everybody whose address only it knows", async () => {
		const { signIn, provider } = start({
			claims: GROUPS_BY_SCOPE,
			onlyUserInfo: ["email_verified"],
		});
		const known = newcomer();
		expect((await signIn(known)).problem).toBeNull();
		provider.answerUserInfo(503);
		expect((await signIn(known)).problem).toBe("PROVIDER_FAILED");
	});

	test("refuses everybody when it answers about another person", async () => {
		const { signIn, provider } = start(onlyGroups);
		const known = newcomer();
		expect((await signIn(known)).problem).toBeNull();
		provider.answerUserInfo(200, { sub: "other", groups: ["Security"] });
		expect((await signIn(known)).problem).toBe("PROVIDER_FAILED");
	});

	test("is not asked when somebody only confirms who they are", async () => {
		const { signIn, provider } = start({
			claims: GROUPS_BY_SCOPE,
			onlyUserInfo: ["email", "email_verified"],
		});
		const known = newcomer();
		const { visitor } = await signIn(known);
		provider.answerUserInfo(503);
		const confirmed = await signIn(known, { visitor, query: "?confirm=1" });
		expect(confirmed.page).toBe("/confirmed");
	});
});

test("an address that the endpoint writes in other letters is the same address", async () => {
	const { signIn } = start({ tokens: "LIKE_OKTA" });
	const ada = newcomer();
	const written: PersonAtProvider = {
		...ada,
		email: ` ${ada.email?.toUpperCase()}`,
		email_in_token: ada.email as string,
	};
	const { problem, email } = await signIn(written);
	expect([problem, email]).toEqual([null, ada.email]);
});

test("when the provider cannot be reached, nobody is told that they are still signed in there", async () => {
	// The service must not know the metadata of the provider yet.
	const { base, provider, close } = await startStand();
	onTestFinished(close);
	await provider.close();
	const { url } = await new Visitor().open(
		`${base}${START}/sign-out`,
		(one) => !one.pathname.startsWith("/api/"),
	);
	expect(url.search).toBe("?problem=MAYBE_SIGNED_IN_THERE");
});
