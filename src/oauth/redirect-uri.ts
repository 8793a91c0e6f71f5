/** Longest redirect URI, in bytes. */
export const MAX_REDIRECT_BYTES = 2000;

const LOOPBACK = new Set(["127.0.0.1", "[::1]", "localhost"]);
/** Schemes that a browser runs, shows or opens itself, and that no program can own. */
const OF_BROWSERS =
	/^(?:about|blob|chrome|data|file|filesystem|ftp|javascript|mailto|resource|vbscript|view-source|wss?):$/;

/**
 * Returns true if a client may ask to be redirected there: an https address, http on the machine of
 * the user, or a scheme of the client's own (RFC 8252). A fragment or a password is not permitted.
 */
export function isRedirectUri(text: string): boolean {
	if (Buffer.byteLength(text) > MAX_REDIRECT_BYTES) return false;
	// A browser removes such characters, so the text would not be what the browser opens.
	if (/[\p{Cc}\s\\]/u.test(text)) return false;
	const url = URL.parse(text);
	if (!url || text.includes("#") || url.username || url.password) return false;
	if (url.protocol === "https:") return true;
	if (url.protocol === "http:") return LOOPBACK.has(url.hostname);
	return !OF_BROWSERS.test(url.protocol);
}

/**
 * Returns true if `asked` is one of the client's redirect URIs. They must be the same character by
 * character. Only the port of a program on the user's machine may differ, because the program takes
 * a free one (RFC 8252, section 7.3).
 */
export function isRegisteredRedirect(
	registered: readonly string[],
	asked: string,
): boolean {
	if (registered.includes(asked)) return true;
	const plain = withoutLoopbackPort(asked);
	return (
		plain !== undefined &&
		registered.some((one) => withoutLoopbackPort(one) === plain)
	);
}

function withoutLoopbackPort(text: string): string | undefined {
	const url = URL.parse(text);
	if (url?.protocol !== "http:" || !LOOPBACK.has(url.hostname)) return;
	return text.replace(/^(http:\/\/(?:\[::1\]|[^/:?]+)):\d+/, "$1");
}

/** Returns the redirect URI with these parameters added to its query. */
export function redirectTo(
	uri: string,
	parameters: Record<string, string | undefined>,
): string {
	const url = new URL(uri);
	for (const [name, value] of Object.entries(parameters)) {
		if (value !== undefined) url.searchParams.set(name, value);
	}
	return url.href;
}
