import { readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { listNames, parseObject, writeFileAtomically } from "./files.ts";
import type { Report } from "./report.ts";

/**
 * Matches the file names in the queue. Each report is one file in `<folder>/queue`, and the number
 * at the beginning of its name gives the order. The agent removes a report only after the service
 * has stored it.
 */
const NAME = /^(\d{10})-[A-Za-z0-9_-]{32}\.json$/;

export interface QueueLimits {
	maxReports: number;
	maxBytes: number;
}

const LIMITS: QueueLimits = { maxReports: 200, maxBytes: 10 * 1024 * 1024 };
const MAX_SET_ASIDE = 10;

/** Returns the names of the waiting reports, oldest first. */
export async function listQueue(folder: string): Promise<string[]> {
	return (await listNames(join(folder, "queue"))).filter((name) =>
		NAME.test(name),
	);
}

/**
 * Appends the report to the queue. Returns the number of oldest reports that were dropped to make
 * room. Rejects with the operating system's error if the report could not be written.
 */
export async function enqueue(
	folder: string,
	report: Report,
	limits: QueueLimits = LIMITS,
): Promise<number> {
	const text = JSON.stringify(report);
	const dropped = await makeRoom(folder, Buffer.byteLength(text), limits);
	const last = (await listQueue(folder)).at(-1);
	const number = last ? Number(last.slice(0, 10)) + 1 : 1;
	const name = `${String(number).padStart(10, "0")}-${report.report_id}.json`;
	await writeFileAtomically(join(folder, "queue", name), text);
	return dropped;
}

async function makeRoom(
	folder: string,
	bytes: number,
	{ maxReports, maxBytes }: QueueLimits,
): Promise<number> {
	const waiting: { path: string; size: number }[] = [];
	for (const name of await listQueue(folder)) {
		const path = join(folder, "queue", name);
		waiting.push({ path, size: (await stat(path)).size });
	}
	let total = waiting.reduce((sum, { size }) => sum + size, bytes);
	let dropped = 0;
	while (waiting.length >= maxReports || total > maxBytes) {
		const oldest = waiting.shift();
		if (!oldest) break;
		await rm(oldest.path, { force: true });
		total -= oldest.size;
		dropped++;
	}
	return dropped;
}

/** Returns the report of that name, or undefined if a crash or a faulty disk has damaged it. */
export async function readQueued(
	folder: string,
	name: string,
): Promise<Report | undefined> {
	const stored = parseObject(
		await readFile(join(folder, "queue", name), "utf8"),
	);
	const { report_id, results, dropped_total } = stored ?? {};
	return typeof report_id === "string" && Array.isArray(results)
		? {
				report_id,
				results,
				dropped_total: typeof dropped_total === "number" ? dropped_total : 0,
			}
		: undefined;
}

export async function removeQueued(
	folder: string,
	name: string,
): Promise<void> {
	await rm(join(folder, "queue", name), { force: true });
}

/**
 * Moves a report out of the queue so that somebody can investigate it. Only the newest ten such
 * reports are kept.
 */
export async function setAside(
	folder: string,
	name: string,
	why: "refused" | "damaged",
): Promise<void> {
	const from = join(folder, "queue", name);
	// If the report cannot be moved, it is removed, so that the next one can be sent.
	await rename(from, join(folder, why, name)).catch(() =>
		rm(from, { force: true, recursive: true }),
	);
	await keepNewest(join(folder, why));
}

async function keepNewest(folder: string): Promise<void> {
	const kept: { path: string; changedMs: number }[] = [];
	for (const name of await listNames(folder)) {
		const path = join(folder, name);
		kept.push({ path, changedMs: (await stat(path)).ctimeMs });
	}
	kept.sort((a, b) => b.changedMs - a.changedMs);
	for (const { path } of kept.slice(MAX_SET_ASIDE)) {
		await rm(path, { force: true, recursive: true });
	}
}

/**
 * Removes every report, including those that were set aside, because their device is no longer
 * enrolled.
 */
export async function clearQueue(folder: string): Promise<void> {
	for (const place of ["queue", "refused", "damaged"]) {
		for (const name of await listNames(join(folder, place))) {
			await rm(join(folder, place, name), { force: true, recursive: true });
		}
	}
}
