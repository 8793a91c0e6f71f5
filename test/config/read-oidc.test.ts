import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { makeOrganizationId } from "../../src/id.ts";
import { rejection } from "./rejection.ts";

const organization = makeOrganizationId();
const NEEDED = {
	ASSAY_OIDC_ISSUER: "https://login.example.com/realms/staff",
	ASSAY_OIDC_CLIENT_ID: "assay",
	ASSAY_OIDC_CLIENT_SECRET: "hunter2",
	ASSAY_OIDC_DOMAINS: "example.com, Example.ORG",
};

test("four settings are enough for an identity provider", () => {
	const { oidc, passwordSignIn } = readConfig(NEEDED);
	expect(oidc).toEqual({
		issuer: "https://login.example.com/realms/staff",
		clientId: "assay",
		clientSecret: "hunter2",
		name: "single sign-on",
		domains: ["example.com", "example.org"],
		trustsAddresses: false,
		newcomers: undefined,
	});
	expect(passwordSignIn).toBe("everybody");
});

test("newcomers get the role of everybody, unless a group gives another one", () => {
	const { oidc } = readConfig({
		...NEEDED,
		ASSAY_OIDC_ORGANIZATION: organization,
		ASSAY_OIDC_ROLES: "Security team=admin, member, a=b=viewer",
	});
	expect(oidc?.newcomers).toEqual({
		organizationId: organization,
		role: "member",
		roleOfGroup: new Map([
			["Security team", "admin"],
			["a=b", "viewer"],
		]),
	});
});

test("without roles newcomers are viewers, and with roles of groups alone nobody else gets in", () => {
	const rolesOf = (roles: string) =>
		readConfig({
			...NEEDED,
			ASSAY_OIDC_ORGANIZATION: organization,
			ASSAY_OIDC_ROLES: roles,
		}).oidc?.newcomers?.role;
	expect(rolesOf("")).toBe("viewer");
	expect(rolesOf("Security=admin")).toBeUndefined();
});

test("only the named accounts may use passwords", () => {
	const { passwordSignIn } = readConfig({
		...NEEDED,
		ASSAY_PASSWORD_SIGN_IN: "Emergency@example.com, b@example.com",
	});
	expect(passwordSignIn).toEqual(["emergency@example.com", "b@example.com"]);
});

describe("a wrong setting is named:", () => {
	test.each([
		["ASSAY_OIDC_ISSUER", "http://login.example.com", "https"],
		["ASSAY_OIDC_ISSUER", "login.example.com", "https"],
		["ASSAY_OIDC_ISSUER", "https://login.example.com?a=b", "query"],
		[
			"ASSAY_OIDC_ISSUER",
			"https://login.example.com/.well-known/openid-configuration",
			"leave out",
		],
		["ASSAY_OIDC_CLIENT_ID", "", "must be set"],
		["ASSAY_OIDC_CLIENT_SECRET", "", "must be set"],
		["ASSAY_OIDC_DOMAINS", "", "must be set"],
		["ASSAY_OIDC_DOMAINS", " , ", "at least one"],
		["ASSAY_OIDC_DOMAINS", "example.com, *.example.org", "*.example.org"],
		["ASSAY_OIDC_DOMAINS", "ada@example.com", "ada@example.com"],
		["ASSAY_OIDC_NAME", "x".repeat(61), "1 to 60"],
		["ASSAY_OIDC_TRUST_ADDRESSES", "yes", "on"],
		["ASSAY_OIDC_ORGANIZATION", "acme", "assay org list"],
		["ASSAY_OIDC_ROLES", "viewer", "ASSAY_OIDC_ORGANIZATION"],
		["ASSAY_PASSWORD_SIGN_IN", "nobody", '"nobody"'],
		["ASSAY_PASSWORD_SIGN_IN", ",", '","'],
	])("%s=%s", (name, value, expected) => {
		const message = rejection({ ...NEEDED, [name]: value });
		expect(message).toMatch(new RegExp(`^${name} `));
		expect(message).toContain(expected);
		expect(message).not.toContain("hunter2");
	});

	test.each([
		"owner",
		"Security=owner",
		"=admin",
		"viewer, member",
	])("ASSAY_OIDC_ROLES=%s", (value) => {
		const message = rejection({
			...NEEDED,
			ASSAY_OIDC_ORGANIZATION: organization,
			ASSAY_OIDC_ROLES: value,
		});
		expect(message).toMatch(/^ASSAY_OIDC_ROLES /);
	});

	test.each(Object.keys(NEEDED).slice(1))("%s without an issuer", (name) => {
		const message = rejection({ [name]: "example.com" });
		expect(message).toBe(`${name} needs ASSAY_OIDC_ISSUER`);
	});

	test("ASSAY_PASSWORD_SIGN_IN without another way to sign in", () => {
		const message = rejection({ ASSAY_PASSWORD_SIGN_IN: "a@example.com" });
		expect(message).toMatch(/^ASSAY_PASSWORD_SIGN_IN .*ASSAY_OIDC_ISSUER/);
	});
});
