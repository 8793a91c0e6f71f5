import {
	closeSync,
	fchownSync,
	fsyncSync,
	openSync,
	statSync,
	writeSync,
} from "node:fs";
import { dirname } from "node:path";

/**
 * Returns the owner of `folder` when this process is root and somebody else owns it; otherwise
 * undefined.
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
 * Creates `file` durably, readable only by the owner of its folder. Root gives the file to that
 * owner: a command run once as root must not lock out the service, which runs as another user.
 * Throws EEXIST when the file exists; a link planted there is not followed.
 */
export function createForOwner(file: string, text: string): void {
	const handle = openSync(file, "wx", 0o600);
	try {
		const owner = ownerBesideRoot(dirname(file));
		if (owner) fchownSync(handle, owner.uid, owner.gid);
		writeSync(handle, text);
		fsyncSync(handle);
	} finally {
		closeSync(handle);
	}
}
