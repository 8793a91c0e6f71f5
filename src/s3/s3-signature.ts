import { createHash, createHmac } from "node:crypto";

export interface S3Credentials {
	readonly id: string;
	readonly secret: string;
}

/** SHA-256 of an empty body, in hexadecimal. */
export const EMPTY_SHA256 = sha256("");

/**
 * Returns the headers that sign a request for a store that speaks S3 (AWS Signature Version 4,
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html). `bodySha256` is
 * signed too, so that the store rejects a body that changed on the way.
 */
export function signS3Request(
	request: { method: string; url: URL; bodySha256: string; at: Date },
	region: string,
	credentials: S3Credentials,
): Record<string, string> {
	const { method, url, bodySha256, at } = request;
	const time = `${at.toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
	const date = time.slice(0, 8);
	const headers = {
		host: url.host,
		"x-amz-content-sha256": bodySha256,
		"x-amz-date": time,
	};
	const names = Object.keys(headers).join(";");
	const canonical = [
		method,
		url.pathname,
		canonicalQuery(url),
		...Object.entries(headers).map(([name, value]) => `${name}:${value}`),
		"",
		names,
		bodySha256,
	].join("\n");
	const scope = `${date}/${region}/s3/aws4_request`;
	const text = ["AWS4-HMAC-SHA256", time, scope, sha256(canonical)].join("\n");
	const key = [date, region, "s3", "aws4_request"].reduce<Buffer>(
		(secret, part) => hmac(secret, part),
		Buffer.from(`AWS4${credentials.secret}`),
	);
	const signature = hmac(key, text).toString("hex");
	return {
		...headers,
		authorization: `AWS4-HMAC-SHA256 Credential=${credentials.id}/${scope}, SignedHeaders=${names}, Signature=${signature}`,
	};
}

/** Encodes a name as S3 signs it: everything but letters, digits and `-._~`. */
export function encodeForS3(text: string): string {
	return encodeURIComponent(text).replaceAll(
		/[!'()*]/g,
		(sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
	);
}

function canonicalQuery(url: URL): string {
	return [...url.searchParams]
		.map(([name, value]) => `${encodeForS3(name)}=${encodeForS3(value)}`)
		.sort()
		.join("&");
}

function hmac(key: Buffer, text: string): Buffer {
	return createHmac("sha256", key).update(text).digest();
}

function sha256(text: string): string {
	return createHash("sha256").update(text).digest("hex");
}
