import { AppError } from "../errors.ts";
import type { AnyOperation } from "../operation.ts";
import type { Principal } from "../principal.ts";

/**
 * Operations on the caller's own account that a confined session may call. They show nothing of
 * other organizations and change nothing there. A new operation is forbidden until it is named here.
 */
const ALLOWED: ReadonlySet<string> = new Set([
	"getProfile",
	"createApiToken",
	"listApiTokens",
	"revokeApiToken",
	"revokeApiTokens",
	"rotateApiToken",
	"allowApp",
]);

/** Returns the only organization that the session reaches, or undefined if it reaches all. */
export function confinedTo({ provider }: Principal): string | undefined {
	return provider?.isConfined ? provider.organizationId : undefined;
}

/**
 * Returns why a session may not call an operation on the user's own account. A session that an
 * organization's provider vouched for must not change an account that other organizations rely on.
 */
export function outOfConfinement(
	principal: Principal,
	{ name }: Pick<AnyOperation, "name">,
): string | undefined {
	if (confinedTo(principal) === undefined || ALLOWED.has(name))
		return undefined;
	return `permission denied: you signed in with the identity provider of one organization, and this session reaches only that organization; ${name} concerns your whole account, so sign in another way for it`;
}

/** Routes below /api/auth that only show or end a session, or prove who uses it. */
const HARMLESS: ReadonlySet<string> = new Set([
	"/get-session",
	"/sign-out",
	"/verify-password",
	"/passkey/proof-options",
	"/passkey/prove",
	"/two-factor/verify-totp",
	"/two-factor/verify-backup-code",
	"/two-factor/recovery-codes-left",
	"/sign-in/email",
	"/passkey/sign-in-options",
	"/passkey/sign-in",
]);

/** Returns true if a confined session may use a route. All others could add ways into the account. */
export function mayUseConfined(path: string): boolean {
	return HARMLESS.has(path);
}

export function confinedAccount(): AppError {
	return new AppError(
		"forbidden",
		"permission denied: you signed in with the identity provider of one organization, and your account belongs to all of them; sign in another way to change how you sign in",
	);
}
