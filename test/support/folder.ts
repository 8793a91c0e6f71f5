import { execFile } from "node:child_process";
import { chmod, mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/** A new temporary folder that others may pass through: as root, PostgreSQL runs as another user. */
export async function makeFolder(prefix: string): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), prefix));
	await chmod(folder, 0o711);
	return folder;
}

/** Linux's file system in memory. A container's is often too small for a database server. */
const MEMORY = "/dev/shm";
const ROOM_BYTES = 4 * 1024 ** 3;

/**
 * Has all temporary folders from here on made in memory, where there is room and programs may run: a
 * database is made in a quarter of the time, because nothing waits for a disk. Gives what takes them away.
 */
export async function keepInMemory(): Promise<() => Promise<void>> {
	const room = await statfs(MEMORY).catch(() => undefined);
	if (!room || room.bavail * room.bsize < ROOM_BYTES) return async () => {};
	const folder = await mkdtemp(join(MEMORY, "assay-tests-"));
	const remove = () => rm(folder, { recursive: true, force: true });
	try {
		const program = join(folder, "program");
		await writeFile(program, "#!/bin/sh\n", { mode: 0o755 });
		await promisify(execFile)(program);
	} catch {
		await remove();
		return async () => {};
	}
	// As the system's own folder for them: everyone's, and each file its owner's.
	await chmod(folder, 0o1777);
	process.env.TMPDIR = folder;
	return remove;
}
