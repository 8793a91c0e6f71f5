import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * Type of a secret that Assay gives out. A secret is `asy_<type>_`, followed by 40 random base62
 * characters (238 bits) and 6 characters that hold the CRC-32 of everything before them.
 *
 * The checksum lets us reject a mistyped or invented secret without a query. The fixed shape lets
 * secret scanners find a leaked one. Only the SHA-256 is ever stored. With this much entropy a slow
 * hash would add nothing except a way to overload the server.
 */
export type SecretType = "pat" | "dev" | "enr" | "inv" | "set" | "rst";

const ALPHABET =
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 40;
const CHECKSUM_LENGTH = 6;
const SHAPE = /^asy_(?:pat|dev|enr|inv|set|rst)_[0-9A-Za-z]{46}$/;

/**
 * Matches any secret of ours in running text, complete, cut off or percent-encoded. Used for
 * redaction.
 */
export const SECRET_IN_TEXT =
	/asy(?:_|%5f)(pat|dev|enr|inv|set|rst)(?:_|%5f)(?:(?!asy(?:_|%5f))[0-9a-z])+/gi;

function randomBase62(length: number): string {
	let text = "";
	while (text.length < length) {
		for (const byte of randomBytes(length)) {
			// 248 is the largest multiple of 62 below 256. Larger bytes would favour some characters.
			if (byte < 248 && text.length < length) text += ALPHABET[byte % 62];
		}
	}
	return text;
}

function checksum(text: string): string {
	let rest = crc32(text);
	let digits = "";
	for (let i = 0; i < CHECKSUM_LENGTH; i++) {
		digits = ALPHABET[rest % 62] + digits;
		rest = Math.floor(rest / 62);
	}
	return digits;
}

/** Makes a new secret. The user sees it only once. */
export function makeSecret(type: SecretType): string {
	const body = `asy_${type}_${randomBase62(RANDOM_LENGTH)}`;
	return body + checksum(body);
}

/** Returns true if `text` has the shape and the checksum of a secret of this type. */
export function isWellFormedSecret(type: SecretType, text: string): boolean {
	if (!SHAPE.test(text) || !text.startsWith(`asy_${type}_`)) return false;
	const body = text.slice(0, -CHECKSUM_LENGTH);
	return checksum(body) === text.slice(-CHECKSUM_LENGTH);
}

/**
 * Returns the SHA-256 of a secret as 64 hexadecimal digits. The database stores it as bytea and
 * looks secrets up by it.
 */
export function hashSecret(secret: string): string {
	return hash("sha256", secret, "hex");
}
