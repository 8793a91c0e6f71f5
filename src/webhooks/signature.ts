import { createHmac } from "node:crypto";

/**
 * Returns the signing secret of a webhook, in the form of Standard Webhooks. It is derived from the
 * secret of the service, so no table and no backup contains it. A new version is a new secret.
 */
export function webhookSecret(
	serviceSecret: string,
	webhookId: string,
	version: number,
): string {
	const key = createHmac("sha256", serviceSecret)
		.update(`webhook ${webhookId} ${version}`)
		.digest("base64");
	return `whsec_${key}`;
}

/**
 * Returns the headers with which a receiver verifies a delivery (standardwebhooks.com). During a
 * rotation there are two signatures, one by each secret.
 */
export function signedHeaders(
	secrets: string[],
	id: string,
	timestamp: number,
	body: string,
): Record<string, string> {
	const signatures = secrets.map((secret) => {
		const key = Buffer.from(secret.slice("whsec_".length), "base64");
		const signed = `${id}.${timestamp}.${body}`;
		return `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
	});
	return {
		"content-type": "application/json",
		"webhook-id": id,
		"webhook-timestamp": String(timestamp),
		"webhook-signature": signatures.join(" "),
	};
}
