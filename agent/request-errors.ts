import type { SystemProxy } from "./system-proxy.ts";

/** An error of our own: the agent ended a request, and the message says why. */
export class Stopped extends Error {}

const REASONS: Record<string, string> = {
	ECONNREFUSED: "nothing listens at the service's address",
	ENOTFOUND: "DNS has no entry for the service's name",
	EAI_AGAIN: "DNS cannot look up the service's name at the moment",
	ECONNRESET: "the connection was cut",
	EPIPE: "the connection was cut",
	ETIMEDOUT: "the service does not answer",
	EHOSTUNREACH: "the service cannot be reached",
	ENETUNREACH: "there is no network",
	ABORT_ERR: "the agent is stopping",
	CERT_HAS_EXPIRED:
		"the service's certificate has expired, or this device's clock is wrong; the certificate has to be renewed on the server",
	CERT_NOT_YET_VALID:
		"the service's certificate is not valid yet; check this device's clock",
	ERR_TLS_CERT_ALTNAME_INVALID:
		"the service's certificate is for another host name; check the service's address, and whether another server answers there",
};

const OF_PROXY: Record<string, string> = {
	ECONNREFUSED: "nothing listens at the proxy's address",
	ENOTFOUND: "DNS has no entry for the proxy's name",
	EAI_AGAIN: "DNS cannot look up the proxy's name at the moment",
	ETIMEDOUT: "the proxy does not answer",
	EHOSTUNREACH: "the proxy cannot be reached",
};

export const CERTIFICATE_ERROR = /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME/;

/**
 * Says in our own words why a request failed. The text of an error may contain anything, so it is
 * not used. `proxy` is the proxy in the environment or, if `system` has it too, in the system's
 * settings. `source` says where the environment's proxy was set.
 */
export function describeError(
	error: unknown,
	service: URL,
	proxy: URL | undefined,
	system: SystemProxy = {},
	source = "HTTPS_PROXY",
): string {
	const reason = reasonFor(error, service, proxy, system, source);
	return system.note === undefined ? reason : `${reason}; ${system.note}`;
}

function reasonFor(
	error: unknown,
	service: URL,
	proxy: URL | undefined,
	system: SystemProxy,
	source: string,
): string {
	if (error instanceof Stopped) return error.message;
	const { code = "", message = "" } = error as NodeJS.ErrnoException;
	if (proxy) {
		const { statusCode } = error as { statusCode?: number };
		if (code === "ERR_PROXY_TUNNEL") {
			return statusCode === 407
				? `the proxy ${proxy.host} demands a user name and a password; ${system.proxy ? "set HTTPS_PROXY with them" : `add them to ${source}`}`
				: `the proxy ${proxy.host} does not connect to the service${statusCode ? ` (it answered ${statusCode})` : ""}`;
		}
		const reason = OF_PROXY[code];
		if (reason && isOfProxy(error, service, proxy)) {
			return `${reason} (${proxy.host}); check ${system.proxy ? "the proxy in the system's settings" : source}`;
		}
	}
	const known = REASONS[code];
	if (known) return known;
	if (CERTIFICATE_ERROR.test(code)) {
		return `the service's certificate is not trusted (${code}); if your own certificate authority issued it, give that authority with --ca-file`;
	}
	return `the request failed (${code || message})`;
}

/** Returns true if the connection that failed was one to the proxy. */
function isOfProxy(error: unknown, service: URL, proxy: URL): boolean {
	// If a name has several addresses, the error has one error for each of them.
	const [first] = (error as AggregateError).errors ?? [error];
	const { hostname, port } = first as { hostname?: string; port?: number };
	if (hostname !== undefined) {
		return hostname === proxy.hostname && hostname !== service.hostname;
	}
	return port === portOf(proxy) && port !== portOf(service);
}

function portOf({ port, protocol }: URL): number {
	return Number(port || (protocol === "https:" ? 443 : 80));
}

/** Returns the proxy that the environment names for the service. NO_PROXY may still exclude it. */
export function proxyFor(
	service: URL,
	environment: NodeJS.ProcessEnv,
): URL | undefined {
	const name = service.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
	const text = environment[name.toLowerCase()] ?? environment[name] ?? "";
	return URL.parse(text) ?? undefined;
}
