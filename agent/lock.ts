import { randomUUID } from "node:crypto";
import { link, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AgentError, explainFolder } from "./agent-error.ts";
import { errorCode, parseObject } from "./files.ts";

const FILE = "run.lock";

/** A living owner touches it every minute; one that did not for so long has its number from someone else. */
const STALE_MS = 10 * 60_000;

/** Far longer than another process needs from judging a lock stale to removing it. */
const SETTLE_MS = 50;

/** The locks of this very process, by path. */
const held = new Set<string>();

export interface Lock {
	/** Says that the owner lives; and whose the lock is, which somebody may have removed. */
	touch(): Promise<"ours" | "another's" | "nobody's">;
	release(): Promise<void>;
}

/**
 * Takes the folder for this process: two agents on one folder would send everything twice.
 * Throws an AgentError when another one has it; one that was killed has it no longer.
 */
export async function takeLock(folder: string): Promise<Lock> {
	const path = join(folder, FILE);
	const token = randomUUID();
	try {
		await removeIfStale(path);
		await create(path, token);
		await sleep(SETTLE_MS);
	} catch (error) {
		if (errorCode(error) !== "EEXIST") throw explainFolder(error, folder);
	}
	const owner = await readOwner(path);
	if (owner?.token !== token) {
		throw new AgentError(
			`the agent is running already for ${folder}${owner ? ` (process ${owner.pid})` : ""}; stop it first, or let it work`,
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

/** The number of the process that runs for this folder, undefined when none does. */
export async function findRunning(folder: string): Promise<number | undefined> {
	const path = join(folder, FILE);
	return (await isStale(path)) ? undefined : (await readOwner(path))?.pid;
}

/** Makes the file with its content in one step: nobody sees it half written. */
async function create(path: string, token: string): Promise<void> {
	const temporary = `${path}.${token.replaceAll("-", "").slice(0, 12)}.tmp`;
	const text = JSON.stringify({ pid: process.pid, token });
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
	// In a container every life has the same number: our own may be an earlier life's.
	if (owner?.pid === process.pid) return !held.has(path);
	if (!owner || !isAlive(owner.pid)) return true;
	const about = await stat(path).catch(() => undefined);
	return about === undefined || Date.now() - about.mtimeMs > STALE_MS;
}

async function readOwner(
	path: string,
): Promise<{ pid: number; token: string } | undefined> {
	try {
		const { pid, token } = parseObject(await readFile(path, "utf8")) ?? {};
		return typeof pid === "number" && pid > 0 && typeof token === "string"
			? { pid, token }
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
