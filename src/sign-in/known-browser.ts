import { hash, randomBytes } from "node:crypto";
import { normalAddress } from "../records/mail-address.ts";
import {
	cookieNames,
	findCookie,
	readSignedCookie,
	setCookie,
	signCookie,
} from "./cookies.ts";
import type { Step } from "./exchange.ts";

interface SigningParts {
	baseUrl: string;
	secret: string;
}

/** Longest lifetime of a cookie that browsers accept. */
const MAX_AGE_SECONDS = 400 * 24 * 3600;

/**
 * Returns the value of a Set-Cookie header that marks this browser as known. While somebody
 * elsewhere attacks the address, a known browser may still try to sign in as `email`. The cookie
 * alone does not sign anybody in. Each browser has its own id, and wrong passwords are counted for
 * each id.
 */
export function knownBrowserCookie(
	{ baseUrl, secret }: SigningParts,
	email: string,
): string {
	const value = `${randomBytes(12).toString("base64url")}.${addressHash(email)}`;
	return setCookie(baseUrl, {
		name: cookieNames(baseUrl).knownBrowser,
		value: signCookie(value, secret),
		maxAgeSeconds: MAX_AGE_SECONDS,
		sameSite: "Strict",
	});
}

/**
 * Returns the id of a browser in which somebody has signed in as `email` before. Returns undefined
 * for any other browser.
 */
export function findKnownBrowser(
	{ baseUrl, secret }: SigningParts,
	headers: Headers,
	email: string,
): string | undefined {
	const sent = findCookie(
		headers.get("cookie"),
		cookieNames(baseUrl).knownBrowser,
	);
	const [id, address] = (readSignedCookie(sent, secret) ?? "").split(".");
	return id && address === addressHash(email) ? id : undefined;
}

/** Marks the browser as known after a sign-in with the right password. */
export const rememberBrowser: Step = async (exchange) => {
	const { parts, headers, subject } = exchange;
	if (!("email" in subject.whose)) return;
	const { email } = subject.whose;
	if (findKnownBrowser(parts, headers, email)) return;
	exchange.onSuccess(async (response) => {
		response.headers.append("set-cookie", knownBrowserCookie(parts, email));
	});
};

function addressHash(email: string): string {
	return hash("sha256", normalAddress(email), "base64url");
}
