import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync } from "node:fs";
import {
	chmod,
	mkdtemp,
	readdir,
	readFile,
	rm,
	statfs,
	writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

/**
 * Makes a temporary folder that other users may enter, because PostgreSQL runs as another user if
 * root runs the tests.
 */
export function makeFolderSync(prefix: string): string {
	const folder = mkdtempSync(join(tmpdir(), prefix));
	chmodSync(folder, 0o711);
	return folder;
}

export async function makeFolder(prefix: string): Promise<string> {
	return makeFolderSync(prefix);
}

/** Linux's file system in memory. In a container, it is often too small for a database server. */
const MEMORY = "/dev/shm";
const ROOM_BYTES = 4 * 1024 ** 3;
const RUN_PREFIX = "assay-tests-";
/** The file that contains the id of the process that made the folder. */
const OWNER_FILE = "owner";

/**
 * Makes the folder that holds all temporary files of this run, and sets TMPDIR to it. The folder is
 * in memory if there is enough room and programs may run there. Creating a database then takes a
 * quarter of the time, because nothing waits for a disk. The function also removes the folders of
 * runs that were killed.
 */
export async function makeRunFolder(): Promise<{
	path: string;
	remove: () => Promise<void>;
}> {
	for (const parent of [MEMORY, tmpdir()]) await removeAbandoned(parent);
	const path = (await makeInMemory()) ?? (await makeIn(tmpdir()));
	process.env.TMPDIR = path;
	return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

async function makeIn(parent: string): Promise<string> {
	const folder = await mkdtemp(join(parent, RUN_PREFIX));
	await writeFile(join(folder, OWNER_FILE), String(process.pid));
	// These are the rights of /tmp: everyone may create files, and only their owner may remove them.
	await chmod(folder, 0o1777);
	return folder;
}

async function makeInMemory(): Promise<string | undefined> {
	const room = await statfs(MEMORY).catch(() => undefined);
	if (!room || room.bavail * room.bsize < ROOM_BYTES) return undefined;
	const folder = await makeIn(MEMORY);
	try {
		const program = join(folder, "program");
		await writeFile(program, "#!/bin/sh\n", { mode: 0o755 });
		await promisify(execFile)(program);
		return folder;
	} catch {
		await rm(folder, { recursive: true, force: true });
		return undefined;
	}
}

/** Removes the folders of runs whose process has ended. */
async function removeAbandoned(parent: string): Promise<void> {
	const names = await readdir(parent).catch(() => []);
	for (const name of names.filter((one) => one.startsWith(RUN_PREFIX))) {
		const folder = join(parent, name);
		const owner = await readFile(join(folder, OWNER_FILE), "utf8").catch(
			() => "",
		);
		if (owner === "" || isAlive(Number(owner))) continue;
		// The folder of another user cannot be removed and stays.
		await rm(folder, { recursive: true, force: true }).catch(() => {});
	}
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === "EPERM";
	}
}
