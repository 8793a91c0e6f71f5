import { Client, type ClientConfig, type Pool } from "pg";
import { setRole } from "../db/roles.ts";

/** Times of the database, in milliseconds since 1970. */
export interface RetentionTimes {
	nowMs: number;
	/**
	 * The time at which a process last finished its daily removal of old rows. Before the first time,
	 * when the database was made or upgraded to a version that notes it.
	 */
	lastMs: number;
}

/** Notes in the database that old rows were removed, for the metric, the alert and `assay doctor`. */
export async function noteRetention(connection: ClientConfig): Promise<void> {
	await asApp(connection, (client) => client.query("select note_retention()"));
}

/** Reads the times with a connection of the owner. */
export function lookAtClock(connection: ClientConfig): Promise<RetentionTimes> {
	return asApp(connection, readRetentionTimes);
}

/** Reads the times. The client acts as assay_app. */
export async function readRetentionTimes(
	client: Pick<Pool | Client, "query">,
): Promise<RetentionTimes> {
	const { rows } = await client.query<RetentionTimes>(
		`select extract(epoch from clock_timestamp())::float8 * 1000 as "nowMs",
			extract(epoch from read_last_retention())::float8 * 1000 as "lastMs"`,
	);
	if (!rows[0]) throw new Error("the times of the database have no row");
	return rows[0];
}

async function asApp<Result>(
	connection: ClientConfig,
	work: (client: Client) => Promise<Result>,
): Promise<Result> {
	const client = new Client({ ...connection, connectionTimeoutMillis: 5_000 });
	try {
		await client.connect();
		await client.query("begin");
		await client.query(setRole("app", "transaction"));
		const result = await work(client);
		await client.query("commit");
		return result;
	} finally {
		await client.end();
	}
}
