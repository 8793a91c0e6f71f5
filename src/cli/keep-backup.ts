import { rename } from "node:fs/promises";
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
 * of the file, as the settings say. Deletes nothing if an audit log is broken. If the database lacks
 * organizations of the last backup, gives the file another name, and rejects with bad_request.
 */
export async function keepBackup(
	{ backupStore: store, backupKeepDays }: Config,
	file: string,
	deletesOld: boolean,
	{ organizations, auditProblems = [] }: Written,
	report: (text: string) => void,
): Promise<Kept> {
	const { deleteOldBackups, deleteOldRefused, findRefusal } = await import(
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
	const here = deletesOld ? folderPlace(dirname(resolve(file))) : undefined;
	const there = store && storePlace(store.folder);
	let failure = "its upload failed";
	try {
		// All places are checked before anything is uploaded or deleted.
		for (const place of [here, there]) {
			if (!place || !organizations) continue;
			const refusal = await findRefusal(place, organizations);
			if (!refusal) continue;
			const refused = await setAside(file, refusal);
			if (here) await deleteOldRefused(here);
			throw refused;
		}
		if (store) {
			const { folder } = store;
			report(`written; uploading to ${folder.origin}`);
			await uploadFile(folder, file, name);
			kept.uploaded_to = `${folder.origin}/${folder.bucket}/${folder.prefix}${name}`;
			kept.deleted = [];
		}
		failure = "old backups were not deleted";
		if (here) kept.deleted_files = await clean(here, backupKeepDays);
		if (there) kept.deleted = await clean(there, store?.keepDays ?? 0);
		return kept;
	} catch (error) {
		if (!(error instanceof AppError) || error instanceof Refused) throw error;
		throw new AppError(
			error.code,
			`${file} is complete, but ${failure}: ${error.message}`,
			{ cause: error },
		);
	}
}

/**
 * Rejects with bad_request if the database lacks organizations of the last backup in the store. A
 * backup on standard output needs this, because nothing keeps it from becoming the newest backup.
 * If the store does not answer, the backup is made without the comparison.
 */
export async function compareWithStore(
	{ backupStore: store }: Config,
	{ organizations }: Written,
	report: (text: string) => void,
): Promise<void> {
	if (!store || !organizations) return;
	const { findRefusal } = await import("../backup/old-backups.ts");
	const { storePlace } = await import("../backup/s3-store.ts");
	const place = storePlace(store.folder, true);
	const refusal = await findRefusal(place, organizations).catch((error) => {
		if (!(error instanceof AppError)) throw error;
		report(`not compared with the backups in ${place.name}: ${error.message}`);
		return undefined;
	});
	if (!refusal) return;
	throw new AppError(
		"bad_request",
		`standard output has everything in the database, but do not keep it as a backup: ${refusal}`,
	);
}

class Refused extends AppError {}

/**
 * Gives a refused backup another name, so that it does not count as one of the newest backups, which
 * are kept.
 */
async function setAside(file: string, reason: string): Promise<Refused> {
	const { REFUSED } = await import("../backup/old-backups.ts");
	const other = `${file}${REFUSED}`;
	await rename(file, other);
	return new Refused(
		"bad_request",
		`the backup is complete, but it is now ${other}, was not uploaded, and no old backup was deleted: ${reason}`,
	);
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
