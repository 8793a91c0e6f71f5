import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Number of bytes that the file keeps of each password's SHA-256. Five bytes are enough to tell all
 * the passwords apart.
 */
export const DIGEST_BYTES = 5;

export const COMMON_PASSWORDS_FILE = join(
	import.meta.dirname,
	"common-passwords.bin",
);

let sorted: Buffer | undefined;

/**
 * Returns true for one of the 10,000 passwords that appear most often in leaks and are long enough
 * for us. Upper and lower case make no difference. The file contains the beginnings of the
 * passwords' hashes, sorted. It has 50 kB and is read when it is first needed.
 * make-common-passwords.ts names the source.
 */
export function isCommonPassword(password: string): boolean {
	sorted ??= readFileSync(COMMON_PASSWORDS_FILE);
	const wanted = digestOf(password);
	for (let low = 0, high = sorted.length / DIGEST_BYTES; low < high; ) {
		const middle = (low + high) >> 1;
		const at = middle * DIGEST_BYTES;
		const order = wanted.compare(sorted, at, at + DIGEST_BYTES);
		if (order === 0) return true;
		if (order < 0) high = middle;
		else low = middle + 1;
	}
	return false;
}

export function digestOf(password: string): Buffer {
	return hash("sha256", password.toLowerCase(), "buffer").subarray(
		0,
		DIGEST_BYTES,
	);
}
