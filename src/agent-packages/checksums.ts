import { createHash } from "node:crypto";
import {
	type FileState,
	isSameState,
	openRegularFile,
} from "./regular-file.ts";

/** Name of the signed list of checksums, in the format of `sha256sum`. */
export const SUMS_NAME = "SHA256SUMS";

const LINE = /^([0-9a-f]{64}) [ *]([A-Za-z0-9][A-Za-z0-9._~+-]{0,199})$/;
/** Bytes that are hashed before other requests get their turn. */
const PIECE = 128 * 1024;

/** Returns the checksums of SHA256SUMS by file name. Lines of another form are skipped. */
export function readSums(text: string): Map<string, string> {
	const sums = new Map<string, string>();
	for (const line of text.split("\n")) {
		const [, sum, name] = LINE.exec(line.trimEnd()) ?? [];
		if (sum && name) sums.set(name, sum);
	}
	return sums;
}

/**
 * Remembers the SHA-256 of files until they change, because hashing all packages takes a second of
 * processor time.
 */
export class Checksums {
	#known = new Map<string, { state: FileState; sha256: string }>();

	/** Returns the SHA-256 of a file in hexadecimal. Throws if it changes meanwhile. */
	async of(path: string, state: FileState, signal?: AbortSignal) {
		const known = this.#known.get(path);
		if (known && isSameState(known.state, state)) return known.sha256;
		const opened = await openRegularFile(path);
		const hash = createHash("sha256");
		try {
			const pieces = opened.handle.createReadStream({
				highWaterMark: PIECE,
				autoClose: false,
			});
			for await (const piece of pieces) {
				signal?.throwIfAborted();
				hash.update(piece as Buffer);
			}
			const after = await opened.handle.stat();
			if (
				!isSameState(opened.state, state) ||
				after.size !== state.bytes ||
				Math.floor(after.mtimeMs) !== state.modifiedMs
			) {
				throw new Error(`${path} changed while it was read`);
			}
		} finally {
			await opened.handle.close();
		}
		const sha256 = hash.digest("hex");
		this.#known.set(path, { state, sha256 });
		return sha256;
	}

	/** Forgets files that are no longer in the folder. */
	keepOnly(paths: ReadonlySet<string>): void {
		for (const path of this.#known.keys()) {
			if (!paths.has(path)) this.#known.delete(path);
		}
	}
}
