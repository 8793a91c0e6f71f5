import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { DAY_MS, HOUR_MS } from "../../src/units.ts";
import { errorCode, parseObject, writeFileAtomically } from "../files.ts";
import { readUpdateKey } from "./manifest.ts";

/** The agent's memory of the newest version. Times are in RFC 3339 format. */
export interface UpdateNotes {
	version: string;
	/** When the service first named this version. */
	seen_at: string;
	/** How often the program was tried without a verdict, because the device was switched off. */
	tries: number;
	tried_at: string | null;
	/** The version that was fetched last. The manifest may name another one than the service. */
	fetched?: string;
	/** Why the agent went back to the old program. It does not try this version again. */
	failed: string | null;
	/** Why it went back from other versions, which the service or a manifest may name again. */
	failed_before?: Record<string, string>;
	/** Why the last attempt to fetch the program failed. */
	trouble: string | null;
}

const NOTES = "updates.json";
const KEY = "update-key.pem";
/** Names of the files in the agent's folder that updates use. */
export const UPDATE_FILES = [NOTES, KEY, "update.tar.gz", "update-passed"];

/** Most failed versions that the agent remembers. The latest ones stay. */
const MAX_FAILED = 20;

/** Keeps the public key whose signature the agent accepts. The service never changes it. */
export async function pinUpdateKey(folder: string, pem: string): Promise<void> {
	readUpdateKey(pem);
	await writeFileAtomically(join(folder, KEY), pem);
}

/** Returns the pinned key in PEM format, or undefined if the agent does not update itself. */
export async function readPinnedKey(
	folder: string,
): Promise<string | undefined> {
	return readIfThere(join(folder, KEY));
}

export async function readNotes(
	folder: string,
): Promise<UpdateNotes | undefined> {
	const stored = parseObject((await readIfThere(join(folder, NOTES))) ?? "");
	const { version, seen_at, tries, tried_at, fetched } = stored ?? {};
	const { failed, failed_before, trouble } = stored ?? {};
	if (typeof version !== "string" || typeof seen_at !== "string") return;
	const text = (value: unknown) => (typeof value === "string" ? value : null);
	return {
		version,
		seen_at,
		tries: Number.isSafeInteger(tries) ? (tries as number) : 0,
		tried_at: text(tried_at),
		...(typeof fetched === "string" && { fetched }),
		failed: text(failed),
		...(isTexts(failed_before) && { failed_before }),
		trouble: text(trouble),
	};
}

const isTexts = (value: unknown): value is Record<string, string> =>
	typeof value === "object" &&
	value !== null &&
	Object.values(value).every((each) => typeof each === "string");

/** Returns the notes about a version that the service names for the first time, or names again. */
export function notesAbout(
	version: string,
	earlier: UpdateNotes | undefined,
): UpdateNotes {
	const { [version]: failed = null, ...others } = failuresIn(earlier);
	return {
		version,
		seen_at: new Date().toISOString(),
		tries: 0,
		tried_at: null,
		failed,
		...(Object.keys(others).length > 0 && { failed_before: latest(others) }),
		trouble: null,
	};
}

/** Returns the notes with the reason why the agent went back from a version. */
export function withFailure(
	notes: UpdateNotes,
	version: string,
	reason: string,
): UpdateNotes {
	if (version === notes.version) return { ...notes, failed: reason };
	return {
		...notes,
		failed_before: latest({ ...notes.failed_before, [version]: reason }),
		trouble: `version ${version} failed: ${reason}`,
	};
}

/** Returns why the agent went back from each version that failed. */
export const failuresIn = (
	notes: UpdateNotes | undefined,
): Record<string, string> => ({
	...notes?.failed_before,
	...(notes?.failed && { [notes.version]: notes.failed }),
});

const latest = (failures: Record<string, string>) =>
	Object.fromEntries(Object.entries(failures).slice(-MAX_FAILED));

export async function writeNotes(
	folder: string,
	notes: UpdateNotes,
): Promise<void> {
	await writeFileAtomically(join(folder, NOTES), `${JSON.stringify(notes)}\n`);
}

/**
 * Returns the time, in milliseconds since 1970, from which this device may update. The devices of a
 * fleet spread over the day after each has heard of the version, and none is always the first. A
 * trial that was cut off is repeated after 2, 4, 8 hours and so on, at most a day later.
 */
export function dueMs(notes: UpdateNotes, deviceId: string): number {
	const hash = createHash("sha256").update(`${deviceId} ${notes.version}`);
	const share = hash.digest().readUInt32BE(0) / 2 ** 32;
	const spread = Date.parse(notes.seen_at) + share * DAY_MS;
	if (notes.tried_at === null) return spread;
	const again = Math.min(2 ** notes.tries * HOUR_MS, DAY_MS);
	return Math.max(spread, Date.parse(notes.tried_at) + again);
}

async function readIfThere(path: string): Promise<string | undefined> {
	try {
		return await readFile(path, "utf8");
	} catch (error) {
		if (errorCode(error) === "ENOENT") return undefined;
		throw error;
	}
}
