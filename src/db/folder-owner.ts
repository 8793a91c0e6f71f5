import {
	closeSync,
	fchownSync,
	fsyncSync,
	openSync,
	rmSync,
	statSync,
	writeSync,
} from "node:fs";
import { dirname } from "node:path";

/**
 * Returns the owner of `folder` when this process runs as root and the folder belongs to somebody
 * else. Otherwise returns undefined.
 */
export function ownerBesideRoot(
	folder: string,
): { uid: number; gid: number } | undefined {
	if (process.getuid?.() !== 0) return undefined;
	const found = statSync(folder, { throwIfNoEntry: false });
	return found && found.uid !== 0
		? { uid: found.uid, gid: found.gid }
		: undefined;
}

/**
 * Creates `file` durably, readable only by the owner of its folder. If this process runs as root,
 * it gives the file to that owner. Otherwise a command that was run once as root would lock out the
 * service, which runs as another user. Throws EEXIST when the file exists, and does not follow a
 * link that somebody planted under that name.
 */
export function createForOwner(file: string, text: string): void {
	const handle = openSync(file, "wx", 0o600);
	try {
		const owner = ownerBesideRoot(dirname(file));
		if (owner) fchownSync(handle, owner.uid, owner.gid);
		writeSync(handle, text);
		fsyncSync(handle);
	} catch (error) {
		// A full disk has room for the name of the file, but not for the text.
		rmSync(file, { force: true });
		throw error;
	} finally {
		closeSync(handle);
	}
}
