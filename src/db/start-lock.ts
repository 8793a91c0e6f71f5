import { readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AppError } from "../errors.ts";
import { createForOwner } from "./folder-owner.ts";

const POLL_MS = 25;
const TOUCH_MS = 20_000;
const STALE_MS = 120_000;
const WAIT_MS = 180_000;
/**
 * Pause before a process trusts a lock that it took over. The pause is much longer than another
 * process needs between judging a lock stale and removing it.
 */
const SETTLE_MS = 50;

/** The last caller for each folder in this process. Every caller waits for the one before it. */
const queues = new Map<string, Promise<unknown>>();

/**
 * Runs `work` while holding `<folder>/start.lock`. Only one caller holds the lock at a time, among
 * all processes that see the folder. If the process that holds the lock has died, the next caller
 * takes the lock over. Throws a service_unavailable AppError when the lock is not free within three
 * minutes, and the operating system's error when the folder cannot be written.
 */
export async function withStartLock<T>(
	folder: string,
	work: () => Promise<T>,
): Promise<T> {
	const before = queues.get(folder) ?? Promise.resolve();
	const mine = before.then(() => holdLock(join(folder, "start.lock"), work));
	const settled = mine.catch(() => {});
	queues.set(folder, settled);
	try {
		return await mine;
	} finally {
		if (queues.get(folder) === settled) queues.delete(folder);
	}
}

async function holdLock<T>(file: string, work: () => Promise<T>): Promise<T> {
	await acquire(file);
	// Updating the file's time shows other processes that the lock is not stale, however long `work`
	// takes.
	const touch = setInterval(() => {
		const now = new Date();
		try {
			utimesSync(file, now, now);
		} catch {
			// If somebody removed the folder meanwhile, `work` reports the error.
		}
	}, TOUCH_MS).unref();
	try {
		return await work();
	} finally {
		clearInterval(touch);
		rmSync(file, { force: true });
	}
}

async function acquire(file: string): Promise<void> {
	const deadline = Date.now() + WAIT_MS;
	while (Date.now() < deadline) {
		const takenOver = removeIfStale(file);
		if (create(file)) {
			if (!takenOver) return;
			// Another process may also have judged the old lock stale. It may then remove the lock that
			// this process has just created, so this process waits and checks again.
			await sleep(SETTLE_MS);
			if (ownerOf(file) === process.pid) return;
		}
		await sleep(POLL_MS);
	}
	throw new AppError(
		"service_unavailable",
		`another Assay process (pid ${ownerOf(file)}) has been starting or stopping the database for ${WAIT_MS / 60_000} minutes; if that process no longer exists, delete ${file}`,
	);
}

function create(file: string): boolean {
	try {
		createForOwner(file, String(process.pid));
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
		throw error;
	}
}

function removeIfStale(file: string): boolean {
	const ageMs =
		Date.now() - (statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? NaN);
	if (Number.isNaN(ageMs)) return false;
	const owner = ownerOf(file);
	// The file is new and still empty. The process that created it is about to write its pid.
	if (owner === undefined && ageMs < 1000) return false;
	// Other callers in this process wait in the queue, so a file with our own pid was written by an
	// earlier process. In a container, a restarted process often gets the same pid.
	const alive = owner !== undefined && owner !== process.pid && isAlive(owner);
	if (alive && ageMs < STALE_MS) return false;
	rmSync(file, { force: true });
	return true;
}

function ownerOf(file: string): number | undefined {
	try {
		return Number.parseInt(readFileSync(file, "utf8"), 10) || undefined;
	} catch {
		return undefined;
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
