import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { AppError } from "../errors.ts";
import { COMMAND } from "../version.ts";
import { damaged, requireZstd } from "./format.ts";

/**
 * Magic numbers of the two kinds of skippable frames that contain a seal. Each is followed by the
 * length of the frame, 32 bytes.
 */
const SEAL_HEAD = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 32, 0, 0, 0]);
const KEYED_HEAD = Buffer.from([0x51, 0x2a, 0x4d, 0x18, 32, 0, 0, 0]);
export const SEAL_LENGTH = SEAL_HEAD.length + 32;

/** The key that a reader has, and the result of checking the keyed seal. */
export interface SealCheck {
	/**
	 * The key that seals backups. Undefined if the reader has no key. In that case nothing shows who
	 * wrote the backup.
	 */
	key: Buffer | undefined;
	/**
	 * The result, which is known at the end of the backup. "unchecked" means that the backup has a
	 * keyed seal but the reader has no key.
	 */
	keyedSeal?: "none" | "unchecked" | "right";
}

/**
 * Yields the bytes unchanged, and the seal after them. With a key, a keyed seal over everything
 * follows.
 */
export async function* seal(
	bytes: AsyncIterable<Buffer>,
	key?: Buffer,
): AsyncGenerator<Buffer> {
	const hash = createHash("sha256");
	const mac = key && createHmac("sha256", key);
	for await (const chunk of bytes) {
		hash.update(chunk);
		mac?.update(chunk);
		yield chunk;
	}
	const plain = Buffer.concat([SEAL_HEAD, hash.digest()]);
	yield plain;
	if (mac) yield Buffer.concat([KEYED_HEAD, mac.update(plain).digest()]);
}

/**
 * Yields the bytes without their seals. Throws at the end if the seal is missing or wrong. With a
 * key, also throws if the keyed seal is missing or wrong. Sets `check.keyedSeal`.
 */
export async function* unseal(
	bytes: AsyncIterable<Buffer>,
	check: SealCheck,
): AsyncGenerator<Buffer> {
	const { key } = check;
	const hash = createHash("sha256");
	const mac = key && createHmac("sha256", key);
	let kept: Buffer = Buffer.alloc(0);
	let isFirst = true;
	/** Returns all bytes that were kept, except for the last `length` ones, and keeps only those. */
	const pass = (length: number) => {
		const passed = kept.subarray(0, Math.max(kept.length - length, 0));
		kept = kept.subarray(passed.length);
		hash.update(passed);
		mac?.update(passed);
		return passed;
	};
	for await (const chunk of bytes) {
		kept = Buffer.concat([kept, chunk]);
		if (kept.length <= 2 * SEAL_LENGTH) continue;
		if (isFirst) requireZstd(kept);
		isFirst = false;
		yield pass(2 * SEAL_LENGTH);
	}
	if (isFirst) requireZstd(kept);
	const last = kept.subarray(-SEAL_LENGTH);
	const isKeyed =
		kept.length >= 2 * SEAL_LENGTH &&
		last.subarray(0, KEYED_HEAD.length).equals(KEYED_HEAD);
	yield pass(isKeyed ? 2 * SEAL_LENGTH : SEAL_LENGTH);
	const plain = kept.subarray(0, SEAL_LENGTH);
	if (!plain.equals(Buffer.concat([SEAL_HEAD, hash.digest()]))) throw damaged();
	check.keyedSeal = isKeyed ? "unchecked" : "none";
	if (!mac) return;
	if (!isKeyed) {
		throw new AppError(
			"bad_request",
			`the file has no seal with a key, so anybody may have written or changed it; if you still trust it, write ASSAY_BACKUP_KEY_FILE= before the command, such as \`ASSAY_BACKUP_KEY_FILE= ${COMMAND} restore …\``,
		);
	}
	const right = Buffer.concat([KEYED_HEAD, mac.update(plain).digest()]);
	if (!timingSafeEqual(last, right)) {
		throw new AppError(
			"bad_request",
			"the file was changed after it was sealed, or sealed with a key other than the one in ASSAY_BACKUP_KEY_FILE; use the right key or another file",
		);
	}
	check.keyedSeal = "right";
}
