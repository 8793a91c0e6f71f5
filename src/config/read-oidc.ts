import { AppError } from "../errors.ts";
import { parseId } from "../id.ts";
import { ROLES, type Role } from "../principal.ts";
import { normalAddress } from "../records/mail-address.ts";
import { issuerProblem } from "../sign-in/issuer.ts";
import type { SettingName } from "./settings.ts";
import { readList, readSwitch } from "./values.ts";

/** The identity provider with which people sign in (OpenID Connect). */
export interface OidcConfig {
	/** The provider's identifier, exactly as its metadata spells it. */
	readonly issuer: string;
	readonly clientId: string;
	/** The secret of this service at the provider. It is never shown. */
	readonly clientSecret: string;
	/** Name of the provider on the sign-in page. */
	readonly name: string;
	/** Domains of the e-mail addresses that the provider may vouch for, in lower case. */
	readonly domains: readonly string[];
	/** True if an address counts as verified although the provider does not say so. */
	readonly trustsAddresses: boolean;
	/** What people get who have neither an account nor an invitation. Undefined: they do not get in. */
	readonly newcomers: Newcomers | undefined;
}

export interface Newcomers {
	readonly organizationId: string;
	/** Role of newcomers in no known group. Undefined: they do not get in. */
	readonly role: Role | undefined;
	readonly roleOfGroup: ReadonlyMap<string, Role>;
}

/** Who may sign in with a password: everybody, or only the accounts with these addresses. */
export type PasswordSignIn = "everybody" | readonly string[];

type SettingOf = (name: SettingName) => string | undefined;

const MAX_NAME = 60;

/**
 * Reads the settings of the identity provider. Returns undefined without ASSAY_OIDC_ISSUER. Throws
 * bad_request if a setting is wrong or missing. The messages never repeat the client's secret.
 */
export function readOidc(settingOf: SettingOf): OidcConfig | undefined {
	const issuer = settingOf("ASSAY_OIDC_ISSUER");
	if (!issuer) {
		for (const name of [
			"ASSAY_OIDC_CLIENT_ID",
			"ASSAY_OIDC_CLIENT_SECRET",
			"ASSAY_OIDC_DOMAINS",
			"ASSAY_OIDC_ORGANIZATION",
			"ASSAY_OIDC_ROLES",
		] as const) {
			if (settingOf(name)) throw wrong(name, "needs ASSAY_OIDC_ISSUER");
		}
		return undefined;
	}
	const require = (name: SettingName): string => {
		const value = settingOf(name);
		if (value) return value;
		throw wrong(name, "must be set when ASSAY_OIDC_ISSUER is set");
	};
	const problem = issuerProblem(issuer);
	if (problem) throw wrong("ASSAY_OIDC_ISSUER", problem);
	return Object.freeze({
		issuer,
		clientId: require("ASSAY_OIDC_CLIENT_ID"),
		clientSecret: require("ASSAY_OIDC_CLIENT_SECRET"),
		name: readName(settingOf("ASSAY_OIDC_NAME")),
		domains: readDomains(require("ASSAY_OIDC_DOMAINS")),
		trustsAddresses: readSwitch(
			"ASSAY_OIDC_TRUST_ADDRESSES",
			settingOf("ASSAY_OIDC_TRUST_ADDRESSES"),
		),
		newcomers: readNewcomers(settingOf),
	});
}

/**
 * Reads who may sign in with a password. `oidc` says whether there is another way to sign in.
 * Without one, everybody needs the password.
 */
export function readPasswordSignIn(
	text: string | undefined,
	oidc: OidcConfig | undefined,
): PasswordSignIn {
	const name = "ASSAY_PASSWORD_SIGN_IN";
	if (text === "everybody" || text === undefined) return "everybody";
	const addresses = readList(text).map(normalAddress);
	const odd = addresses.find((one) => !/^[^\s@]+@[^\s@]+$/.test(one));
	if (odd !== undefined || addresses.length === 0) {
		throw wrong(
			name,
			`must be everybody, or a comma-separated list of the e-mail addresses that may still sign in with a password, not "${odd ?? text}"`,
		);
	}
	if (!oidc)
		throw wrong(name, "can limit passwords only with ASSAY_OIDC_ISSUER");
	return Object.freeze(addresses);
}

function readName(text: string | undefined): string {
	const name = (text ?? "").trim();
	if (name.length > 0 && name.length <= MAX_NAME && !/\p{Cc}/u.test(name)) {
		return name;
	}
	throw wrong(
		"ASSAY_OIDC_NAME",
		`must be a name of 1 to ${MAX_NAME} characters, such as Example Inc.`,
	);
}

function readDomains(text: string): readonly string[] {
	const domains = readList(text).map((one) => one.toLowerCase());
	for (const domain of domains) {
		if (/^[a-z0-9-]+(\.[a-z0-9-]+)+$/.test(domain)) continue;
		throw wrong(
			"ASSAY_OIDC_DOMAINS",
			`must be a comma-separated list of domains, such as example.com, example.org; "${domain}" is not a domain`,
		);
	}
	if (domains.length === 0) {
		throw wrong("ASSAY_OIDC_DOMAINS", "must name at least one domain");
	}
	return Object.freeze(domains);
}

/** Reads roles such as "viewer, Security=admin": the role of everybody, and roles of groups. */
function readNewcomers(settingOf: SettingOf): Newcomers | undefined {
	const organizationId = settingOf("ASSAY_OIDC_ORGANIZATION");
	const roles = settingOf("ASSAY_OIDC_ROLES");
	if (!organizationId) {
		if (roles) {
			throw wrong("ASSAY_OIDC_ROLES", "needs ASSAY_OIDC_ORGANIZATION");
		}
		return undefined;
	}
	if (parseId(organizationId)?.kind !== "organization") {
		throw wrong(
			"ASSAY_OIDC_ORGANIZATION",
			"must be the id of an organization, as `assay org list` shows it",
		);
	}
	let everybody: Role | undefined;
	const roleOfGroup = new Map<string, Role>();
	for (const item of readList(roles ?? "viewer")) {
		const split = item.lastIndexOf("=");
		const group = item.slice(0, Math.max(split, 0)).trim();
		const role = ROLES.find((one) => one === item.slice(split + 1).trim());
		if (!role || (split >= 0 && group === "")) {
			throw wrong(
				"ASSAY_OIDC_ROLES",
				`must be a comma-separated list of ${ROLES.join(", ")} for everybody, or group=role for members of a group; "${item}" is neither`,
			);
		}
		if (group) roleOfGroup.set(group, role);
		else if (everybody === undefined) everybody = role;
		else throw wrong("ASSAY_OIDC_ROLES", "names a role for everybody twice");
	}
	return { organizationId, role: everybody, roleOfGroup };
}

function wrong(name: SettingName, what: string): AppError {
	return new AppError("bad_request", `${name} ${what}`);
}
