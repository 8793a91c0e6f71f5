import { DAY_MS } from "../units.ts";
/** A folder or a bucket with backups, from which old ones are deleted. */
export interface BackupPlace {
	/** What messages call the place. */
	readonly name: string;
	/** The files in the place. The time is the one at which a file was written there. */
	readonly list: () => Promise<{ name: string; storedAt: number }[]>;
	readonly remove: (name: string) => Promise<void>;
	readonly readNote: () => Promise<string | undefined>;
	readonly writeNote: (text: string) => Promise<void>;
}

/** The organizations that a database knew at the moment of a backup. */
export interface KnownOrganizations {
	/** Ids of the organizations that exist. */
	present: string[];
	/** Ids of the organizations that were deleted on purpose. */
	deleted: string[];
}

/**
 * Name of the file with the ids of the organizations in the last backup. It is beside the backups,
 * because a backup may be encrypted for somebody else.
 */
export const NOTE_NAME = "assay-organizations.json";

/** Name of a backup of the nightly jobs, and the name that it gets if it is refused. */
const BACKUP = /^assay-[^/]*\.backup$/;
const REFUSED_BACKUP = /^assay-[^/]*\.backup\.refused$/;

/** End of the name of a backup that lacks organizations of the one before it. */
export const REFUSED = ".refused";

/** At least this many backups stay, however old they are, and at most this many refused ones. */
const MIN_KEPT = 3;
const MAX_NAMED = 3;

/**
 * Returns the reason if an organization of the last backup in the place is gone and nobody has
 * deleted it. The data folder was then probably lost, or this is the wrong database, and the old
 * backups are the only copies. Otherwise returns undefined.
 */
export async function findRefusal(
	place: BackupPlace,
	known: KnownOrganizations,
): Promise<string | undefined> {
	const lost = lostOrganizations(await place.readNote(), known);
	if (lost.length === 0) return undefined;
	return `${describeLost(lost, place.name)}; if the data was lost or this is the wrong database, restore a backup (docs/backup.md); if everything is as it should be, delete ${NOTE_NAME} there, and make a backup again`;
}

/**
 * Deletes the backups in the place that are older than `days`, apart from the newest ones and
 * `newest`, and notes the organizations of the newest. With 0 days, it keeps all backups. Only names
 * like those of the nightly backups are touched: assay-….backup, and those that were refused earlier.
 * If there is no organization, nothing is deleted. Returns the deleted names.
 */
export async function deleteOldBackups(
	place: BackupPlace,
	days: number,
	newest: string,
	known: KnownOrganizations,
	now: number = Date.now(),
): Promise<string[]> {
	if (known.present.length === 0) return [];
	const old = days === 0 ? [] : await findOld(place, days, newest, now);
	for (const name of old) await place.remove(name);
	await place.writeNote(
		`${JSON.stringify({ organizations: known.present })}\n`,
	);
	return old;
}

async function findOld(
	place: BackupPlace,
	days: number,
	newest: string,
	now: number,
): Promise<string[]> {
	const files = newestFirst(await place.list());
	const backups = files.filter(({ name }) => BACKUP.test(name));
	// The new backup was accepted, so the refused ones are of use to nobody for long.
	const refused = files.filter(({ name }) => REFUSED_BACKUP.test(name));
	return [...backups.slice(MIN_KEPT), ...refused]
		.filter(
			({ name, storedAt }) => name !== newest && now - storedAt > days * DAY_MS,
		)
		.map(({ name }) => name);
}

const newestFirst = (files: { name: string; storedAt: number }[]) =>
	files.toSorted((a, b) => b.storedAt - a.storedAt);

/**
 * Deletes all refused backups in the place but the newest ones. Every night adds one until an
 * operator has looked, and they would fill the disk.
 */
export async function deleteOldRefused(place: BackupPlace): Promise<void> {
	for (const { name } of (await findRefused(place)).slice(MIN_KEPT)) {
		await place.remove(name);
	}
}

/** Returns the refused backups of the nightly jobs, the newest first. */
export async function findRefused(
	place: BackupPlace,
): Promise<{ name: string; storedAt: number }[]> {
	const files = newestFirst(await place.list());
	return files.filter(({ name }) => REFUSED_BACKUP.test(name));
}

/** Returns the ids that the note names, and that are neither present nor deleted. */
export function lostOrganizations(
	note: string | undefined,
	{ present, deleted }: KnownOrganizations,
): string[] {
	if (note === undefined) return [];
	const known = new Set([...present, ...deleted]);
	return readIds(note).filter((id) => !known.has(id));
}

function readIds(note: string): string[] {
	try {
		const { organizations } = JSON.parse(note);
		if (Array.isArray(organizations)) return organizations.map(String);
	} catch {
		// The file is damaged, which says nothing about the database.
	}
	return [];
}

/** Says which organizations are missing. */
export function describeLost(lost: string[], place: string): string {
	const named = lost.slice(0, MAX_NAMED).join(", ");
	const more =
		lost.length > MAX_NAMED ? ` and ${lost.length - MAX_NAMED} more` : "";
	return `the last backup in ${place} had organizations that the database lacks and that nobody deleted (${named}${more})`;
}
