import type { Config } from "../config/config.ts";
import { IGNORED_ADDRESSES } from "../metrics/names.ts";
import type { Finding } from "./doctor.ts";

/**
 * Warns if the service takes the proxy for its clients. `metrics` is the text of the running
 * service's metrics; without it, only the configuration is examined.
 */
export function examineProxies(
	{ baseUrl, trustedProxies }: Config,
	metrics = "",
): Finding {
	const check = "proxies";
	const line = new RegExp(`^${IGNORED_ADDRESSES} (\\d+)$`, "m").exec(metrics);
	const ignored = Number(line?.[1] ?? 0);
	if (ignored > 0) {
		return {
			check,
			status: "warning",
			found: `${ignored} requests had a forwarded address that was ignored, because their sender is not in ASSAY_TRUSTED_PROXIES`,
			advice:
				"the service's log names the first sender; if it is your proxy, add it, because all clients behind it share the limits of sign-ins and have one address in the audit log. If it is a client, you need not do anything",
		};
	}
	if (baseUrl.startsWith("https:") && trustedProxies.length === 0) {
		return {
			check,
			status: "warning",
			found: `${baseUrl} needs a proxy, but ASSAY_TRUSTED_PROXIES is not set`,
			advice:
				"set it to the proxy's address; without it all clients share the limits of sign-ins and have the proxy's address in the audit log",
		};
	}
	return {
		check,
		status: "ok",
		found:
			trustedProxies.length === 0
				? "none is trusted, and none has been seen"
				: `X-Forwarded-For counts from ${trustedProxies.join(", ")}`,
	};
}
