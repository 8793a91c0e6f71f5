import { Client, type ClientConfig, type Pool } from "pg";
import { setRole } from "../db/roles.ts";

/** Notes in the database that old rows were removed, for the metric, the alert and `assay doctor`. */
export async function noteRetention(connection: ClientConfig): Promise<void> {
	const client = new Client({ ...connection, connectionTimeoutMillis: 5_000 });
	try {
		await client.connect();
		await client.query("begin");
		await client.query(setRole("app", "transaction"));
		await client.query("select note_retention()");
		await client.query("commit");
	} finally {
		await client.end();
	}
}

/**
 * Returns the time at which a process last finished its daily removal of old rows. Before the first
 * time, returns when the database was made or upgraded to this version. The client acts as assay_app.
 */
export async function readLastRetention(
	client: Pick<Pool | Client, "query">,
): Promise<Date | undefined> {
	const { rows } = await client.query<{ ms: number | null }>(
		"select extract(epoch from read_last_retention())::float8 * 1000 as ms",
	);
	const ms = rows[0]?.ms ?? null;
	return ms === null ? undefined : new Date(ms);
}
