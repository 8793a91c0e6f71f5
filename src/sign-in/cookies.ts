import { createHmac, timingSafeEqual } from "node:crypto";

/** The cookies of the sign-in, by the names that better-auth and we give them. */
export interface CookieNames {
	/** Signs in. */
	session: string;
	/** Says that the password was right and a code is missing. */
	halfSignedIn: string;
	/** Says that somebody has signed in with this browser before. */
	knownBrowser: string;
}

/**
 * A browser accepts a cookie that starts with `__Host-` only over TLS, only for this host and only
 * for all its paths, so no neighbour under the same domain can plant one of its own.
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
 * twice counts as absent: nobody can tell which of the two is ours.
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
 * Returns the headers with our own cookies alone, so that better-auth and we never read one request
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

/** Returns the value as better-auth signs its own: `value.signature`, percent-encoded. */
export function signCookie(value: string, secret: string): string {
	return encodeURIComponent(`${value}.${signatureOf(value, secret)}`);
}

/** Returns the value of a signed cookie; undefined when the signature is not ours. */
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
