import { Client, type ClientConfig, type Pool } from "pg";
import { setRole } from "../db/roles.ts";
import { isReadOnlyDatabase } from "../db/sqlstate.ts";

export interface LastBackup {
	/** Moment that the last backup shows. Null if the database knows of none. */
	made_at: Date | null;
	/** True if its audit logs are sound. Null if they were not verified, or if there is no backup. */
	has_sound_logs: boolean | null;
	/** Time at which the first organization was created. Null if there is none. */
	in_use_since: Date | null;
}

/**
 * Notes in the database that a backup was made, for the metric, the alert and `assay doctor`. A
 * standby is read-only, so a backup of a standby is not noted.
 */
export async function noteBackup(
	connection: ClientConfig,
	made: { madeAt: string; hasSoundLogs: boolean | null },
): Promise<void> {
	const client = new Client(connection);
	try {
		await client.connect();
		await client.query("begin");
		await client.query(setRole("app", "transaction"));
		await client.query("select note_backup($1, $2)", [
			made.madeAt,
			made.hasSoundLogs,
		]);
		await client.query("commit");
	} catch (error) {
		if (!isReadOnlyDatabase(error)) throw error;
	} finally {
		await client.end();
	}
}

/** Reads the last backup. The client acts as assay_app. */
export async function readLastBackup(
	client: Pick<Pool | Client, "query">,
): Promise<LastBackup> {
	const { rows } = await client.query<{
		made_at: number | null;
		has_sound_logs: boolean | null;
		in_use_since: number | null;
	}>(
		`select extract(epoch from made_at)::float8 * 1000 as made_at, has_sound_logs,
			extract(epoch from in_use_since)::float8 * 1000 as in_use_since
		from read_last_backup()`,
	);
	const [row] = rows;
	const time = (value: number | null | undefined) =>
		value === null || value === undefined ? null : new Date(value);
	return {
		made_at: time(row?.made_at),
		has_sound_logs: row?.has_sound_logs ?? null,
		in_use_since: time(row?.in_use_since),
	};
}
