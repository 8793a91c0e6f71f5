import { constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { explainReadError, isReadableFile } from "./file-result.ts";
import type { FileResult, UserIds } from "./host.ts";

/** The largest file of a user that is read. The settings of a desktop have a few kilobytes. */
export const MAX_USER_FILE_BYTES = 128 * 1024;

/** Gives up the rights of root for good. Throws if the process still has any of them. */
export function becomeUser({ uid, gid }: UserIds): void {
	if (!(uid > 0) || !(gid > 0))
		throw new Error("the ids of the user must be greater than 0");
	process.setgroups?.([]);
	process.setgid?.(gid);
	process.setuid?.(uid);
	if (process.getuid?.() !== uid || process.geteuid?.() !== uid) {
		throw new Error("the process could not give up the rights of root");
	}
}

/**
 * Reads a file that a person may have put anywhere. The function first resolves all links in the
 * path and then opens only a regular file, because opening a pipe or a device can have side
 * effects.
 */
export async function readRegularFile(path: string): Promise<FileResult> {
	try {
		const real = await realpath(path);
		if (!isReadableFile(await lstat(real), MAX_USER_FILE_BYTES)) {
			return { kind: "unreadable" };
		}
		const file = await open(
			real,
			constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
		);
		try {
			if (!isReadableFile(await file.stat(), MAX_USER_FILE_BYTES)) {
				return { kind: "unreadable" };
			}
			const buffer = Buffer.alloc(MAX_USER_FILE_BYTES + 1);
			const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
			return bytesRead > MAX_USER_FILE_BYTES
				? { kind: "unreadable" }
				: { kind: "text", text: buffer.toString("utf8", 0, bytesRead) };
		} finally {
			await file.close();
		}
	} catch (error) {
		return { kind: explainReadError(error) };
	}
}
