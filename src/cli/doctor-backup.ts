import { join } from "node:path";
import type { Client } from "pg";
import type { Logger } from "pino";
import { encryptionFor, readIdentities } from "../backup/encryption.ts";
import { findStalePartials } from "../backup/file.ts";
import { folderPlace } from "../backup/folder-place.ts";
import { readBackupKey } from "../backup/key.ts";
import { readLastBackup } from "../backup/last-backup.ts";
import {
	type BackupPlace,
	describeLost,
	findRefused,
	type KnownOrganizations,
	lostOrganizations,
	NOTE_NAME,
} from "../backup/old-backups.ts";
import { storePlace } from "../backup/s3-store.ts";
import { readKnownOrganizations } from "../backup/write.ts";
import type { Config } from "../config/config.ts";
import { setRole } from "../db/roles.ts";
import { AppError } from "../errors.ts";
import { DAY_MS } from "../units.ts";
import { COMMAND } from "../version.ts";
import type { Finding } from "./doctor.ts";
import { describeDuration } from "./duration.ts";

const MAX_AGE_MS = 2 * DAY_MS;

/** Reports what killed backups have left in the folder. Returns no finding if there is nothing. */
export async function examinePartials(folder: string): Promise<Finding[]> {
	const [first, ...others] = await findStalePartials(folder);
	if (first === undefined) return [];
	const more = others.length === 0 ? "" : ` and ${others.length} more`;
	return [
		{
			check: "backup files",
			status: "warning",
			found: `a backup was killed and left ${first}${more}`,
			advice:
				"the next backup removes it; journalctl -u assay-backup says when it was killed, for example because memory ran out",
		},
	];
}

/**
 * Reports settings with which no backup can be made or read: a key that cannot be read, and public
 * keys or identities that age does not know. Returns no finding if all are right. Without this, only
 * the nightly backup would say so.
 */
export async function examineBackupKeys(config: Config): Promise<Finding[]> {
	const { backupKeyFile, backupRecipients, backupIdentityFile } = config;
	const tried = await Promise.allSettled([
		readBackupKey(backupKeyFile),
		(async () => encryptionFor(backupRecipients))(),
		readIdentities(backupIdentityFile),
	]);
	return tried
		.filter((attempt) => attempt.status === "rejected")
		.map(({ reason }) => ({
			check: "backup keys",
			status: "problem" as const,
			found: (reason as Error).message,
			advice: "correct the setting or the file, and make a backup",
		}));
}

/** Reports backups in the folder that were refused. Returns no finding if there is none. */
export async function examineRefused(folder: string): Promise<Finding[]> {
	const refused = await findRefused(folderPlace(folder)).catch(() => []);
	const [newest] = refused;
	if (newest === undefined) return [];
	const more =
		refused.length === 1 ? "" : ` and ${refused.length - 1} earlier ones`;
	return [
		{
			check: "refused backups",
			status: "warning",
			found: `${join(folder, newest.name)}${more}, which lacked organizations of the backup before, the last one ${describeDuration(Date.now() - newest.storedAt)} ago`,
			advice:
				"find out why (docs/backup.md, Which backups are deleted), and then delete them; the nightly backup keeps the newest three, and after a backup that is accepted none that is older than ASSAY_BACKUP_KEEP_DAYS",
		},
	];
}

/** Returns where the backups of this installation are: the folder, and the store if there is one. */
export function backupPlaces(folder: string, { backupStore }: Config) {
	return [
		folderPlace(folder),
		...(backupStore ? [storePlace(backupStore.folder, true)] : []),
	];
}

/**
 * Reports organizations that the last backup in a place had and that the database has lost, and a
 * store that cannot be read. Returns no finding if there is nothing to say.
 */
export async function examineOrganizations(
	client: Client,
	places: readonly BackupPlace[],
): Promise<Finding[]> {
	await client.query("begin");
	await client.query(setRole("backup", "transaction"));
	const known = await readKnownOrganizations(client);
	await client.query("rollback");
	const findings = places.map(async (place) => {
		try {
			return compareOrganizations(await place.readNote(), known, place);
		} catch (error) {
			// A folder that is not there, or that only another user may read, has no note.
			return error instanceof AppError ? [describeStore(error)] : [];
		}
	});
	return (await Promise.all(findings)).flat();
}

function compareOrganizations(
	note: string | undefined,
	known: KnownOrganizations,
	{ name }: BackupPlace,
): Finding[] {
	const lost = lostOrganizations(note, known);
	if (lost.length === 0) return [];
	return [
		{
			check: "organizations",
			status: "problem",
			found: describeLost(lost, name),
			advice: `find out whether this is the right database and data folder; if the data is lost, restore a backup (docs/backup.md); if everything is as it should be, delete ${NOTE_NAME} there`,
		},
	];
}

const describeStore = ({ message }: AppError): Finding => ({
	check: "store of backups",
	status: "problem",
	found: `${message}, so the next backup cannot be uploaded`,
	advice:
		"correct that, and try it: systemctl start assay-backup (docs/backup.md, Upload backups to a store)",
});

/** Logs a warning about organizations that the last backup in a place had, if they are gone. */
export async function warnOfLostOrganizations(
	client: Client,
	places: readonly BackupPlace[],
	log: Logger,
): Promise<void> {
	for (const { check, found } of await examineOrganizations(client, places)) {
		if (check !== "organizations") continue;
		log.warn(
			`nobody has an account here, but ${found}; if the data was lost, stop the service and restore a backup (docs/backup.md) instead of opening the setup link`,
		);
	}
}

/** Reports a last backup that is too old or whose audit logs are broken. */
export async function examineBackup(client: Client): Promise<Finding> {
	const check = "backup";
	await client.query("begin");
	await client.query(setRole("app", "transaction"));
	const { made_at, has_sound_logs, in_use_since } =
		await readLastBackup(client);
	await client.query("rollback");
	if (!in_use_since) {
		return { check, status: "ok", found: "there is nothing to back up yet" };
	}
	const age = Date.now() - (made_at ?? in_use_since).getTime();
	const found = made_at
		? `the last backup was made ${describeDuration(age)} ago`
		: `no backup was made since the first organization was created ${describeDuration(age)} ago`;
	if (has_sound_logs === false) {
		return {
			check,
			status: "problem",
			found: `${found}, and its audit logs are broken`,
			advice: `keep that file and older backups, and run ${COMMAND} audit verify (docs/audit-log.md)`,
		};
	}
	return age <= MAX_AGE_MS
		? { check, status: "ok", found }
		: {
				check,
				status: "warning",
				found,
				advice: `run ${COMMAND} backup every night (docs/backup.md); backups of a standby and by other programs are not counted here`,
			};
}
