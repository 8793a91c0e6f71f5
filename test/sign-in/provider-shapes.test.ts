import { randomUUID } from "node:crypto";
import type { IDToken } from "openid-client";
import {
	afterAll,
	beforeAll,
	describe,
	expect,
	onTestFinished,
	test,
} from "vitest";
import { promptOf } from "../../src/sign-in/oidc/provider.ts";
import { readClaims } from "../../src/sign-in/oidc/read-claims.ts";
import { newcomer, type Stand, startStand } from "./provider-stand.ts";

/** The claims of an ID token of Entra ID, version 2.0, with the optional claims that the guide names. */
const ENTRA = {
	openid: [
		"sub",
		"oid",
		"tid",
		"ver",
		"rh",
		"uti",
		"groups",
		"hasgroups",
		"xms_edov",
		"auth_time",
	],
	profile: ["name", "preferred_username"],
	email: ["email"],
};
/** What Graph's userinfo endpoint says is less: no groups, and nothing of the domain. */
const ONLY_ID_TOKEN = ["groups", "hasgroups", "xms_edov", "oid", "tid"];

function inEntra(claims: Record<string, unknown> = {}) {
	const person = newcomer();
	return {
		...person,
		email_verified: undefined,
		oid: randomUUID(),
		tid: "aaaabbbb-0000-cccc-1111-dddd2222eeee",
		ver: "2.0",
		preferred_username: person.email,
		...claims,
	};
}

const SECURITY = "0a1b2c3d-0000-4000-8000-000000000001";

/** A stand whose provider has no scope `groups`. Its service reads the metadata once. */
let careful: Stand;
/** The same, with a service that trusts the provider's addresses. */
let trusting: Stand;
beforeAll(async () => {
	const entra = { claims: ENTRA, onlyIdToken: ONLY_ID_TOKEN };
	const roles = {
		ASSAY_OIDC_ROLES: `member, Security=admin, ${SECURITY}=admin`,
	};
	careful = await startStand(entra, roles);
	trusting = await startStand(entra, {
		...roles,
		ASSAY_OIDC_TRUST_ADDRESSES: "on",
	});
});
afterAll(async () => {
	await careful.close();
	await trusting.close();
});

describe("Entra ID", () => {
	test("says nothing of whether an address is verified, so the operator must trust its addresses", async () => {
		const { problem } = await careful.signIn(inEntra());
		expect(problem).toBe("UNVERIFIED_ADDRESS");
	});

	test("names groups by their ids, and leaves the claim out for people who have none", async () => {
		trusting.provider.asked.length = 0;
		const admin = await trusting.signIn(inEntra({ groups: [SECURITY] }));
		expect([admin.problem, admin.role]).toEqual([null, "admin"]);
		const { role } = await trusting.signIn(inEntra());
		expect(role).toBe("member");
		expect(trusting.provider.asked).toContain("/me");
	});

	test.each([
		[
			"is in more than 200 groups",
			{
				_claim_names: { groups: "src1" },
				_claim_sources: {
					src1: { endpoint: "https://graph.windows.net/x/getMemberObjects" },
				},
			},
		],
		["has more groups than fit into a token", { hasgroups: true }],
	])("lets nobody in as a newcomer who %s, because the role is unknown", async (_, claims) => {
		trusting.logged.length = 0;
		const many = inEntra(claims);
		expect((await trusting.signIn(many)).problem).toBe("GROUPS_UNKNOWN");
		expect(JSON.stringify(trusting.logged)).toContain("send fewer groups");
		// An administrator lets the application receive only the groups that are assigned to it.
		const few = {
			...many,
			...Object.fromEntries(Object.keys(claims).map((one) => [one, undefined])),
			groups: [SECURITY],
		};
		expect((await trusting.signIn(few)).role).toBe("admin");
		// Somebody who is known gets in, and keeps the role.
		expect((await trusting.signIn(many)).role).toBe("admin");
	});

	test("says in xms_edov whether the tenant has verified the domain, which counts before trust", async () => {
		for (const yes of [true, "1", 1, "true"]) {
			const { role } = await careful.signIn(inEntra({ xms_edov: yes }));
			expect(role, String(yes)).toBe("member");
		}
		for (const no of [false, "0", 0]) {
			const { problem } = await trusting.signIn(inEntra({ xms_edov: no }));
			expect(problem, String(no)).toBe("UNVERIFIED_ADDRESS");
		}
	});

	test("without the optional claim email names no address, and the user name is not taken for one", async () => {
		const { problem } = await trusting.signIn(inEntra({ email: undefined }));
		expect(problem).toBe("NO_ADDRESS");
	});
});

