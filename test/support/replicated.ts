import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Pool } from "pg";
import type { OwnPostgres } from "../../bench/own-postgres.ts";
import { makePool } from "../../src/db/pool.ts";
import type { TestDatabase } from "./database.ts";
import { makeFolder } from "./folder.ts";
import { startMadePostgres } from "./made-data.ts";
import { startStandby } from "./standby.ts";

export interface Replicated {
	primary: OwnPostgres;
	standby: OwnPostgres;
	/** The migrated database on the primary. */
	database: TestDatabase;
	/** Lets the standby receive changes without showing them until `resume`. */
	pause: () => Promise<void>;
	resume: () => Promise<void>;
	close: () => Promise<void>;
}

/** Starts a PostgreSQL with a migrated database, and a standby that streams from it. */
export async function startReplicated(): Promise<Replicated> {
	const folder = await makeFolder("assay-replicated-");
	const primary = await startMadePostgres(join(folder, "primary"));
	const standby = await startStandby(primary, join(folder, "standby"), "db2");
	const pool = makePool({ connectionString: primary.url }, { max: 2 });
	const owner = new Pool({ connectionString: primary.url, max: 1 });
	owner.on("error", () => {});
	const onStandby = async (statement: string) => {
		const client = await standby.connect();
		await client.query(statement);
		await client.end();
	};
	return {
		primary,
		standby,
		database: {
			name: new URL(primary.url).pathname.slice(1),
			url: primary.url,
			pool,
			owner,
			disconnect: async () => {},
			drop: async () => {},
		},
		pause: () => onStandby("select pg_wal_replay_pause()"),
		resume: () => onStandby("select pg_wal_replay_resume()"),
		close: async () => {
			await pool.end();
			await owner.end();
			await standby.stop();
			await primary.stop();
			await rm(folder, { recursive: true, force: true });
		},
	};
}
