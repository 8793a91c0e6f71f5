import {
	closeSync,
	fchownSync,
	fsyncSync,
	openSync,
	statSync,
	writeSync,
} from "node:fs";
import { dirname } from "node:path";

/** Whose `folder` is, where we are root and it is somebody else's; undefined: ours. */
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
 * Makes `file`, durably, for the eyes of its folder's owner alone. Root gives it to that owner: a
 * command run once as root must not lock out the service, which runs as another user. Throws
 * EEXIST when there is one; a link planted there is not followed.
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
