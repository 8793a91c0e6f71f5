/** Hosts of this machine. */
export const LOCAL_HOSTS: readonly string[] = [
	"localhost",
	"127.0.0.1",
	"[::1]",
];

/**
 * Returns true for an https address without user and fragment. Without TLS, anybody in the network
 * could sign in as anybody, so http is allowed only on this machine.
 */
export function isSecureAddress(text: string): boolean {
	const url = URL.parse(text);
	const isLocal =
		url?.protocol === "http:" && LOCAL_HOSTS.includes(url.hostname);
	return (
		url !== null &&
		(url.protocol === "https:" || isLocal) &&
		!url.username &&
		!url.password &&
		!url.hash
	);
}

/**
 * Returns what is wrong with an issuer (OpenID Connect Discovery 1.0, section 2), or undefined if
 * it has the right form.
 */
export function issuerProblem(issuer: string): string | undefined {
	const url = URL.parse(issuer);
	if (!url || !isSecureAddress(issuer) || url.search || issuer.length > 500) {
		return "must be the https address of the provider, such as https://login.example.com/realms/staff, without user, query or #";
	}
	if (url.pathname.endsWith("/.well-known/openid-configuration")) {
		return 'must be the "issuer" of the provider\'s metadata, not the address of the metadata; leave out /.well-known/openid-configuration';
	}
	return undefined;
}
