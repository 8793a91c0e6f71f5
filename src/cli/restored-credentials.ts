import type { Credentials } from "../backup/credentials.ts";
import { printable } from "./output.ts";

const MAX_LISTED = 20;

/** The lists whose entries a restore can revoke, in the order in which it does. */
const REVOCABLE = [
	"api_tokens",
	"scim_credentials",
	"enrollment_keys",
	"invitations",
] as const;

export type Revocable = (typeof REVOCABLE)[number];

/** Returns the lists that the options of `assay restore` let it revoke. */
export function revocableBy(options: {
	revokeTokens?: boolean;
	revokeCredentials?: boolean;
}): readonly Revocable[] {
	if (options.revokeCredentials) return REVOCABLE;
	return options.revokeTokens ? ["api_tokens"] : [];
}

/** Names of the lists for people. Members come last, because there are many. */
const NAMES: Readonly<Record<keyof Credentials, string>> = {
	api_tokens: "API tokens",
	scim_credentials: "SCIM credentials",
	enrollment_keys: "enrollment keys",
	enrollment_tokens: "devices with an enrollment token",
	invitations: "invitations",
	identity_providers: "identity providers of organizations",
	domains: "verified domains",
	devices: "device keys",
	members: "members",
};

/** Returns lines that list everything that gives access. */
export function describeCredentials(
	credentials: Credentials,
	revoked: readonly Revocable[],
): string[] {
	const lists = Object.entries(NAMES) as [keyof Credentials, string][];
	return [
		"These give access again, even if they were revoked, removed or used after the backup was made:",
		...lists.flatMap(([list, name]) =>
			listed(
				name,
				credentials[list].map(describe),
				revoked.some((one) => one === list) ? ", now revoked" : "",
			),
		),
		"Passwords, passkeys, second factors and rules for signing in are those of the backup too.",
	];
}

function describe(one: Credentials[keyof Credentials][number]): string {
	if ("role" in one) return `${one.email} ${one.organization}, ${one.role}`;
	return `${one.id} ${"email" in one ? one.email : one.organization}, ${one.name}`;
}

function listed(what: string, lines: string[], now: string): string[] {
	const more = lines.length - MAX_LISTED;
	return [
		`  ${what}: ${lines.length}${now}`,
		...lines.slice(0, MAX_LISTED).map((line) => `    ${printable(line)}`),
		...(more > 0 ? [`    and ${more} more; --json prints all`] : []),
	];
}
