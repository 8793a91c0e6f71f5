import { hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * Secrets that Assay gives out: `asy_<type>_`, 40 random base62 characters (238
 * bits) and 6 that hold the CRC-32 of all before them. The checksum lets a
 * mistyped or invented secret be refused without a query, and the fixed shape lets
 * secret scanners find one that leaked. Only the SHA-256 is ever stored: with this
 * much entropy a slow hash would add nothing but a way to exhaust the server.
 */
export type SecretType = "pat" | "dev" | "enr" | "inv" | "set" | "rst";

const ALPHABET =
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 40;
const CHECKSUM_LENGTH = 6;
const SHAPE = /^asy_(?:pat|dev|enr|inv|set|rst)_[0-9A-Za-z]{46}$/;

/** Any secret of ours in running text, whole, cut off or percent-encoded, for redaction. */
export const SECRET_IN_TEXT =
	/asy(?:_|%5f)(pat|dev|enr|inv|set|rst)(?:_|%5f)(?:(?!asy(?:_|%5f))[0-9a-z])+/gi;

function randomBase62(length: number): string {
	let text = "";
	while (text.length < length) {
		for (const byte of randomBytes(length)) {
			// 248 is the largest multiple of 62 under 256: above it a byte would favour some characters.
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

/** A new secret, to be shown once. */
export function makeSecret(type: SecretType): string {
	const body = `asy_${type}_${randomBase62(RANDOM_LENGTH)}`;
	return body + checksum(body);
}

/** True when `text` has the shape and the checksum of a secret of this type. */
export function isWellFormedSecret(type: SecretType, text: string): boolean {
	if (!SHAPE.test(text) || !text.startsWith(`asy_${type}_`)) return false;
	const body = text.slice(0, -CHECKSUM_LENGTH);
	return checksum(body) === text.slice(-CHECKSUM_LENGTH);
}

/**
 * Returns the SHA-256 of a secret as 64 hexadecimal digits. The database stores it as bytea and
 * looks it up.
 */
export function hashSecret(secret: string): string {
	return hash("sha256", secret, "hex");
}
