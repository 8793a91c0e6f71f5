import type { Config } from "../config/config.ts";
import {
	isRenewalLate,
	type PublicCertificate,
	readPublicCertificate,
} from "../http/public-certificate.ts";
import type { Finding } from "./doctor.ts";
import { describeDuration } from "./duration.ts";

/**
 * Says when the certificate at the public address ends. There is no finding without https or if
 * nothing answers; another check says that.
 */
export async function examineCertificate({
	baseUrl,
}: Pick<Config, "baseUrl">): Promise<Finding[]> {
	if (!baseUrl.startsWith("https:")) return [];
	const certificate = await readPublicCertificate(baseUrl).catch(() => {});
	return certificate
		? [describeCertificate(baseUrl, certificate, new Date())]
		: [];
}

export function describeCertificate(
	baseUrl: string,
	certificate: PublicCertificate,
	now: Date,
): Finding {
	const check = "certificate";
	const leftMs = certificate.until.getTime() - now.getTime();
	const day = certificate.until.toISOString().slice(0, 10);
	if (leftMs <= 0) {
		return {
			check,
			status: "problem",
			found: `the certificate of ${baseUrl} ended on ${day}, so browsers and agents refuse it`,
			advice:
				"renew it and reload the proxy; agents keep their reports and send them afterwards",
		};
	}
	const found = `the certificate of ${baseUrl} ends in ${describeDuration(leftMs)}, on ${day}`;
	return isRenewalLate(certificate, now)
		? {
				check,
				status: "warning",
				found,
				advice:
					"find out why it was not renewed; if a newer one exists, the proxy has not loaded it yet",
			}
		: { check, status: "ok", found };
}
