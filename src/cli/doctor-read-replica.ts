import type { ClientConfig } from "pg";
import type { Config } from "../config/config.ts";
import { connectionAdvice } from "../db/connection-advice.ts";
import { makePool } from "../db/pool.ts";
import {
	openReplica,
	REPLICA_SETTING,
	reasonOf,
	UnusableReplica,
} from "../db/read-replica.ts";
import { MAX_BEHIND_SECONDS } from "../db/replicas.ts";
import { makeLogger } from "../log.ts";
import type { Finding } from "./doctor.ts";
import { describeDuration } from "./duration.ts";

/** Says whether exports and reports can be read from the replica. */
export async function examineReadReplica(
	config: Config,
	primary: ClientConfig,
): Promise<Finding[]> {
	const check = "read replica";
	const pool = makePool(primary, { max: 2, name: "assay doctor" });
	const replica = openReplica(config, pool, makeLogger("silent"));
	if (!replica) {
		await pool.end();
		return [];
	}
	try {
		const { seconds, bytes } = await replica.measure();
		const age = seconds === null ? undefined : describeDuration(seconds * 1000);
		const found = `it is ${age ?? "an unknown time"} (${(bytes / 1e6).toFixed(1)} MB) behind`;
		return seconds !== null && seconds <= MAX_BEHIND_SECONDS
			? [{ check, status: "ok", found }]
			: [
					{
						check,
						status: "warning",
						found,
						advice:
							"look at the log, the disk and the network of the replica; until it has caught up, requests with read_from=replica get 503",
					},
				];
	} catch (error) {
		if (!(error instanceof UnusableReplica)) throw error;
		return [
			{
				check,
				status: "problem",
				found: reasonOf(error),
				advice: error.cause
					? connectionAdvice(error.cause).replaceAll(
							"DATABASE_URL",
							REPLICA_SETTING,
						)
					: `let ${REPLICA_SETTING} lead to a standby that streams from the database in DATABASE_URL (docs/scaling.md)`,
			},
		];
	} finally {
		await replica.close();
		await pool.end();
	}
}
