import { chmod, mkdtemp, statfs } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new temporary folder that others may pass through: as root, PostgreSQL runs as another user. */
export async function makeFolder(prefix: string): Promise<string> {
	return makeFolderIn(tmpdir(), prefix);
}

/** Linux's file system in memory. A container's is often too small for a database server. */
const MEMORY = "/dev/shm";
const ROOM_BYTES = 4 * 1024 ** 3;

/**
 * The same in memory where there is room: for data alone, as programs may be forbidden to run there.
 * A database is copied in a quarter of the processor time, because nothing waits for a disk.
 */
export async function makeMemoryFolder(prefix: string): Promise<string> {
	const room = await statfs(MEMORY).catch(() => undefined);
	const hasRoom = room && room.bavail * room.bsize > ROOM_BYTES;
	return makeFolderIn(hasRoom ? MEMORY : tmpdir(), prefix);
}

async function makeFolderIn(parent: string, prefix: string): Promise<string> {
	const folder = await mkdtemp(join(parent, prefix));
	await chmod(folder, 0o711);
	return folder;
}
