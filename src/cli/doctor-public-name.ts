import type { Config } from "../config/config.ts";
import { plainReason } from "../errors.ts";
import { INSTANCE_HEADER, instanceOf } from "../http/health.ts";
import { findSecret } from "../sign-in/server-secret.ts";
import type { Finding } from "./doctor.ts";

const TIMEOUT_MS = 5_000;
const FROM_HERE =
	"this was tried from this machine and not from another network";

/** A proxy answers with these when it does not reach what is behind it. */
const FROM_PROXY = new Set([502, 503, 504]);

/** Requests the service at its public address, and checks that this installation answers there. */
export async function examinePublicName(config: Config): Promise<Finding> {
	const check = "public address";
	let response: Response;
	try {
		response = await fetch(`${config.baseUrl}/health/live`, {
			redirect: "manual",
			signal: AbortSignal.timeout(TIMEOUT_MS),
		});
		await response.body?.cancel();
	} catch (error) {
		return { check, ...describeFailure(config.baseUrl, error) };
	}
	const given = response.headers.get(INSTANCE_HEADER);
	if (given === null) {
		return {
			check,
			status: "problem",
			found: `${config.baseUrl} answers with ${response.status}, and not as Assay does`,
			advice: FROM_PROXY.has(response.status)
				? "the proxy does not reach the service: start it, or let the proxy's target be the address and port of the service (ASSAY_HOST, ASSAY_PORT)"
				: "let the proxy pass every path on to the service, or correct ASSAY_BASE_URL",
		};
	}
	const secret = await findSecret(config);
	if (secret !== undefined && given !== instanceOf(secret)) {
		return {
			check,
			status: "problem",
			found: `${config.baseUrl} leads to another installation of Assay`,
			advice:
				"correct ASSAY_BASE_URL or the proxy; several processes of one installation need the same ASSAY_SECRET",
		};
	}
	return {
		check,
		status: "ok",
		found: `${config.baseUrl} leads to this installation; ${FROM_HERE}`,
	};
}

/** OpenSSL's codes for a certificate that no known authority has signed. */
const UNKNOWN_AUTHORITY = new Set([
	"DEPTH_ZERO_SELF_SIGNED_CERT",
	"SELF_SIGNED_CERT_IN_CHAIN",
	"UNABLE_TO_GET_ISSUER_CERT",
	"UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
	"UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Describes why a request failed. `fetch` hides the reason in the cause of its error. */
export function describeFailure(
	baseUrl: string,
	error: unknown,
): Pick<Finding, "status" | "found" | "advice"> {
	const { cause, message } = error as Error & { cause?: NodeJS.ErrnoException };
	if (UNKNOWN_AUTHORITY.has(cause?.code ?? "")) {
		return {
			status: "problem",
			found: `${baseUrl} shows a certificate of an authority that this machine does not know (${cause?.code}); agents and browsers without that authority refuse it, and then no reports arrive`,
			advice: `for an authority of your own, set NODE_EXTRA_CA_CERTS to a file with its certificate, and let the devices trust it too; otherwise let the proxy send the whole chain of its certificate; ${FROM_HERE}`,
		};
	}
	if (cause?.code === "ERR_TLS_CERT_ALTNAME_INVALID") {
		return {
			status: "problem",
			found: `${baseUrl} shows a certificate for another name (${cause.message}); agents and browsers refuse it, and no reports arrive`,
			advice: `get a certificate for that name, or correct ASSAY_BASE_URL; ${FROM_HERE}`,
		};
	}
	if (cause?.code === "CERT_HAS_EXPIRED") {
		return {
			status: "problem",
			found: `${baseUrl} shows a certificate that has expired; agents and browsers refuse it, and no reports arrive`,
			advice: `renew the certificate, or one of its authorities that the proxy sends with it, and reload the proxy (systemctl reload nginx or caddy); if it is valid, correct the clock of this machine (timedatectl); agents keep their reports and send them afterwards; ${FROM_HERE}`,
		};
	}
	if (cause?.code === "CERT_NOT_YET_VALID") {
		return {
			status: "problem",
			found: `${baseUrl} shows a certificate that is not valid yet; agents and browsers refuse it, and no reports arrive`,
			advice: `correct the clock of this machine (timedatectl), or wait until the certificate is valid; ${FROM_HERE}`,
		};
	}
	return {
		status: "warning",
		found: `${baseUrl} does not answer (${plainReason(cause?.message || message)})`,
		advice: `start the service if it is stopped; otherwise check the name in DNS, the proxy and its certificate; ${FROM_HERE}`,
	};
}
