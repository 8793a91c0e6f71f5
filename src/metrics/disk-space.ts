import { stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { BACKUP_FOLDER } from "../backup/file.ts";
import type { Config } from "../config/config.ts";

/** Less free space than this is a problem: the database stops soon. */
export const MIN_FREE_BYTES = 1 << 30;

/** What fills a disk of this machine. */
export type DiskUse = "database" | "backups" | "archive";

export interface DiskSpace {
	of: DiskUse;
	folder: string;
	freeBytes: number;
	/** Number of the file system. Two folders on one disk have the same. */
	disk: number;
}

export type DiskFolders = Partial<Record<DiskUse, string>>;

/** Returns the folders that Assay fills on this machine, whether or not they exist yet. */
export function diskFolders({
	databaseUrl,
	dataDir,
	archivePlace,
}: Pick<Config, "databaseUrl" | "dataDir" | "archivePlace">): DiskFolders {
	return {
		...(databaseUrl === undefined && { database: dataDir }),
		backups: BACKUP_FOLDER,
		...(archivePlace &&
			"folder" in archivePlace && { archive: archivePlace.folder }),
	};
}

/** Reads the free space of each folder that exists. */
export async function readDiskSpace(
	folders: DiskFolders,
): Promise<DiskSpace[]> {
	const found = await Promise.all(
		Object.entries(folders).map(async ([of, folder]) => {
			try {
				const files = await filledFolder(of, folder);
				const { bavail, bsize } = await statfs(files);
				const { dev: disk } = await stat(files);
				return { of: of as DiskUse, folder, freeBytes: bavail * bsize, disk };
			} catch {
				return [];
			}
		}),
	);
	return found.flat();
}

/** The database's files may be on a disk of their own, which is mounted inside the data folder. */
async function filledFolder(of: string, folder: string): Promise<string> {
	if (of !== "database") return folder;
	const inside = join(folder, "postgres");
	return stat(inside).then(
		() => inside,
		() => folder,
	);
}
