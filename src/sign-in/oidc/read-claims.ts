import type { IDToken, UserInfoResponse } from "openid-client";
import { domainOf, normalAddress } from "../../records/mail-address.ts";

/** The person who has just signed in, as the provider describes them. */
export interface Claims {
	/** The person's identifier at the provider. It stays the same when the address changes. */
	subject: string;
	email: string | undefined;
	/** Undefined if the provider does not say whether the address is verified. */
	isEmailVerified: boolean | undefined;
	name: string | undefined;
	/** Undefined if groups give roles and the provider could not say those of this person. */
	groups: readonly string[] | undefined;
	/** Why `groups` is undefined, for the log. */
	groupsProblem?: unknown;
	/** The time at which the person last gave a password or the like to the provider. */
	authenticatedAt: Date | undefined;
	/** The ID token itself, with which the person can sign out at the provider. */
	idToken?: string | undefined;
}

/** How Assay reads the claims of a provider. */
export interface ClaimRules {
	/** Name of the claim with the person's groups. The default is "groups". */
	groupsClaim?: string;
	/** True if groups give roles. */
	usesGroups?: boolean;
	/** True if an address counts although the provider does not call it verified. */
	trustsAddresses?: boolean;
}

/** The provider did not say the groups, for example because the person has too many. */
export class GroupsElsewhere extends Error {
	constructor() {
		super(
			"the identity provider left the groups out, because the person has more than it sends; let it send fewer groups",
		);
	}
}

/** Issuer of Google's ID tokens. */
export const GOOGLE = "https://accounts.google.com";

const MAX_GROUPS = 1_000;

/**
 * Says which claims the ID token lacks that Assay needs. The provider's userinfo endpoint may have
 * them. Okta puts neither `email_verified` nor groups into the ID token, and other providers leave
 * out the address too.
 */
export function missingIn(
	token: IDToken,
	{ trustsAddresses, usesGroups, groupsClaim = "groups" }: ClaimRules,
): { address: boolean; groups: boolean } {
	return {
		address:
			token.email === undefined ||
			(isVerifiedIn(token) === undefined && !trustsAddresses),
		groups: usesGroups === true && token[groupsClaim] === undefined,
	};
}

/** Reads the claims of an ID token and, if it was asked, of the userinfo endpoint. */
export function readClaims(
	token: IDToken,
	more: Partial<UserInfoResponse>,
	{ groupsClaim = "groups", usesGroups }: ClaimRules,
): Claims {
	const { email_verified: isVerifiedThere, ...others } = more;
	// The endpoint may name another address, and then says nothing about this one.
	const isSameAddress =
		token.email === undefined ||
		addressIn(token.email) === addressIn(more.email);
	const claims: IDToken & Partial<UserInfoResponse> = {
		...others,
		...(isSameAddress &&
			isVerifiedThere !== undefined && { email_verified: isVerifiedThere }),
		...token,
	};
	const { sub, email, name, auth_time } = claims;
	const isElsewhere =
		usesGroups === true && areGroupsElsewhere(claims, groupsClaim);
	return {
		subject: sub,
		email: addressIn(email),
		isEmailVerified: isVerifiedIn(claims),
		name: typeof name === "string" ? name.trim() : undefined,
		groups: isElsewhere ? undefined : groupsIn(claims, groupsClaim),
		...(isElsewhere && { groupsProblem: new GroupsElsewhere() }),
		authenticatedAt:
			typeof auth_time === "number" ? new Date(auth_time * 1000) : undefined,
	};
}

/** Returns true or false if the provider says whether the address is verified. */
function isVerifiedIn(claims: IDToken): boolean | undefined {
	const { iss, email, email_verified, hd, tid, xms_edov } = claims;
	if (email_verified !== undefined) {
		return isTrue(email_verified) && (iss !== GOOGLE || isOfGoogle(email, hd));
	}
	// Entra ID has a claim of its own, which says that the tenant has verified the domain.
	return tid === undefined || xms_edov === undefined
		? undefined
		: isTrue(xms_edov);
}

/** Some providers send the word or a number instead of the value. */
function isTrue(value: unknown): boolean {
	return ["true", "1"].includes(String(value));
}

/**
 * Anybody can make an account at Google with an address of another mail service. Google has verified
 * that address once, and does not know whose it is today. It is sure only of its own addresses and of
 * those of Workspace organizations, which have the claim `hd`.
 */
function isOfGoogle(email: unknown, hostedDomain: unknown): boolean {
	return (
		typeof hostedDomain === "string" ||
		(typeof email === "string" && domainOf(email) === "gmail.com")
	);
}

function addressIn(email: unknown): string | undefined {
	return typeof email === "string" ? normalAddress(email) : undefined;
}

/** Some providers send the name of a single group instead of a list. */
function groupsIn(claims: object, name: string): string[] {
	const groups: unknown = Object.entries(claims).find(
		([key]) => key === name,
	)?.[1];
	return [groups]
		.flat()
		.filter((one): one is string => typeof one === "string")
		.slice(0, MAX_GROUPS);
}

/**
 * Returns true if the provider says that the groups must be fetched from another address (OpenID
 * Connect Core, section 5.6.2). Entra ID says so for people in more than 200 groups.
 */
function areGroupsElsewhere(claims: IDToken, name: string): boolean {
	if (claims[name] !== undefined) return false;
	const { _claim_names: sources, hasgroups } = claims;
	const isNamed =
		typeof sources === "object" &&
		sources !== null &&
		Object.hasOwn(sources, name);
	return isNamed || String(hasgroups) === "true";
}
