import type { Client, Pool } from "pg";

/** A replication slot of the database server. Each keeps write-ahead log until somebody reads it. */
export interface ReplicationSlot {
	name: string;
	/** True while a standby or another program reads from it. */
	isActive: boolean;
	/** Write-ahead log on the disk of the server that the slot has not let go yet. */
	keptBytes: number;
}

/**
 * Reads the slots that keep write-ahead log on this server. A standby has none that matter here,
 * because the service does not work with it.
 */
export async function readReplicationSlots(
	client: Pick<Pool | Client, "query">,
): Promise<ReplicationSlot[]> {
	const { rows } = await client.query<ReplicationSlot>(
		`select slot_name::text as name, active as "isActive",
			greatest(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn), 0)::float8 as "keptBytes"
		from pg_replication_slots
		where restart_lsn is not null and not pg_is_in_recovery()
		order by slot_name`,
	);
	return rows;
}
