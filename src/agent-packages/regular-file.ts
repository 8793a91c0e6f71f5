import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/**
 * Windows has neither flag. Without O_NONBLOCK, opening a named pipe would wait for somebody who
 * writes into it.
 */
const FLAGS =
	constants.O_RDONLY |
	(constants.O_NOFOLLOW ?? 0) |
	(constants.O_NONBLOCK ?? 0);

/** What changes if somebody replaces a file or writes into it. */
export interface FileState {
	bytes: number;
	modifiedMs: number;
	inode: number;
}

export const stateOf = (about: {
	size: number;
	mtimeMs: number;
	ino: number;
}): FileState => ({
	bytes: about.size,
	modifiedMs: Math.floor(about.mtimeMs),
	inode: about.ino,
});

export const isSameState = (a: FileState, b: FileState): boolean =>
	a.bytes === b.bytes && a.modifiedMs === b.modifiedMs && a.inode === b.inode;

/**
 * Opens a file without following a link. Throws if the path is anything but a regular file. The
 * caller closes the handle.
 */
export async function openRegularFile(
	path: string,
): Promise<{ handle: FileHandle; state: FileState }> {
	const handle = await open(path, FLAGS).catch((error) => {
		throw error.code === "ELOOP"
			? new Error(`${path} is a link, and only files are read`)
			: error;
	});
	try {
		const about = await handle.stat();
		if (!about.isFile()) throw new Error(`${path} is not a file`);
		return { handle, state: stateOf(about) };
	} catch (error) {
		await handle.close();
		throw error;
	}
}
