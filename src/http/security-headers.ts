const TWO_YEARS_SECONDS = 63_072_000;

/**
 * What every answer says to a browser, whatever the door: nothing here is to be guessed, run, framed
 * or read by another site, and no address of ours is told to one. A door may say something else for
 * what is meant to run (the console's page). Behind TLS the browser is to insist on it from then on.
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