describe("Google", () => {
	const token = (claims: object): IDToken => ({
		iss: "https://accounts.google.com",
		azp: "1234987819200.apps.googleusercontent.com",
		aud: "1234987819200.apps.googleusercontent.com",
		sub: "10769150350006150715113082367",
		at_hash: "HK6E_P6Dh8Y93mRNtsDB1Q",
		iat: 1_353_601_026,
		exp: 1_353_604_926,
		email: "Ada@Example.com",
		email_verified: true,
		name: "Ada Lovelace",
		...claims,
	});
	const read = (claims: object) => readClaims(token(claims), {}, {});

	test("is sure of addresses of Workspace and of its own, and of no others", () => {
		expect(read({ hd: "example.com" })).toMatchObject({
			subject: "10769150350006150715113082367",
			email: "ada@example.com",
			isEmailVerified: true,
			groups: [],
			authenticatedAt: undefined,
		});
		// An account that somebody made with an address at work, and keeps after leaving.
		expect(read({}).isEmailVerified).toBe(false);
		expect(read({ email: "ada@gmail.com" }).isEmailVerified).toBe(true);
		const unverified = { hd: "example.com", email_verified: false };
		expect(read(unverified).isEmailVerified).toBe(false);
	});

	test("is asked to let the person choose the account, because it refuses prompt=login", () => {
		expect(promptOf("https://accounts.google.com")).toBe("select_account");
		expect(promptOf("https://login.example.com")).toBe("login");
	});
});

describe("Okta", () => {
	/** A token that comes with an access token is thin: it has few claims of each scope. */
	const okta = {
		claims: {
			openid: ["sub", "ver", "amr", "idp", "auth_time"],
			email: ["email", "email_verified"],
			profile: [
				"name",
				"preferred_username",
				"given_name",
				"family_name",
				"zoneinfo",
				"locale",
				"updated_at",
			],
			groups: ["groups"],
		},
		onlyUserInfo: [
			"email_verified",
			"groups",
			"given_name",
			"family_name",
			"zoneinfo",
			"locale",
		],
	};

	test("names the filtered groups, and that the address is verified, only at the userinfo endpoint", async () => {
		const stand = await startStand(okta);
		onTestFinished(stand.close);
		const person = newcomer({
			sub: `00u${randomUUID().slice(0, 17)}`,
			ver: 1,
			amr: ["mfa", "otp", "pwd"],
			idp: "00oixa26ycdNcX0VT0h7",
			given_name: "Ada",
			family_name: "Lovelace",
			zoneinfo: "America/Los_Angeles",
			groups: ["Everyone", "Security"],
		});
		const { role, email } = await stand.signIn(person);
		expect([role, email]).toEqual(["admin", person.email]);
		const filteredOut = newcomer();
		expect((await stand.signIn(filteredOut)).role).toBe("member");
	});

	test("whose authorization server has no scope groups is not asked for it", async () => {
		const { groups: _, ...claims } = okta.claims;
		const { provider, signIn } = careful;
		provider.change({
			claims: { ...claims, profile: [...claims.profile, "groups"] },
			onlyUserInfo: okta.onlyUserInfo,
			clientScope: "openid email profile",
		});
		provider.asked.length = 0;
		const { role } = await signIn(newcomer({ groups: ["Security"] }));
		expect(role).toBe("admin");
		expect(provider.asked.filter((one) => one === "/auth").length).toBe(1);
	});
});
