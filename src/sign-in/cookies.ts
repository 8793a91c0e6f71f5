import { createHmac, timingSafeEqual } from "node:crypto";

/** Names of the cookies that better-auth and we set at a sign-in. */
export interface CookieNames {
	/** The cookie of a signed-in session. */
	session: string;
	/** The cookie of a user who has given the right password and still has to give a code. */
	halfSignedIn: string;
	/** The cookie of a browser in which somebody has signed in before. */
	knownBrowser: string;
	/** The cookie of a browser that asked for a passkey. */
	passkeyBrowser: string;
	/** The cookie of an attempt to sign in with the identity provider. */
	attempt: string;
	/** The cookie of an answer of a SAML provider, for a minute. */
	samlAnswer: string;
}

/**
 * Returns the prefix of our cookies' names. Browsers accept a cookie whose name starts with
 * `__Host-` only over TLS, only for this host and only for all its paths. Therefore no other host
 * under the same domain can set such a cookie.
 */
export function cookiePrefix(baseUrl: string): string {
	return baseUrl.startsWith("https:") ? "__Host-assay" : "assay";
}

export function cookieNames(baseUrl: string): CookieNames {
	const prefix = cookiePrefix(baseUrl);
	return {
		session: `${prefix}.session_token`,
		halfSignedIn: `${prefix}.two_factor`,
		knownBrowser: `${prefix}.known_browser`,
		passkeyBrowser: `${prefix}.passkey_browser`,
		attempt: `${prefix}.provider_attempt`,
		samlAnswer: `${prefix}.saml_answer`,
	};
}

interface NewCookie {
	name: string;
	value: string;
	maxAgeSeconds: number;
	/** With Lax, the browser also sends the cookie when another website leads to this one. */
	sameSite: "Strict" | "Lax";
	/** The browser sends the cookie only to this path and paths below it. The default is `/`. */
	path?: string;
}

/** Returns the value of a Set-Cookie header. No script in a page can read the cookie. */
export function setCookie(
	baseUrl: string,
	{ name, value, maxAgeSeconds, sameSite, path = "/" }: NewCookie,
): string {
	return [
		`${name}=${value}`,
		`Max-Age=${maxAgeSeconds}`,
		`Path=${path}`,
		"HttpOnly",
		`SameSite=${sameSite}`,
		...(baseUrl.startsWith("https:") ? ["Secure"] : []),
	].join("; ");
}

/**
 * Returns the value of the cookie with exactly this name, as the client sent it. If the client sent
 * the cookie twice, it counts as absent, because nobody can tell which of the two is ours.
 */
export function findCookie(
	header: string | null,
	name: string,
): string | undefined {
	const values = (header ?? "")
		.split(";")
		.map((pair) => pair.trim())
		.filter((pair) => pair.startsWith(`${name}=`))
		.map((pair) => pair.slice(name.length + 1));
	return values.length === 1 ? values[0] : undefined;
}

/**
 * Returns the headers with only our own cookies in the Cookie header. better-auth then cannot read
 * a request differently than we do.
 */
export function withOwnCookies(headers: Headers, names: CookieNames): Headers {
	const header = headers.get("cookie");
	const kept = Object.values(names).flatMap((name) => {
		const value = findCookie(header, name);
		return value === undefined ? [] : [`${name}=${value}`];
	});
	const own = new Headers(headers);
	own.delete("cookie");
	if (kept.length > 0) own.set("cookie", kept.join("; "));
	return own;
}

/**
 * Returns the value in the form in which better-auth signs its cookies: `value.signature`,
 * percent-encoded.
 */
export function signCookie(value: string, secret: string): string {
	return encodeURIComponent(`${value}.${signatureOf(value, secret)}`);
}

/**
 * Returns the value of a signed cookie. Returns undefined if the signature was not made with our
 * secret.
 */
export function readSignedCookie(
	sent: string | undefined,
	secret: string,
): string | undefined {
	const text = decode(sent ?? "");
	const dot = text.lastIndexOf(".");
	if (dot < 1) return undefined;
	const value = text.slice(0, dot);
	const given = Buffer.from(text.slice(dot + 1));
	const wanted = Buffer.from(signatureOf(value, secret));
	return given.length === wanted.length && timingSafeEqual(given, wanted)
		? value
		: undefined;
}

/** An object in a signed cookie. It is valid until `endsAt`, in ms since 1970. */
interface Kept {
	endsAt: number;
}

export interface SigningParts {
	baseUrl: string;
	secret: string;
}

/**
 * Returns the Set-Cookie header that lets the browser keep an object, or that removes it if it is
 * undefined. The cookie is Lax, because the browser comes back from another website.
 */
export function keepInCookie(
	{ baseUrl, secret }: SigningParts,
	name: string,
	kept: Kept | undefined,
	lifetimeMs: number,
): string {
	const value = kept && Buffer.from(JSON.stringify(kept)).toString("base64url");
	return setCookie(baseUrl, {
		name,
		value: value === undefined ? "" : signCookie(value, secret),
		maxAgeSeconds: value === undefined ? 0 : lifetimeMs / 1000,
		sameSite: "Lax",
	});
}

/** Returns the object that `keepInCookie` has kept, or undefined if there is none or it has ended. */
export function readKept<Object extends Kept>(
	secret: string,
	name: string,
	cookieHeader: string | null,
): Object | undefined {
	const value = readSignedCookie(findCookie(cookieHeader, name), secret);
	if (value === undefined) return undefined;
	try {
		const kept = JSON.parse(Buffer.from(value, "base64url").toString());
		return kept.endsAt > Date.now() ? kept : undefined;
	} catch {
		// We have signed this value for another cookie.
		return undefined;
	}
}

function signatureOf(value: string, secret: string): string {
	return createHmac("sha256", secret).update(value).digest("base64");
}

function decode(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return "";
	}
}
