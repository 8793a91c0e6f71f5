import { randomUUID } from "node:crypto";
import type { IDToken } from "openid-client";
import { afterEach, describe, expect, test } from "vitest";
import { promptOf } from "../../src/sign-in/oidc/provider.ts";
import { readClaims } from "../../src/sign-in/oidc/read-claims.ts";
import { newcomer, type Stand, startStand } from "./provider-stand.ts";

let stand: Stand | undefined;
afterEach(async () => {
	await stand?.close();
	stand = undefined;
});

/** Starts a provider of this shape and a service. */
async function start(...options: Parameters<typeof startStand>) {
	await stand?.close();
	stand = await startStand(...options);
	return stand;
}

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

describe("Entra ID", () => {
	const SECURITY = "0a1b2c3d-0000-4000-8000-000000000001";
	const roles = { ASSAY_OIDC_ROLES: `member, ${SECURITY}=admin` };
	const trusts = { ...roles, ASSAY_OIDC_TRUST_ADDRESSES: "on" };
	const entra = { claims: ENTRA, onlyIdToken: ONLY_ID_TOKEN };

	test("says nothing of whether an address is verified, so the operator must trust its addresses", async () => {
		const stand = await start(entra, roles);
		const { problem } = await stand.signIn(inEntra());
		expect(problem).toBe("UNVERIFIED_ADDRESS");
	});

	test("names groups by their ids, and leaves the claim out for people who have none", async () => {
		const stand = await start(entra, trusts);
		const admin = await stand.signIn(inEntra({ groups: [SECURITY] }));
		expect([admin.problem, admin.role]).toEqual([null, "admin"]);
		const { role } = await stand.signIn(inEntra());
		expect(role).toBe("member");
		expect(stand.provider.asked).toContain("/me");
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
		const stand = await start(entra, trusts);
		const many = inEntra(claims);
		expect((await stand.signIn(many)).problem).toBe("GROUPS_UNKNOWN");
		expect(JSON.stringify(stand.logged)).toContain("send fewer groups");
		// An administrator lets the application receive only the groups that are assigned to it.
		const few = {
			...many,
			...Object.fromEntries(Object.keys(claims).map((one) => [one, undefined])),
			groups: [SECURITY],
		};
		expect((await stand.signIn(few)).role).toBe("admin");
		// Somebody who is known gets in, and keeps the role.
		expect((await stand.signIn(many)).role).toBe("admin");
	});

	test("says in xms_edov whether the tenant has verified the domain, which counts before trust", async () => {
		const stand = await start(entra, roles);
		for (const yes of [true, "1", 1, "true"]) {
			const { role } = await stand.signIn(inEntra({ xms_edov: yes }));
			expect(role, String(yes)).toBe("member");
		}
		const trusting = await start(entra, trusts);
		for (const no of [false, "0", 0]) {
			const { problem } = await trusting.signIn(inEntra({ xms_edov: no }));
			expect(problem, String(no)).toBe("UNVERIFIED_ADDRESS");
		}
	});

	test("without the optional claim email names no address, and the user name is not taken for one", async () => {
		const stand = await start(entra, trusts);
		const { problem } = await stand.signIn(inEntra({ email: undefined }));
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
		const stand = await start(okta);
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
		const stand = await start({
			claims: { ...claims, profile: [...claims.profile, "groups"] },
			onlyUserInfo: okta.onlyUserInfo,
			clientScope: "openid email profile",
		});
		const { role } = await stand.signIn(newcomer({ groups: ["Security"] }));
		expect(role).toBe("admin");
		expect(stand.provider.asked.filter((one) => one === "/auth").length).toBe(
			1,
		);
	});
});
