import { isIP } from "node:net";

/**
 * Returns the host name that passkeys of this service are made for (WebAuthn: relying party id).
 * Returns undefined if the service has only an IP address, because browsers make passkeys for
 * names.
 */
export function relyingPartyId(baseUrl: string): string | undefined {
	const { hostname } = new URL(baseUrl);
	const host = hostname.replace(/^\[|\]$/g, "");
	return isIP(host) === 0 ? host : undefined;
}
