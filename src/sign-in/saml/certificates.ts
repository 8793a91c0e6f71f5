import { X509Certificate } from "node:crypto";

/** Several, so that the provider can replace its key. */
export const MAX_CERTIFICATES = 5;
/** Longest certificate, in characters of PEM. */
export const MAX_CERTIFICATE = 10_000;
const MIN_BITS = 2048;

/**
 * Returns a certificate as PEM, from PEM or from base64 alone. Returns undefined if it is none, or if
 * its key is not RSA with 2048 bits or more.
 */
export function certificateIn(text: string): string | undefined {
	if (text.length > MAX_CERTIFICATE) return undefined;
	const base64 = text
		.replace("-----BEGIN CERTIFICATE-----", "")
		.replace("-----END CERTIFICATE-----", "")
		.replace(/\s/g, "");
	if (!/^[A-Za-z0-9+/=]+$/.test(base64)) return undefined;
	try {
		const certificate = new X509Certificate(Buffer.from(base64, "base64"));
		const { asymmetricKeyType, asymmetricKeyDetails } = certificate.publicKey;
		const bits = asymmetricKeyDetails?.modulusLength ?? 0;
		return asymmetricKeyType === "rsa" && bits >= MIN_BITS
			? certificate.toString()
			: undefined;
	} catch {
		return undefined;
	}
}

/** Says to whom a certificate belongs, and until when it is valid. */
export function describeCertificate(pem: string): {
	fingerprint: string;
	subject: string;
	valid_until: string;
} {
	const certificate = new X509Certificate(pem);
	return {
		fingerprint: certificate.fingerprint256,
		subject: certificate.subject.replaceAll("\n", ", ").slice(0, 300),
		valid_until: certificate.validToDate.toISOString(),
	};
}
