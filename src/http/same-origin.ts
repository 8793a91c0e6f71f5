import type { IncomingMessage } from "node:http";
import { AppError } from "../errors.ts";

const LOCAL = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * Refuses a request that a foreign web page made somebody's browser send: its Host must be
 * the base URL's, this machine's own name for itself or the address it arrived at (a name that
 * an attacker points at this machine is none of these), and its Origin, which only browsers
 * send, the service's own. Throws a forbidden AppError.
 */
export function requireSameOrigin(
	request: IncomingMessage,
	baseUrl: string,
): void {
	const { host, origin } = request.headers;
	// HTTP/1.0 alone may come without, and no browser speaks it.
	if (host !== undefined && !isOurHost(host, baseUrl, request)) {
		throw new AppError(
			"forbidden",
			`this service does not answer as "${host.slice(0, 200)}"; use ${baseUrl}, or set ASSAY_BASE_URL to the address that is meant`,
		);
	}
	if (origin === undefined || origin === baseUrl) return;
	if (host === undefined || URL.parse(origin)?.host !== host.toLowerCase()) {
		throw new AppError(
			"forbidden",
			`requests of the web page ${origin.slice(0, 200)} are not accepted here; only those of ${baseUrl} are`,
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
