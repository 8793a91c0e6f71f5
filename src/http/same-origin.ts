import type { IncomingMessage } from "node:http";
import { AppError } from "../errors.ts";

const LOCAL = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Rejects a request that a foreign web page made somebody's browser send. Its Host must be the base
 * URL's, this machine's own name for itself, or the address it arrived at; a name that an attacker
 * points at this machine is none of these. Its Origin, which only browsers send, must be the
 * service's own. Throws a forbidden AppError.
 */
export function requireSameOrigin(
	request: IncomingMessage,
	baseUrl: string,
): void {
	const { host, origin } = request.headers;
	// Only HTTP/1.0 requests may lack Host, and no browser sends them.
	if (host !== undefined && !isOurHost(host, baseUrl, request)) {
		throw new AppError(
			"forbidden",
			`this service does not answer as "${host.slice(0, 200)}"; use ${baseUrl}, or set ASSAY_BASE_URL to the address that you mean`,
		);
	}
	if (origin === undefined || origin === baseUrl) return;
	if (host === undefined || URL.parse(origin)?.host !== host.toLowerCase()) {
		throw new AppError(
			"forbidden",
			`this service does not accept requests of the web page ${origin.slice(0, 200)}, only those of ${baseUrl}`,
		);
	}
}

/**
 * Rejects a request that no page of the service sent, after `requireSameOrigin`. A browser names
 * the page's origin with every request that can change something; without a name it may be any
 * page. Throws a forbidden AppError.
 */
export function requireOwnPage(
	{ method, headers: { origin } }: IncomingMessage,
	baseUrl: string,
): void {
	if (origin === baseUrl || (method === "GET" && origin === undefined)) return;
	// With TLS only the base URL is accepted: a page of the same name without TLS may be anybody's.
	if (origin === undefined || baseUrl.startsWith("https:")) {
		throw new AppError(
			"forbidden",
			`this address is for the web console at ${baseUrl}; programs use an API token and ${baseUrl}/api/mcp/tools/<tool>`,
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
