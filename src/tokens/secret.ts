import { createHmac, hash, randomBytes } from "node:crypto";
import { crc32 } from "node:zlib";

/**
 * Type of a secret that Assay gives out. A secret consists of `asy_<type>_`, 40 random base62
 * characters (238 bits), and 6 characters with the CRC-32 of everything before them.
 *
 * The checksum allows the service to reject a mistyped or invented secret without a query. The
 * fixed shape allows secret scanners to find a leaked secret. Only the SHA-256 is ever stored. A
 * slow hash would not make the secret safer, because nobody can guess 238 random bits. It would
 * only help attackers to overload the server.
 */
export type SecretType =
	| "pat"
	| "dev"
	| "enr"
	| "enk"
	| "inv"
	| "set"
	| "rst"
	| "myd"
	| "mys"
	| "oac"
	| "oat"
	| "ort"
	| "scim";

const ALPHABET =
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_LENGTH = 40;
const CHECKSUM_LENGTH = 6;
const SHAPE =
	/^asy_(?:pat|dev|enr|enk|inv|set|rst|myd|mys|oac|oat|ort|scim)_[0-9A-Za-z]{46}$/;

/**
 * Matches any secret of ours within a longer text, whether it is complete, cut off or
 * percent-encoded. The log uses it to remove secrets.
 */
export const SECRET_IN_TEXT =
	/asy(?:_|%5f)(pat|dev|enr|enk|inv|set|rst|myd|mys|oac|oat|ort|scim)(?:_|%5f)(?:(?!asy(?:_|%5f))[0-9a-z])+/gi;

function base62(length: number, nextBytes: () => Buffer): string {
	let text = "";
	while (text.length < length) {
		for (const byte of nextBytes()) {
			// 248 is the largest multiple of 62 below 256. Using larger bytes would make some characters
			// more frequent than others.
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

/** Makes a new secret. The user sees the secret only once. */
export function makeSecret(type: SecretType): string {
	return withChecksum(type, randomText(RANDOM_LENGTH));
}

/**
 * Makes a new secret that begins like `former`, which has the same type. The other half is new and
 * random, so nobody can guess it.
 */
export function makeSuccessor(type: SecretType, former: string): string {
	const start = startOf(type, former).slice(`asy_${type}_`.length);
	return withChecksum(type, start + randomText(RANDOM_LENGTH - start.length));
}

/** Returns the part that a secret and all its successors have in common. */
export function startOf(type: SecretType, secret: string): string {
	return secret.slice(0, `asy_${type}_`.length + RANDOM_LENGTH / 2);
}

function randomText(length: number): string {
	return base62(length, () => randomBytes(length));
}

/**
 * Returns the secret of the thing with this id. It is always the same, so nobody has to store it,
 * and nobody can compute it without `key`, the secret of the service.
 */
export function deriveSecret(
	type: SecretType,
	key: string,
	id: string,
): string {
	let block = 0;
	const nextBytes = () =>
		createHmac("sha512", key).update(`${type} ${id} ${block++}`).digest();
	return withChecksum(type, base62(RANDOM_LENGTH, nextBytes));
}

function withChecksum(type: SecretType, text: string): string {
	const body = `asy_${type}_${text}`;
	return body + checksum(body);
}

/** Returns true if `text` has the shape of a secret of this type, whatever its checksum. */
export function isShapedLike(type: SecretType, text: string): boolean {
	return SHAPE.test(text) && text.startsWith(`asy_${type}_`);
}

/** Returns true if `text` has the shape and the checksum of a secret of this type. */
export function isWellFormedSecret(type: SecretType, text: string): boolean {
	if (!isShapedLike(type, text)) return false;
	const body = text.slice(0, -CHECKSUM_LENGTH);
	return checksum(body) === text.slice(-CHECKSUM_LENGTH);
}

/**
 * Returns the SHA-256 of a secret as 64 hexadecimal digits. The database stores the hash as bytea
 * and finds secrets by it.
 */
export function hashSecret(secret: string): string {
	return hash("sha256", secret, "hex");
}
