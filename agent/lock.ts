import { randomUUID } from "node:crypto";
import { link, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AgentError, explainFolder } from "./agent-error.ts";
import { errorCode, parseObject } from "./files.ts";

const FILE = "run.lock";

/**
 * Milliseconds after which a lock that was not touched counts as stale. A running owner touches its
 * lock every minute, so a process that has the owner's id after this time is a different process.
 */
const STALE_MS = 10 * 60_000;

/**
 * Wait before the lock is checked again. It is far longer than another process needs to remove a
 * lock that it found stale.
 */
const SETTLE_MS = 50;

/** The paths of the locks that this process holds. */
const held = new Set<string>();

/** The process that holds a lock. */
export interface Owner {
	pid: number;
	/** Whether it takes requests for a report. Undefined if it is too old to know of them. */
	takesRequests: boolean | undefined;
}

export interface Lock {
	/**
	 * Shows that the owner is running, and returns whose lock it is now, because somebody may have
	 * removed it.
	 */
	touch(): Promise<"ours" | "another's" | "nobody's">;
	release(): Promise<void>;
}

/**
 * Locks the folder for this process, because two agents with the same folder would send everything
 * twice. Throws an AgentError if another running process has the lock.
 */
export async function takeLock(
	folder: string,
	/** True if this process takes requests for a report while it holds the lock. */
	takesRequests = false,
): Promise<Lock> {
	const path = join(folder, FILE);
	const token = randomUUID();
	try {
		await removeIfStale(path);
		await create(path, token, takesRequests);
		await sleep(SETTLE_MS);
	} catch (error) {
		if (errorCode(error) !== "EEXIST") throw explainFolder(error, folder);
	}
	const owner = await readOwner(path);
	if (owner?.token !== token) {
		throw new AgentError(
			`the agent is already running for ${folder}${owner ? ` (process ${owner.pid})` : ""}; stop that process first`,
		);
	}
	held.add(path);
	return {
		async touch() {
			const owner = await readOwner(path);
			if (!owner) return "nobody's";
			if (owner.token !== token) return "another's";
			const now = new Date();
			await utimes(path, now, now).catch(() => {});
			return "ours";
		},
		async release() {
			held.delete(path);
			if ((await readOwner(path))?.token === token) {
				await rm(path, { force: true });
			}
		},
	};
}

/** Returns the process id of the agent that runs for this folder, or undefined if none does. */
export async function findRunning(folder: string): Promise<number | undefined> {
	return (await findOwner(folder))?.pid;
}

/** Returns the process that has the lock of this folder, or undefined if none has it. */
export async function findOwner(folder: string): Promise<Owner | undefined> {
	const path = join(folder, FILE);
	return (await isStale(path)) ? undefined : readOwner(path);
}

/** Makes the lock file together with its content, so that no process sees it half written. */
async function create(
	path: string,
	token: string,
	takesRequests: boolean,
): Promise<void> {
	const temporary = `${path}.${token.replaceAll("-", "").slice(0, 12)}.tmp`;
	const text = JSON.stringify({
		pid: process.pid,
		token,
		takes_requests: takesRequests,
	});
	await writeFile(temporary, text, { mode: 0o600 });
	try {
		await link(temporary, path);
	} finally {
		await rm(temporary, { force: true });
	}
}

async function removeIfStale(path: string): Promise<void> {
	if (await isStale(path)) await rm(path, { force: true });
}

async function isStale(path: string): Promise<boolean> {
	const owner = await readOwner(path);
	// In a container, the agent has the same process id after every start. The lock may therefore
	// come from an earlier start.
	if (owner?.pid === process.pid) return !held.has(path);
	if (!owner || !isAlive(owner.pid)) return true;
	const about = await stat(path).catch(() => undefined);
	return about === undefined || Date.now() - about.mtimeMs > STALE_MS;
}

async function readOwner(
	path: string,
): Promise<(Owner & { token: string }) | undefined> {
	try {
		const { pid, token, takes_requests } =
			parseObject(await readFile(path, "utf8")) ?? {};
		const takesRequests =
			typeof takes_requests === "boolean" ? takes_requests : undefined;
		return typeof pid === "number" && pid > 0 && typeof token === "string"
			? { pid, token, takesRequests }
			: undefined;
	} catch {
		return undefined;
	}
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		return errorCode(error) === "EPERM";
	}
}
