import type { IncomingHttpHeaders } from "node:http";
import { promisify } from "node:util";
import { constants, gzip, zstdCompress } from "node:zlib";

/** Shorter answers fit into a few packets, so compressing them is not worth the time. */
const MIN_BYTES = 4 * 1024;

/** The encodings at their fastest level, the preferred one first. */
const ENCODINGS = {
	zstd: (text: string) =>
		promisify(zstdCompress)(text, {
			params: { [constants.ZSTD_c_compressionLevel]: 1 },
		}),
	gzip: (text: string) => promisify(gzip)(text, { level: 1 }),
};

/** A body as it is sent, with the headers that describe its encoding. */
export interface EncodedBody {
	headers: Record<string, string>;
	body: string | Buffer;
}

/**
 * Compresses a large body if the client accepts that.
 *
 * Never pass a body that holds a secret. Its compressed length would depend on how much the secret
 * has in common with texts beside it, which an attacker may have chosen.
 */
export async function encodeBody(
	body: string,
	requestHeaders: IncomingHttpHeaders,
): Promise<EncodedBody> {
	const headers: Record<string, string> = { vary: "accept-encoding" };
	if (Buffer.byteLength(body) < MIN_BYTES) return { headers, body };
	for (const [name, compress] of Object.entries(ENCODINGS)) {
		if (!acceptsEncoding(requestHeaders, name)) continue;
		headers["content-encoding"] = name;
		return { headers, body: await compress(body) };
	}
	return { headers, body };
}

/** Returns true if Accept-Encoding names the encoding and does not exclude it. */
export function acceptsEncoding(
	headers: IncomingHttpHeaders,
	encoding: string,
): boolean {
	return String(headers["accept-encoding"] ?? "")
		.toLowerCase()
		.split(",")
		.some((part) => {
			const [name, ...parameters] = part.split(";").map((text) => text.trim());
			return (
				name === encoding &&
				!parameters.some((text) => /^q=0(\.0*)?$/.test(text))
			);
		});
}
