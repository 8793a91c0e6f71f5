import { readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { parseId } from "../src/id.ts";
import { listNames, parseObject, writeFileAtomically } from "./files.ts";
import type { Report } from "./report.ts";

/**
 * Matches the file names in the queue. Each report is one file in `<folder>/queue`, and the number
 * at the beginning of its name gives the order. The name says whether a status changed with this
 * report. The agent removes a report only after the service has stored it.
 */
const NAME = /^(\d{10})-([A-Za-z0-9_-]{32})(\.changed)?\.json$/;

export interface QueueLimits {
	maxReports: number;
	maxBytes: number;
}

const LIMITS: QueueLimits = { maxReports: 2000, maxBytes: 30 * 1024 * 1024 };
const MAX_SET_ASIDE = 10;

/** Returns the names of the waiting reports, oldest first. */
export async function listQueue(folder: string): Promise<string[]> {
	return (await listNames(join(folder, "queue"))).filter((name) =>
		NAME.test(name),
	);
}

/**
 * Appends the report to the queue. `isChange` says that a check has another status than in the
 * report before. Returns the number of reports that were dropped to make room. Rejects with the
 * operating system's error if the report could not be written.
 */
export async function enqueue(
	folder: string,
	report: Report,
	isChange: boolean,
	limits: QueueLimits = LIMITS,
): Promise<number> {
	const text = JSON.stringify(report);
	const dropped = await makeRoom(folder, Buffer.byteLength(text), limits);
	const last = (await listQueue(folder)).at(-1);
	const number = last ? Number(last.slice(0, 10)) + 1 : 1;
	const name = `${String(number).padStart(10, "0")}-${report.report_id}${isChange ? ".changed" : ""}.json`;
	await writeFileAtomically(join(folder, "queue", name), text);
	return dropped;
}

async function makeRoom(
	folder: string,
	bytes: number,
	{ maxReports, maxBytes }: QueueLimits,
): Promise<number> {
	const waiting: { name: string; size: number }[] = [];
	for (const name of await listQueue(folder)) {
		const { size } = await stat(join(folder, "queue", name));
		waiting.push({ name, size });
	}
	let total = waiting.reduce((sum, { size }) => sum + size, bytes);
	let dropped = 0;
	while (waiting.length >= maxReports || total > maxBytes) {
		const names = waiting.map(({ name }) => name);
		const [least] = waiting.splice(chooseLeast(names), 1);
		if (!least) break;
		await removeQueued(folder, least.name);
		total -= least.size;
		dropped++;
	}
	return dropped;
}

/**
 * Returns the index of the report whose loss harms the history least. A report in which a status
 * changed is kept as long as possible. The first report of a day (UTC) is kept as long as there are
 * other reports of the same day without a change.
 */
function chooseLeast(names: readonly string[]): number {
	const days = new Set<string>();
	let firstUnchanged: number | undefined;
	for (const [index, name] of names.entries()) {
		const [, , id = "", changed] = NAME.exec(name) ?? [];
		if (changed) continue;
		const madeAtMs = parseId(id)?.madeAtMs ?? 0;
		const day = new Date(madeAtMs).toISOString().slice(0, 10);
		if (days.has(day)) return index;
		days.add(day);
		firstUnchanged ??= index;
	}
	return firstUnchanged ?? 0;
}

/** Returns the report of that name, or undefined if a crash or a faulty disk has damaged it. */
export async function readQueued(
	folder: string,
	name: string,
): Promise<Report | undefined> {
	const stored = parseObject(
		await readFile(join(folder, "queue", name), "utf8"),
	);
	const { report_id, device_id, results, dropped_total } = stored ?? {};
	return typeof report_id === "string" && Array.isArray(results)
		? {
				report_id,
				device_id: typeof device_id === "string" ? device_id : undefined,
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
 * Removes the reports of every other device, also those that were set aside. Returns how many
 * waiting reports it removed. Reports are about one device, so the history of another one must not
 * contain them.
 */
export async function keepReportsOf(
	folder: string,
	deviceId: string,
): Promise<number> {
	let removed = 0;
	for (const name of await listQueue(folder)) {
		const report = await readQueued(folder, name).catch(() => undefined);
		// A damaged report names no device. It is set aside when its turn to be sent comes.
		if (!report || report.device_id === deviceId) continue;
		await rm(join(folder, "queue", name), { force: true, recursive: true });
		removed++;
	}
	if (removed === 0) return 0;
	for (const place of ["refused", "damaged"]) {
		for (const name of await listNames(join(folder, place))) {
			await rm(join(folder, place, name), { force: true, recursive: true });
		}
	}
	return removed;
}
