const TWO_YEARS_SECONDS = 63_072_000;

/**
 * Returns the security headers that every response at every door has. They tell browsers not to
 * guess a response's type, not to run or frame it, not to let another site read it, and not to send
 * our addresses to another site. A door may replace them for content that has to run, such as the
 * console's page. If the service uses TLS, they also require browsers to keep using TLS.
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
