import { isIP } from "node:net";
import { connect } from "node:tls";
import { DAY_MS } from "../units.ts";

const TIMEOUT_MS = 5_000;

export interface PublicCertificate {
	from: Date;
	/** The last moment at which browsers and agents accept it. */
	until: Date;
}

/**
 * Asks the proxy at the public address for its certificate. The certificate need not be valid,
 * because one that has ended is of most interest. Throws if nothing answers with TLS.
 */
export function readPublicCertificate(
	baseUrl: string,
): Promise<PublicCertificate> {
	const { hostname, port } = new URL(baseUrl);
	const host = hostname.replace(/^\[|\]$/g, "");
	const { promise, resolve, reject } =
		Promise.withResolvers<PublicCertificate>();
	const socket = connect({
		host,
		port: Number(port || 443),
		// TLS allows no address in place of the name.
		...(isIP(host) === 0 && { servername: host }),
		rejectUnauthorized: false,
		timeout: TIMEOUT_MS,
	});
	socket.once("secureConnect", () => {
		const certificate = socket.getPeerX509Certificate();
		if (certificate) {
			const { validFromDate: from, validToDate: until } = certificate;
			resolve({ from, until });
		} else reject(new Error(`${baseUrl} shows no certificate`));
		socket.destroy();
	});
	socket.once("error", reject);
	socket.once("timeout", () => {
		socket.destroy(new Error(`${baseUrl} does not answer`));
	});
	return promise;
}

/**
 * Says whether a certificate should have been renewed by now. Programs renew when a third of the
 * lifetime is left. A certificate of a year may be renewed two weeks before its end.
 */
export function isRenewalLate(
	{ from, until }: PublicCertificate,
	now: Date,
): boolean {
	const leftMs = until.getTime() - now.getTime();
	const lifetimeMs = until.getTime() - from.getTime();
	return leftMs < Math.min(14 * DAY_MS, lifetimeMs / 4);
}
