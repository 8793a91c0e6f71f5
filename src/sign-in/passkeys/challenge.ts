import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { cookieNames, findCookie, setCookie } from "../cookies.ts";

interface Parts {
	baseUrl: string;
	secret: string;
}

/** Purpose of a challenge. A challenge for one purpose is no good for another. */
export type Purpose = "sign-in" | "second-factor" | "proof" | "register";

/** Longest time in which somebody can touch the authenticator, in milliseconds. */
export const CHALLENGE_MS = 5 * 60_000;

const TIME_BYTES = 6;
const RANDOM_BYTES = 16;
const COOKIE_SECONDS = 3600;

/**
 * Makes a challenge for one browser, one purpose and one subject (a user or a session), and the
 * cookie that marks the browser.
 *
 * The service stores nothing: the challenge contains its end and a random value, both signed.
 * Strangers can therefore ask for any number of challenges without filling a table, and several
 * tabs of a browser can use one each at the same time. `claimChallenge` in verify-passkey.ts makes
 * a challenge work once.
 */
export function makeChallenge(
	parts: Parts,
	headers: Headers,
	purpose: Purpose,
	subject: string,
): { challenge: Buffer<ArrayBuffer>; cookie: string } {
	const browser =
		browserOf(parts, headers) ?? randomBytes(18).toString("base64url");
	const signed = Buffer.alloc(TIME_BYTES + RANDOM_BYTES);
	signed.writeUIntBE(Date.now() + CHALLENGE_MS, 0, TIME_BYTES);
	randomBytes(RANDOM_BYTES).copy(signed, TIME_BYTES);
	const signature = sign(parts, signed, [purpose, subject, browser]);
	return {
		challenge: Buffer.concat([signed, signature]),
		cookie: setCookie(parts.baseUrl, {
			name: cookieNames(parts.baseUrl).passkeyBrowser,
			value: browser,
			maxAgeSeconds: COOKIE_SECONDS,
			sameSite: "Strict",
		}),
	};
}

/** Returns true if the challenge is for this browser, purpose and subject and has not expired. */
export function isOwnChallenge(
	parts: Parts,
	headers: Headers,
	purpose: Purpose,
	subject: string,
	challenge: string,
): boolean {
	const browser = browserOf(parts, headers);
	const bytes = Buffer.from(challenge, "base64url");
	const length = TIME_BYTES + RANDOM_BYTES;
	if (browser === undefined || bytes.length !== length + 32) return false;
	const signed = bytes.subarray(0, length);
	return (
		timingSafeEqual(
			bytes.subarray(length),
			sign(parts, signed, [purpose, subject, browser]),
		) && signed.readUIntBE(0, TIME_BYTES) > Date.now()
	);
}

function browserOf({ baseUrl }: Parts, headers: Headers): string | undefined {
	const { passkeyBrowser } = cookieNames(baseUrl);
	const sent = findCookie(headers.get("cookie"), passkeyBrowser);
	return sent !== undefined && /^[\w-]{24}$/.test(sent) ? sent : undefined;
}

function sign({ secret }: Parts, signed: Buffer, scope: string[]): Buffer {
	return createHmac("sha256", secret)
		.update(["passkey challenge", ...scope, ""].join("\0"))
		.update(signed)
		.digest();
}
