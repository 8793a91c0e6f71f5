import { type ChildProcess, spawn } from "node:child_process";
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
import { readCluster } from "../db/postgres-cluster.ts";
import { stopPostmaster } from "../db/postmaster.ts";

const PREFIX = "assay-demo-";
/** The process that a folder belongs to. */
const OWNER = "owner";

export interface DemoFolder {
	/** For the database. */
	data: string;
	/** For the agent of this machine. */
	agent: string;
	/** Stops the database should it still run, and removes everything. */
	remove: () => Promise<void>;
}

const AGENT = "agent";

/** A folder for one demonstration, under the system's folder for temporary files. */
export function makeDemoFolder(): DemoFolder {
	const folder = mkdtempSync(join(tmpdir(), PREFIX));
	// PostgreSQL, which cannot be root, must be able to pass through.
	if (process.getuid?.() === 0) chmodSync(folder, 0o711);
	writeFileSync(join(folder, OWNER), String(process.pid));
	const data = join(folder, "data");
	mkdirSync(data);
	if (process.getuid?.() === 0) chmodSync(data, 0o711);
	const keeper = startKeeper(folder);
	return {
		data,
		agent: join(folder, AGENT),
		remove: async () => {
			await removeDemoFolder(folder);
			keeper.kill();
		},
	};
}

/** Removes everything when this process is killed; it reads a pipe that ends with us. */
function startKeeper(folder: string): ChildProcess {
	const keeper = spawn(
		process.execPath,
		[join(import.meta.dirname, "keeper.ts"), folder],
		// A session of its own: Ctrl-C and a terminal that closes do not reach it.
		{ detached: true, stdio: ["pipe", "ignore", "ignore"], windowsHide: true },
	);
	// Without it the next demonstration clears up, as `removeLeftovers` does.
	keeper.on("error", () => {});
	keeper.unref();
	return keeper;
}

/**
 * Removes what demonstrations left that were killed together with their keeper, as by a power
 * cut: folders, and database servers. Gives how many there were. What cannot be removed is left
 * for next time.
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

/** A folder that somebody else put there could lead us to remove other things. */
function isOurs(folder: string): boolean {
	const found = lstatSync(folder, { throwIfNoEntry: false });
	return (
		found?.isDirectory() === true &&
		(process.getuid === undefined || found.uid === process.getuid())
	);
}

function isInUse(folder: string): boolean {
	const pid = Number(readText(join(folder, OWNER)));
	// Made this moment, and its owner not written yet.
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
		// As root the database may lie elsewhere, in a folder named for this one.
		if (
			dirname(cluster.directory) !== data &&
			/^[0-9a-f]{12}$/.test(basename(cluster.directory))
		) {
			rmSync(cluster.directory, { recursive: true, force: true });
		}
	}
	// The agent may be writing its last.
	rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

function stop(pid: number): void {
	try {
		process.kill(pid, "SIGTERM");
	} catch {
		// It has just ended.
	}
}

function readText(file: string): string {
	try {
		return readFileSync(file, "utf8");
	} catch {
		return "";
	}
}
