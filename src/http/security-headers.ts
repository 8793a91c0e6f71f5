const TWO_YEARS_SECONDS = 63_072_000;

/**
 * Returns the headers of every answer at every door. They forbid a browser to guess its type, to
 * run or frame it, to let another site read it, and to send our addresses to another site. A door
 * may set others for content that should run (the console's page). Behind TLS they also require TLS
 * from then on.
 */
export function securityHeaders(
	baseUrl: string,
): Readonly<Record<string, string>> {
	return Object.freeze({
		"x-content-type-options": "nosniff",
		"content-security-policy": "default-src 'none'; frame-ancestors 'none'",
		"cross-origin-resource-policy": "same-origin",
		"referrer-policy": "no-referrer",
		...(baseUrl.startsWith("https:") && {
			"strict-transport-security": `max-age=${TWO_YEARS_SECONDS}; includeSubDomains`,
		}),
	});
}
