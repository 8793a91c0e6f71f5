import { findCookie, setCookie } from "../cookies.ts";

/** The path that leads to the provider's page for signing out. */
export const SIGN_OUT_PATH = "/api/sign-in-with-provider/sign-out";

/** Seconds for which the token is kept. A session at a provider seldom lasts longer. */
const LIFETIME_SECONDS = 24 * 3600;
/**
 * Longest value. nginx answers 502 if all headers of an answer, with the cookie of the session among
 * them, have more than 4,096 bytes.
 */
const MAX_LENGTH = 2_500;

/**
 * Returns the value of the Set-Cookie header that keeps the ID token of a sign-in. It removes the one
 * of an earlier sign-in, which may be somebody else's, if there is no token or it is too long.
 *
 * Signing out at the provider needs the token. Okta answers 400 without it, and other providers
 * first ask whether the person wants to sign out (OpenID Connect RP-Initiated Logout 1.0, section
 * 2). The browser sends the cookie only to SIGN_OUT_PATH.
 */
export function idTokenCookie(
	baseUrl: string,
	providerId: string | undefined,
	idToken: string | undefined,
): string {
	const whole = `${providerId ?? ""}:${idToken ?? ""}`;
	const isKept = idToken !== undefined && whole.length <= MAX_LENGTH;
	return setCookie(baseUrl, {
		name: nameAt(baseUrl),
		value: isKept ? whole : "",
		maxAgeSeconds: isKept ? LIFETIME_SECONDS : 0,
		sameSite: "Strict",
		path: SIGN_OUT_PATH,
	});
}

/** Returns the ID token of this browser's last sign-in, if that was with the same provider. */
export function readIdToken(
	baseUrl: string,
	providerId: string | undefined,
	cookieHeader: string | null,
): string | undefined {
	const [id, token, ...more] = (
		findCookie(cookieHeader, nameAt(baseUrl)) ?? ""
	).split(":");
	const isToken = /^[\w-]+\.[\w-]+\.[\w-]+$/.test(token ?? "");
	return isToken && more.length === 0 && id === (providerId ?? "")
		? token
		: undefined;
}

/** The prefix is not `__Host-`, because browsers accept that only for cookies with the path `/`. */
function nameAt(baseUrl: string): string {
	return baseUrl.startsWith("https:")
		? "__Secure-assay.id_token"
		: "assay.id_token";
}
