import { AgentError, EXIT } from "./agent-error.ts";

/**
 * Returns true if the name or address is this machine itself, which is reached without a network.
 */
export function isLoopback(hostname: string): boolean {
	return (
		hostname === "localhost" ||
		hostname === "[::1]" ||
		/^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(hostname)
	);
}

/**
 * Returns the origin of the service from the address that a user gave. Throws an AgentError if the
 * text is not an address, contains more than an origin, or would send the device key unencrypted.
 */
export function parseServerUrl(text: string): string {
	const url = URL.parse(text.trim());
	if (!url || (url.protocol !== "https:" && url.protocol !== "http:")) {
		throw wrong(
			"the address of the service must look like https://assay.example.com",
		);
	}
	if (url.username !== "" || url.password !== "") {
		throw wrong(
			"the address of the service must not contain a user name or password",
		);
	}
	if (url.pathname !== "/" || url.search !== "" || url.hash !== "") {
		throw wrong(
			`the address of the service must have nothing after the host; use ${url.origin}`,
		);
	}
	if (url.protocol === "http:" && !isLoopback(url.hostname)) {
		throw wrong(
			`the address of the service must begin with https://, because the device's key would cross the network unencrypted; http:// is only for a service on this machine (localhost)`,
		);
	}
	return url.origin;
}

const wrong = (message: string) =>
	new AgentError(message, { exitCode: EXIT.wrongUsage });
