import { createHmac, timingSafeEqual } from "node:crypto";

/** Names of the cookies that better-auth and we set at a sign-in. */
export interface CookieNames {
	/** Signs the user in. */
	session: string;
	/** Shows that the password was right and that a code is still missing. */
	halfSignedIn: string;
	/** Shows that somebody has signed in with this browser before. */
	knownBrowser: string;
}

/**
 * Returns the prefix of our cookies' names. A browser accepts a cookie whose name starts with
 * `__Host-` only over TLS, only for this host and only for all its paths. No neighbour under the
 * same domain can therefore set one.
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
	};
}

/**
 * Returns the value of the cookie with exactly this name, as it was sent. A cookie that was sent
 * twice counts as absent, because nobody can tell which of the two is ours.
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
 * Returns the headers with only our own cookies, so that better-auth and we never read a request
 * differently. Everything else in the Cookie header is dropped.
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

/** Returns the value of a signed cookie. Returns undefined if the signature is not ours. */
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
