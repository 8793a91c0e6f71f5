import { ROLES, type Role } from "../../principal.ts";
import { normalAddress } from "../../records/mail-address.ts";
import {
	cookieNames,
	keepInCookie,
	readKept,
	type SigningParts,
} from "../cookies.ts";
import { type Claims, GroupsElsewhere } from "../oidc/read-claims.ts";
import type { SamlRefusal } from "./refusals.ts";
import type { Assertion } from "./verify-response.ts";

/**
 * A verified answer of a provider, on its way from the request that brought it to the next one. The
 * provider's page sends the first one, so it has no cookies. The browser keeps the answer in a signed
 * cookie until the next request, which has the cookie of the attempt.
 */
export interface SamlAnswer {
	purpose: "SAML answer";
	providerId: string;
	/** Why the answer was refused, if it was. The log says it too. */
	refusal?: SamlRefusal;
	/** What the answer says, if it was not refused. */
	said?: {
		assertionId: string;
		/** Id of our request that it answers. Undefined: the provider sent it unasked. */
		inResponseTo?: string | undefined;
		subject: string;
		email?: string | undefined;
		name?: string | undefined;
		/** Undefined if groups give roles and the provider left them out. */
		groups?: string[] | undefined;
		authenticatedAt?: number | undefined;
	};
	/** Milliseconds since 1970. */
	endsAt: number;
}

const LIFETIME_MS = 60_000;
/** Longest text, in characters. A browser keeps no cookie of more than 4 KiB. */
const MAX_LINE = 320;

const EMAIL_ATTRIBUTES = [
	"email",
	"mail",
	"emailAddress",
	"http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress",
	"urn:oid:0.9.2342.19200300.100.1.3",
	"urn:oid:1.2.840.113549.1.9.1",
];
const NAME_ATTRIBUTES = [
	"displayName",
	"name",
	"http://schemas.microsoft.com/identity/claims/displayname",
	"urn:oid:2.16.840.1.113730.3.1.241",
	"cn",
	"urn:oid:2.5.4.3",
];
/** Keycloak and Google send no full name, but a given name and a surname. */
const GIVEN_NAME_ATTRIBUTES = [
	"givenName",
	"firstName",
	"http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname",
	"urn:oid:2.5.4.42",
];
const FAMILY_NAME_ATTRIBUTES = [
	"surname",
	"sn",
	"lastName",
	"http://schemas.xmlsoap.org/ws/2005/05/identity/claims/surname",
	"urn:oid:2.5.4.4",
];
/** Names of the attribute with the groups, besides the one in the settings. */
const GROUP_ATTRIBUTES = [
	"http://schemas.microsoft.com/ws/2008/06/identity/claims/groups",
];

/** Entra ID sends this attribute instead of the groups to people who are in more than 150. */
const GROUPS_ELSEWHERE = "http://schemas.microsoft.com/claims/groups.link";

/** Returns the part of an assertion that is kept. Of the groups, only the one that decides is. */
export function answerFrom(
	assertion: Assertion,
	provider: {
		id: string;
		groups_claim: string;
		group_roles: Record<string, Role>;
	},
): SamlAnswer {
	const first = (names: readonly string[]) =>
		names
			.map((name) => assertion.attributes.get(name)?.[0])
			.find((value) => value !== undefined && value !== "");
	const { nameId } = assertion;
	const email =
		first(EMAIL_ATTRIBUTES) ?? (nameId.includes("@") ? nameId : undefined);
	const fullName = [first(GIVEN_NAME_ATTRIBUTES), first(FAMILY_NAME_ATTRIBUTES)]
		.filter((part) => part !== undefined)
		.join(" ");
	const name = first(NAME_ATTRIBUTES) ?? (fullName || undefined);
	const groups = [provider.groups_claim, ...GROUP_ATTRIBUTES].flatMap(
		(name) => assertion.attributes.get(name) ?? [],
	);
	const areUnknown =
		groups.length === 0 &&
		assertion.attributes.has(GROUPS_ELSEWHERE) &&
		Object.keys(provider.group_roles).length > 0;
	const decisive = ROLES.toReversed()
		.map((role) =>
			groups.find(
				(group) =>
					Object.hasOwn(provider.group_roles, group) &&
					provider.group_roles[group] === role,
			),
		)
		.find((group) => group !== undefined);
	return {
		purpose: "SAML answer",
		providerId: provider.id,
		said: {
			assertionId: assertion.id.slice(0, MAX_LINE),
			inResponseTo: assertion.inResponseTo?.slice(0, MAX_LINE),
			subject: nameId,
			email: email && normalAddress(email.slice(0, MAX_LINE)),
			name: name?.slice(0, MAX_LINE),
			groups: areUnknown ? undefined : decisive === undefined ? [] : [decisive],
			authenticatedAt: assertion.authenticatedAt?.getTime(),
		},
		endsAt: Date.now() + LIFETIME_MS,
	};
}

/** Returns the answer that stands for one that was refused. */
export function refusedAnswer(
	providerId: string,
	refusal: SamlRefusal,
): SamlAnswer {
	return {
		purpose: "SAML answer",
		providerId,
		refusal,
		endsAt: Date.now() + LIFETIME_MS,
	};
}

export function claimsIn(said: NonNullable<SamlAnswer["said"]>): Claims {
	return {
		subject: said.subject,
		email: said.email,
		// SAML has no claim that says so. The form of the settings says what that means.
		isEmailVerified: true,
		name: said.name,
		groups: said.groups,
		...(!said.groups && { groupsProblem: new GroupsElsewhere() }),
		authenticatedAt:
			said.authenticatedAt === undefined
				? undefined
				: new Date(said.authenticatedAt),
	};
}

/** Returns the Set-Cookie header that keeps the answer, or that removes it if it is undefined. */
export function answerCookie(
	parts: SigningParts,
	answer: SamlAnswer | undefined,
): string {
	const name = cookieNames(parts.baseUrl).samlAnswer;
	return keepInCookie(parts, name, answer, LIFETIME_MS);
}

/** Returns the answer that this browser brings along, if it came a moment ago. */
export function readAnswer(
	{ baseUrl, secret }: SigningParts,
	cookieHeader: string | null,
): SamlAnswer | undefined {
	const name = cookieNames(baseUrl).samlAnswer;
	const answer = readKept<SamlAnswer>(secret, name, cookieHeader);
	// We sign other cookies too.
	return answer?.purpose === "SAML answer" ? answer : undefined;
}
