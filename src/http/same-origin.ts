import type { IncomingMessage } from "node:http";
import { AppError } from "../errors.ts";
import type { AllowedOrigins } from "./cross-origin.ts";

const LOCAL = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Throws a forbidden AppError for a request that another website made somebody's browser send.
 *
 * The request's Host must be the host of the base URL, this machine's own name for itself, or the
 * address at which the request arrived. If an attacker points a domain at this machine, that domain
 * is none of these. The request's Origin, a header that browsers send, must be the service's own or
 * one of `allowed`. Pass `allowed` only for a route that no cookie opens.
 */
export function requireSameOrigin(
	request: IncomingMessage,
	baseUrl: string,
	allowed: AllowedOrigins = [],
): void {
	const { host, origin } = request.headers;
	requireOwnHost(request, baseUrl);
	if (origin === undefined || origin === baseUrl) return;
	if (allowed.includes(origin)) return;
	if (host === undefined || URL.parse(origin)?.host !== host.toLowerCase()) {
		throw new AppError(
			"forbidden",
			`this service accepts requests only from pages of ${baseUrl}, not of ${origin.slice(0, 200)}; open the console at ${baseUrl}`,
		);
	}
}

/** Throws a forbidden AppError if the request's Host is none of the service's own. */
export function requireOwnHost(
	request: IncomingMessage,
	baseUrl: string,
): void {
	const { host } = request.headers;
	// Only HTTP/1.0 requests may lack the header Host, and no browser sends HTTP/1.0.
	if (host !== undefined && !isOurHost(host, baseUrl, request)) {
		throw new AppError(
			"forbidden",
			`this service answers at ${baseUrl}, not at "${host.slice(0, 200)}"; use that address, or set ASSAY_BASE_URL to the one that you use`,
		);
	}
}

/**
 * Throws a forbidden AppError for a request that did not come from a page of the service. Call this
 * after `requireSameOrigin`. A browser sends the page's origin with every request that can change
 * something. A request without an origin may come from any page.
 */
export function requireOwnPage(
	{ method, headers: { origin } }: IncomingMessage,
	baseUrl: string,
): void {
	if (origin === baseUrl || (method === "GET" && origin === undefined)) return;
	// If the service uses TLS, only the base URL is accepted as origin. A page with the same name but
	// without TLS may come from an attacker.
	if (origin === undefined || baseUrl.startsWith("https:")) {
		throw new AppError(
			"forbidden",
			`this address is only for the web console at ${baseUrl}; call ${baseUrl}/api/mcp/tools/<tool> with an API token instead`,
		);
	}
}

function isOurHost(
	host: string,
	baseUrl: string,
	request: IncomingMessage,
): boolean {
	const hostname = URL.parse(`http://${host}`)?.hostname;
	if (hostname === undefined) return false;
	if (LOCAL.has(hostname) || hostname === new URL(baseUrl).hostname) {
		return true;
	}
	const address = request.socket.localAddress?.replace(/^::ffff:/, "");
	return hostname === address || hostname === `[${address}]`;
}
