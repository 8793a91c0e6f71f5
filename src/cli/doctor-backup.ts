import { join } from "node:path";
import type { Client } from "pg";
import type { Logger } from "pino";
import { findStalePartials } from "../backup/file.ts";
import { folderPlace } from "../backup/folder-place.ts";
import { readLastBackup } from "../backup/last-backup.ts";
import {
	describeLost,
	lostOrganizations,
	NOTE_NAME,
} from "../backup/old-backups.ts";
import { readKnownOrganizations } from "../backup/write.ts";
import { setRole } from "../db/roles.ts";
import { COMMAND } from "../version.ts";
import type { Finding } from "./doctor.ts";
import { describeDuration } from "./duration.ts";

const MAX_AGE_MS = 2 * 86_400_000;

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
 * Reports organizations that the last backup in the folder had and that the database has lost.
 * Returns no finding if there are none.
 */
export async function examineOrganizations(
	client: Client,
	folder: string,
): Promise<Finding[]> {
	const note = await folderPlace(folder)
		.readNote()
		.catch(() => undefined);
	if (note === undefined) return [];
	await client.query("begin");
	await client.query(setRole("backup", "transaction"));
	const known = await readKnownOrganizations(client);
	await client.query("rollback");
	const lost = lostOrganizations(note, known);
	if (lost.length === 0) return [];
	return [
		{
			check: "organizations",
			status: "problem",
			found: describeLost(lost, folder),
			advice: `find out whether this is the right database and data folder; if the data is lost, restore a backup (docs/backup.md); if everything is as it should be, delete ${join(folder, NOTE_NAME)}`,
		},
	];
}

/** Logs a warning about the organizations that the last backup in the folder had, if they are gone. */
export async function warnOfLostOrganizations(
	client: Client,
	folder: string,
	log: Logger,
): Promise<void> {
	for (const { found } of await examineOrganizations(client, folder)) {
		log.warn(
			{ folder },
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
