import type { PasswordSignIn } from "../config/read-oidc.ts";
import { AppError } from "../errors.ts";
import { normalAddress } from "../records/mail-address.ts";
import type { Step } from "./exchange.ts";

/** Who may sign in with a password, and how the others sign in. */
export interface PasswordRule {
	passwordSignIn: PasswordSignIn;
	/** Name and issuer of the identity provider. Undefined if there is none. */
	providerName?: string | undefined;
	issuer?: string | undefined;
}

/** Returns true if the account with this address may be used with a password. */
export function mayUsePassword(
	{ passwordSignIn }: PasswordRule,
	email: string,
): boolean {
	return (
		passwordSignIn === "everybody" ||
		passwordSignIn.includes(normalAddress(email))
	);
}

/** How a session began. */
export interface Beginning {
	/** The issuer that vouched for the user. Null: the user gave a password. */
	provider?: string | null | undefined;
	/** The provider that vouched for the user, if it is one of an organization. */
	identityProviderId?: string | null | undefined;
}

/**
 * Returns true if a session that began in this way may go on. The settings may have changed since:
 * passwords may be forbidden, or there may be another provider or none. The database ends the
 * sessions of an organization's provider when the provider is switched off.
 */
export function mayGoOn(
	rule: PasswordRule,
	{ provider, identityProviderId }: Beginning,
	email: string,
): boolean {
	if (identityProviderId) return true;
	return provider ? provider === rule.issuer : mayUsePassword(rule, email);
}

/** Throws forbidden if the account with this address may not be used with a password. */
export function requirePasswordSignIn(rule: PasswordRule, email: string): void {
	if (mayUsePassword(rule, email)) return;
	throw new AppError(
		"forbidden",
		`this service accepts no password for ${email.slice(0, 200)}; sign in with ${rule.providerName ?? "the identity provider"}`,
	);
}

/**
 * Rejects a password before it is checked. Otherwise the answer would reveal whether it was right.
 */
export const rejectPassword: Step = async ({ parts, subject }) => {
	if ("email" in subject.whose) {
		requirePasswordSignIn(parts, subject.whose.email);
	}
};
