import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { findDrafts, findFormerDatabases } from "../db/replace-embedded.ts";
import {
	type DiskSpace,
	diskFolders,
	MIN_FREE_BYTES,
	readDiskSpace,
} from "../metrics/disk-space.ts";
import { DAY_MS } from "../units.ts";
import { COMMAND } from "../version.ts";
import type { Finding } from "./doctor.ts";
import { describeDuration } from "./duration.ts";

const ADVICE: Record<DiskSpace["of"], string> = {
	database:
		"free some space in other folders, and delete nothing in the data folder; do not stop or restart the service before there is room; afterwards, move the data folder if the disk is too small (docs/moving.md)",
	backups:
		"copy old backups to another machine and delete them here, or keep fewer (docs/backup.md); a full disk makes the next backup fail",
	archive:
		"free some space; while the archive is full, packed months stay in the database",
};

/**
 * Reports the free space of the disks that Assay fills. A disk that the database and another folder
 * share is reported once.
 */
export async function examineDisks(config: Config): Promise<Finding[]> {
	const folders = diskFolders(config);
	const found = await readDiskSpace({
		...folders,
		// Before the first start, the data folder does not exist.
		...(folders.database && { database: existingFolder(folders.database) }),
	});
	const findings = found
		.filter(
			({ disk }, at) => found.findIndex((one) => one.disk === disk) === at,
		)
		.map((one) =>
			describeDisk({ ...one, folder: folders[one.of] ?? one.folder }),
		);
	return folders.database === undefined
		? [
				{
					check: "disk",
					status: "ok",
					found:
						"the database is not in the data folder, so its disk is not visible here",
				},
				...findings,
			]
		: findings;
}

function existingFolder(folder: string): string {
	return existsSync(folder) ? folder : ".";
}

export function describeDisk({ of, folder, freeBytes }: DiskSpace): Finding {
	const check = of === "database" ? "disk" : `disk of the ${of}`;
	const found = `${(freeBytes / 1e9).toFixed(1)} GB free for ${folder}`;
	return freeBytes >= MIN_FREE_BYTES
		? { check, status: "ok", found }
		: { check, status: "problem", found, advice: ADVICE[of] };
}

/** Reports what killed restores have left in the data folder, because nothing else removes it. */
export function examineDrafts({ dataDir, databaseUrl }: Config): Finding[] {
	if (databaseUrl) return [];
	return findDrafts(dataDir).map((folder) => ({
		check: "disk",
		status: "warning",
		found: `${folder} is what \`${COMMAND} restore --replace\` is loading, or has left when it was killed`,
		advice: `if no restore runs, delete it: rm -r ${folder}`,
	}));
}

/** Time in which somebody notices that they restored a backup by mistake. */
const FORMER_DATABASE_MS = 7 * DAY_MS;

/**
 * Reports the former databases that `restore --replace` has put aside. An old one is a warning,
 * because it can be as large as the present database, and nothing removes it.
 */
export async function examineFormerDatabases({
	dataDir,
	databaseUrl,
}: Config): Promise<Finding[]> {
	if (databaseUrl) return [];
	return Promise.all(
		findFormerDatabases(dataDir).map(async (former): Promise<Finding> => {
			const { directory, file, keptAt } = former;
			const age = Date.now() - keptAt.getTime();
			const bytes = await sizeOf(directory);
			return {
				check: "former database",
				status: age > FORMER_DATABASE_MS ? "warning" : "ok",
				found: `${directory}${bytes === undefined ? "" : ` (${(bytes / 1e9).toFixed(1)} GB)`} is the database that \`${COMMAND} restore --replace\` put aside ${describeDuration(age)} ago`,
				advice: `if nobody needs it any more, delete it: rm -r ${[directory, file].filter(Boolean).join(" ")}`,
			};
		}),
	);
}

/** Returns the size of all files in a folder, or undefined if this user cannot read them. */
async function sizeOf(folder: string): Promise<number | undefined> {
	try {
		const entries = await readdir(folder, {
			recursive: true,
			withFileTypes: true,
		});
		let bytes = 0;
		for (const entry of entries) {
			if (!entry.isFile()) continue;
			bytes += (await stat(join(entry.parentPath, entry.name))).size;
		}
		return bytes;
	} catch {
		return undefined;
	}
}
