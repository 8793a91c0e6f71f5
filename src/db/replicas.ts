import type { Client, Pool } from "pg";

/** A replica that is further behind is reported, and the service does not read from it. */
export const MAX_BEHIND_SECONDS = 300;

export interface Replica {
	/** Its `application_name`, by which it is also named in synchronous_standby_names. */
	name: string;
	/** Null if PostgreSQL hides the replica from the login. The other values are then null too. */
	state: "catchup" | "streaming" | null;
	isSynchronous: boolean | null;
	/** Write-ahead log that the replica has not replayed yet. */
	behindBytes: number | null;
	behindSeconds: number | null;
}

/** Reads the replicas that receive the write-ahead log from this server. */
export async function readReplicas(
	client: Pick<Pool | Client, "query">,
): Promise<Replica[]> {
	const { rows } = await client.query<Replica>(
		`select name, state, is_synchronous as "isSynchronous", behind_bytes as "behindBytes",
			behind_seconds as "behindSeconds"
		from read_replicas()`,
	);
	return rows;
}
