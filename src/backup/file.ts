import { createReadStream } from "node:fs";
import { access, open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import { getSystemErrorMessage } from "node:util";
import { AppError } from "../errors.ts";

/** File name that means standard input or standard output. */
export const STANDARD = "-";

/**
 * Calls `write` to fill the file. The file gets its final name only when it is complete and on the
 * disk, and only its owner can read it. After an error, nothing remains. Throws a bad_request
 * AppError when the file already exists or cannot be written.
 */
export async function writeFileSafely<Result>(
	file: string,
	write: (out: Writable) => Promise<Result>,
): Promise<Result> {
	const partial = `${file}.partial`;
	if (await isThere(file)) {
		throw new AppError(
			"bad_request",
			`${file} already exists and is not overwritten; choose another name`,
		);
	}
	const handle = await open(partial, "wx", 0o600).catch((error) => {
		throw explain(error, partial);
	});
	// The stream flushes the file to the disk before it closes it.
	const out = handle.createWriteStream({ flush: true });
	try {
		const result = await write(out);
		await rename(partial, file);
		await syncFolder(dirname(file));
		return result;
	} catch (error) {
		// If nothing has used the stream yet, destroying it does not close the file.
		out.destroy();
		await handle.close();
		await rm(partial, { force: true });
		// Any other error comes from the database and stays as it is.
		throw OF_THE_DISK.has((error as NodeJS.ErrnoException).code ?? "")
			? explain(error, file)
			: error;
	}
}

const OF_THE_DISK = new Set(["EDQUOT", "EFBIG", "EIO", "ENOSPC"]);

/**
 * Reads the file, or standard input for "-". Throws a bad_request AppError when the file cannot be
 * read.
 */
export async function* readBytes(file: string): AsyncGenerator<Buffer> {
	try {
		yield* file === STANDARD ? process.stdin : createReadStream(file);
	} catch (error) {
		throw explain(error, file);
	}
}

function isThere(file: string): Promise<boolean> {
	return access(file).then(
		() => true,
		() => false,
	);
}

/** Makes the file's name durable, so that it survives a power cut. Windows has no such call. */
async function syncFolder(folder: string): Promise<void> {
	if (process.platform === "win32") return;
	const handle = await open(folder);
	try {
		await handle.sync();
	} finally {
		await handle.close();
	}
}

function explain(error: unknown, file: string): unknown {
	const { errno, code, syscall } = error as NodeJS.ErrnoException;
	if (errno === undefined) return error;
	return new AppError(
		"bad_request",
		code === "EEXIST"
			? `${file} already exists, because another backup is running or was killed; delete the file if no backup is running`
			: `${file} cannot be read or written: ${getSystemErrorMessage(errno)} (${syscall})`,
		{ cause: error },
	);
}
