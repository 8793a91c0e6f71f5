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

/** At least this many backups stay, however old they are. */
const MIN_KEPT = 3;
const MAX_NAMED = 3;
const DAY_MS = 86_400_000;

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
 * `newest`, and notes the organizations of the newest. Only names like those of the nightly backups
 * are touched: assay-….backup. If there is no organization, nothing is deleted. Returns the deleted
 * names.
 */
export async function deleteOldBackups(
	place: BackupPlace,
	days: number,
	newest: string,
	known: KnownOrganizations,
	now: number = Date.now(),
): Promise<string[]> {
	if (known.present.length === 0) return [];
	const backups = (await place.list())
		.filter(({ name }) => /^assay-[^/]*\.backup$/.test(name))
		.sort((a, b) => b.storedAt - a.storedAt);
	const old = backups
		.slice(MIN_KEPT)
		.filter(
			({ name, storedAt }) => name !== newest && now - storedAt > days * DAY_MS,
		);
	for (const { name } of old) await place.remove(name);
	await place.writeNote(
		`${JSON.stringify({ organizations: known.present })}\n`,
	);
	return old.map(({ name }) => name);
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
