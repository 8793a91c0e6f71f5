import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseObject, writeFileAtomically } from "./files.ts";

/** The security updates that a device knows of and has not installed. */
export interface PendingUpdates {
	/** The subject of the notes. By default, it is updates that are not installed. */
	notes?: keyof typeof FILES;
	/**
	 * A text that changes whenever the list may have changed. If it is the same as last time, the
	 * list is not made again.
	 */
	stamp?: string | undefined;
	/**
	 * Returns a name for each update, which stays the same until the device installs it. Returns
	 * undefined if the updates are not known.
	 */
	list(): Promise<string[] | undefined>;
}

export interface Waiting {
	count: number;
	/** Milliseconds from 1970 to when the agent first saw the oldest of them. */
	since: number | undefined;
}

/** The agent's notes: when it first saw each update, in RFC 3339 format. */
interface Notes {
	stamp: string | null;
	updates: Record<string, string>;
}

const FILES = {
	updates: "pending-updates.json",
	restart: "pending-restart.json",
};
const MAX_UPDATES = 500;
const MAX_NAME = 200;

/**
 * Notes which updates wait, in the agent's folder, and returns since when the oldest one has
 * waited. An update that no longer waits is forgotten. Returns undefined if the updates are not
 * known, or if the folder does not exist or belongs to another user. Damaged notes count as none.
 */
export async function notePendingUpdates(
	folder: string,
	now: Date,
	{ notes: about = "updates", stamp, list }: PendingUpdates,
	/** False if the notes must stay as they are. */
	mayWrite = true,
): Promise<Waiting | undefined> {
	const file = join(folder, FILES[about]);
	const notes = await readNotes(file);
	if (notes !== undefined && stamp !== undefined && notes.stamp === stamp) {
		return waitingOf(notes, now);
	}
	// The list costs a second or more, so it is not made in vain.
	if (notes === undefined && !(mayWrite && existsSync(folder)))
		return undefined;
	const names = await list();
	if (names === undefined) return undefined;
	const next = updateNotes(notes, stamp ?? null, names, now);
	const isKept = mayWrite && (await writeNotes(file, next));
	// Without notes, an age could not be told.
	if (!isKept && notes === undefined) return undefined;
	return waitingOf(next, now);
}

/** Returns false if the folder does not exist or must not be written. */
async function writeNotes(file: string, notes: Notes): Promise<boolean> {
	try {
		await writeFileAtomically(file, `${JSON.stringify(notes)}\n`);
		return true;
	} catch {
		return false;
	}
}

function updateNotes(
	notes: Notes | undefined,
	stamp: string | null,
	names: readonly string[],
	now: Date,
): Notes {
	const seen = [...new Set(names.map((name) => name.slice(0, MAX_NAME)))].map(
		(name): [string, string] => [
			name,
			notes && Object.hasOwn(notes.updates, name)
				? (notes.updates[name] ?? now.toISOString())
				: now.toISOString(),
		],
	);
	// The oldest ones decide, so these are kept if there are too many.
	seen.sort(([, a], [, b]) => Date.parse(a) - Date.parse(b));
	return { stamp, updates: Object.fromEntries(seen.slice(0, MAX_UPDATES)) };
}

/** Returns undefined if there are no notes, or if they are damaged. */
async function readNotes(file: string): Promise<Notes | undefined> {
	const text = await readFile(file, "utf8").catch(() => "");
	const stored = parseObject(text);
	const updates = stored?.updates;
	if (typeof updates !== "object" || updates === null) return undefined;
	const entries = Object.entries(updates).slice(0, MAX_UPDATES);
	return {
		stamp: typeof stored?.stamp === "string" ? stored.stamp : null,
		updates: Object.fromEntries(
			entries.filter(
				([, at]) => typeof at === "string" && !Number.isNaN(Date.parse(at)),
			),
		),
	};
}

function waitingOf({ updates }: Notes, now: Date): Waiting {
	const times = Object.values(updates)
		.map((at) => Date.parse(at))
		// The clock was wrong when the agent saw an update in the future.
		.map((at) => Math.min(at, now.getTime()));
	return {
		count: times.length,
		since: times.length > 0 ? Math.min(...times) : undefined,
	};
}
