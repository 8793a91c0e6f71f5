import type { IncomingMessage } from "node:http";
import type { Reply } from "../mcp/reply.ts";

/**
 * Origins of other websites whose pages may use API tokens here (ASSAY_ALLOWED_ORIGINS). Their
 * pages never get a cookie: no answer has `Access-Control-Allow-Credentials`.
 */
export type AllowedOrigins = readonly string[];

const PREFLIGHT = {
	"access-control-allow-methods": "GET, POST",
	"access-control-allow-headers": [
		"authorization",
		"content-type",
		"last-event-id",
		"mcp-method",
		"mcp-name",
		"mcp-protocol-version",
		"mcp-session-id",
		"x-mcp-errors",
		"x-mcp-readonly",
		"x-mcp-toolsets",
	].join(", "),
	"access-control-max-age": "600",
};

/** Headers of our answers that a page may read, besides those that browsers always show. */
const EXPOSED =
	"etag, retry-after, www-authenticate, x-replica-as-of, x-request-id";

/**
 * Returns the headers that let a page of an allowed origin read the answer. Returns none if no
 * origin is allowed.
 */
export function crossOriginHeaders(
	{ headers: { origin } }: IncomingMessage,
	allowed: AllowedOrigins,
): Record<string, string> {
	if (allowed.length === 0) return {};
	if (origin === undefined || !allowed.includes(origin)) {
		return { vary: "origin" };
	}
	return {
		vary: "origin",
		"access-control-allow-origin": origin,
		"access-control-expose-headers": EXPOSED,
	};
}

/**
 * Returns the answer to the request with which a browser asks, without a credential, whether a page
 * of an allowed origin may send another one. Returns undefined for every other request.
 */
export function preflightReply(
	{ method, headers }: IncomingMessage,
	allowed: AllowedOrigins,
): Reply | undefined {
	const { origin, "access-control-request-method": asked } = headers;
	if (method !== "OPTIONS" || asked === undefined) return undefined;
	if (origin === undefined || !allowed.includes(origin)) return undefined;
	return { status: 204, headers: PREFLIGHT, body: undefined };
}

/** Returns both sets of headers, with the names of both in `vary`. */
export function mergeHeaders(
	one: Readonly<Record<string, string>>,
	other: Readonly<Record<string, string>>,
): Record<string, string> {
	const vary = [one.vary, other.vary].filter((text) => text !== undefined);
	return {
		...one,
		...other,
		...(vary.length > 0 && { vary: vary.join(", ") }),
	};
}
