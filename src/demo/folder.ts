import type { ChildProcess } from "node:child_process";
import {
	chmodSync,
	lstatSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { findRunning } from "../../agent/lock.ts";
import { startDetached } from "../db/detached-program.ts";
import { readCluster } from "../db/postgres-cluster.ts";
import { stopPostmaster } from "../db/postmaster.ts";

const PREFIX = "assay-demo-";
/** Name of a file with the id of the process that uses the folder. */
const OWNER = "owner";

export interface DemoFolder {
	/** Folder of the database. */
	data: string;
	/** Folder of this machine's agent. */
	agent: string;
	/** Stops the database if it is still running, and removes the folder. */
	remove: () => Promise<void>;
}

const AGENT = "agent";

/** Makes a folder for one demonstration within the system's folder for temporary files. */
export function makeDemoFolder(): DemoFolder {
	const folder = mkdtempSync(join(tmpdir(), PREFIX));
	// PostgreSQL does not run as root. Its user must be able to pass through this folder.
	if (process.getuid?.() === 0) chmodSync(folder, 0o711);
	writeFileSync(join(folder, OWNER), String(process.pid));
	const data = join(folder, "data");
	mkdirSync(data);
	if (process.getuid?.() === 0) chmodSync(data, 0o711);
	const cleanupProcess = startCleanupProcess(folder);
	return {
		data,
		agent: join(folder, AGENT),
		remove: async () => {
			await removeDemoFolder(folder);
			cleanupProcess.kill();
		},
	};
}

/**
 * Starts a program that removes everything if this process is killed. The program reads a pipe that
 * closes when this process ends.
 */
function startCleanupProcess(folder: string): ChildProcess {
	// If the program cannot be started, the next demonstration cleans up in `removeLeftovers`.
	return startDetached(join(import.meta.dirname, "cleanup-process.ts"), [
		folder,
	]);
}

/**
 * Removes the folders and database servers of demonstrations that were killed together with their
 * cleanup process, for example by a power cut. Returns how many it removed. A folder that cannot be
 * removed remains until the next demonstration.
 */
export async function removeLeftovers(): Promise<number> {
	let removed = 0;
	for (const name of readdirSync(tmpdir())) {
		const folder = join(tmpdir(), name);
		if (!name.startsWith(PREFIX) || !isOurs(folder) || isInUse(folder)) {
			continue;
		}
		await removeDemoFolder(folder).then(
			() => removed++,
			() => {},
		);
	}
	return removed;
}

/**
 * Returns true if the folder belongs to the user of this process. A folder that somebody else put
 * there could mislead us into removing other files.
 */
function isOurs(folder: string): boolean {
	const found = lstatSync(folder, { throwIfNoEntry: false });
	return (
		found?.isDirectory() === true &&
		(process.getuid === undefined || found.uid === process.getuid())
	);
}

function isInUse(folder: string): boolean {
	const pid = Number(readText(join(folder, OWNER)));
	// The folder has just been made, and the id of its process has not been written yet.
	if (!(pid > 0)) return statSync(folder).mtimeMs > Date.now() - 60_000;
	if (pid === process.pid) return true;
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return (error as NodeJS.ErrnoException).code === "EPERM";
	}
}

/** Stops the agent and the database of a demonstration, and removes its folder. */
export async function removeDemoFolder(folder: string): Promise<void> {
	const agent = await findRunning(join(folder, AGENT)).catch(() => undefined);
	if (agent !== undefined) stop(agent);
	const data = join(folder, "data");
	const cluster = readCluster(data);
	if (cluster) {
		await stopPostmaster(cluster.directory);
		// If root runs the demonstration, PostgreSQL's files may be in a folder elsewhere. The name of
		// that folder is a hash of the data folder's path.
		if (
			dirname(cluster.directory) !== data &&
			/^[0-9a-f]{12}$/.test(basename(cluster.directory))
		) {
			rmSync(cluster.directory, { recursive: true, force: true });
		}
	}
	// The agent may still be writing its last files, so the removal is tried several times.
	rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function stop(pid: number): void {
	try {
		process.kill(pid, "SIGTERM");
	} catch {
		// The process has just ended, so there is nothing to stop.
	}
}

function readText(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}
