import { Client, type ClientConfig } from "pg";
import { ARCHIVE_LOCK } from "../db/advisory-locks.ts";
import { setRole } from "../db/roles.ts";
import { AppError } from "../errors.ts";

/**
 * Forgets files that the archive has lost, and the changes that were due for them. The service then
 * writes new files of the months that the database still has. If a forgotten file comes back, the
 * service does not know it. The connection is the owner's.
 *
 * Throws conflict if the service is working on the archive.
 */
export async function forgetArchiveFiles(
	connection: ClientConfig,
	names: readonly string[],
): Promise<void> {
	const client = new Client(connection);
	await client.connect();
	try {
		await client.query("begin");
		const { rows } = await client.query<{ ours: boolean }>(
			"select pg_try_advisory_xact_lock($1) as ours",
			[ARCHIVE_LOCK],
		);
		if (!rows[0]?.ours) {
			throw new AppError(
				"conflict",
				"the service is working on the archive; try again in some minutes",
			);
		}
		await client.query(setRole("agent", "transaction"));
		await client.query(
			`with forgotten as (
				delete from archive_files f where f.name = any ($1)
				returning f.organization_id, f.month, f.first_device_id, f.last_device_id
			), changes as (
				delete from archive_changes c using forgotten f
				where c.organization_id = f.organization_id and c.month = f.month
					and c.device_id between f.first_device_id and f.last_device_id
			)
			delete from archived_months m where m.month in (select f.month from forgotten f)`,
			[names],
		);
		await client.query("commit");
	} finally {
		// Closing the connection rolls back what was not committed.
		await client.end();
	}
}
