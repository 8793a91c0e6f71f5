import { basename, dirname, resolve } from "node:path";
import type { BackupPlace } from "../backup/old-backups.ts";
import type { Written } from "../backup/write.ts";
import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";

export interface Kept {
	/** Where the file is in the store. */
	uploaded_to?: string;
	/** The old backups that were deleted in the store. */
	deleted?: string[];
	/** The old backups that were deleted in the folder of the file. */
	deleted_files?: string[];
}

/**
 * Uploads the file if there is a store, and then deletes old backups in the store and in the folder
 * of the file, as the settings say. Deletes nothing if an audit log is broken.
 */
export async function keepBackup(
	{ backupStore: store, backupKeepDays }: Config,
	file: string,
	deletesOld: boolean,
	{ organizations, auditProblems = [] }: Written,
	report: (text: string) => void,
): Promise<Kept> {
	const { deleteOldBackups, requireSameInstallation } = await import(
		"../backup/old-backups.ts"
	);
	const { folderPlace } = await import("../backup/folder-place.ts");
	const { storePlace, uploadFile } = await import("../backup/s3-store.ts");
	const name = basename(file);
	const kept: Kept = {};
	const clean = async (place: BackupPlace, days: number) =>
		organizations && auditProblems.length === 0
			? await deleteOldBackups(place, days, name, organizations)
			: [];
	let failure = "its upload failed";
	try {
		if (store) {
			const { folder } = store;
			report(`written; uploading to ${folder.origin}`);
			await uploadFile(folder, file, name);
			kept.uploaded_to = `${folder.origin}/${folder.bucket}/${folder.prefix}${name}`;
			kept.deleted = [];
		}
		failure = "old backups were not deleted";
		const days = deletesOld ? backupKeepDays : 0;
		const here = days > 0 ? folderPlace(dirname(resolve(file))) : undefined;
		const there =
			store?.keepDays === undefined ? undefined : storePlace(store.folder);
		// All places are checked before anything is deleted.
		for (const place of [here, there]) {
			if (place && organizations) {
				await requireSameInstallation(place, organizations);
			}
		}
		if (here) kept.deleted_files = await clean(here, days);
		if (there) kept.deleted = await clean(there, store?.keepDays ?? 0);
		return kept;
	} catch (error) {
		if (!(error instanceof AppError)) throw error;
		throw new AppError(
			error.code,
			`${file} is complete, but ${failure}: ${error.message}`,
			{ cause: error },
		);
	}
}

export function describeKept({
	uploaded_to,
	deleted,
	deleted_files,
}: Kept): string[] {
	const lines: string[] = [];
	const removed = (names: string[] = []) =>
		names.length === 0 ? "" : ` Deleted: ${names.join(", ")}`;
	if (uploaded_to)
		lines.push(`It was uploaded to ${uploaded_to}.${removed(deleted)}`);
	if (deleted_files?.length)
		lines.push(`Old backups in this folder:${removed(deleted_files)}`);
	return lines;
}
