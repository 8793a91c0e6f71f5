import { randomBytes } from "node:crypto";
import {
	cookieNames,
	keepInCookie,
	readKept,
	type SigningParts,
} from "../cookies.ts";
import type { AttemptAsked } from "./provider.ts";

/**
 * An attempt to sign in with the provider. The browser keeps it in a signed cookie while the person
 * is at the provider, so nobody can make another person's browser finish a foreign attempt, and the
 * service stores nothing for visitors who never come back.
 */
export interface Attempt extends AttemptAsked {
	/** The page that opens after the sign-in, as a path of this service. */
	to: string;
	/** The session that the browser has already. */
	sessionId?: string;
	/** True if the person only confirms to be the user of `sessionId`. */
	confirms: boolean;
	/** The provider of an organization. Undefined for the one of the installation. */
	providerId?: string;
	/** True if an administrator tries the provider's settings. Nobody is signed in. */
	tests?: true;
	/** The time of the settings that are tried. */
	settingsOf?: number;
	/** Times in milliseconds since 1970. */
	startedAt: number;
	endsAt: number;
}

const LIFETIME_MS = 10 * 60_000;
const SECRET_BYTES = 32;

/** What somebody who begins an attempt wants. */
export type Wish = Pick<
	Attempt,
	| "to"
	| "sessionId"
	| "confirms"
	| "providerId"
	| "tests"
	| "settingsOf"
	| "withoutGroupsScope"
>;

export function beginAttempt(wish: Wish): Attempt {
	const secret = () => randomBytes(SECRET_BYTES).toString("base64url");
	const startedAt = Date.now();
	return {
		...wish,
		state: secret(),
		nonce: secret(),
		verifier: secret(),
		startedAt,
		endsAt: startedAt + LIFETIME_MS,
	};
}

/** Returns the Set-Cookie header that keeps the attempt, or that removes it if it is undefined. */
export function attemptCookie(
	parts: SigningParts,
	attempt: Attempt | undefined,
): string {
	const name = cookieNames(parts.baseUrl).attempt;
	return keepInCookie(parts, name, attempt, LIFETIME_MS);
}

/** Returns the attempt of this browser. Returns undefined if there is none or it is too old. */
export function readAttempt(
	{ baseUrl, secret }: SigningParts,
	cookieHeader: string | null,
): Attempt | undefined {
	return readKept(secret, cookieNames(baseUrl).attempt, cookieHeader);
}
