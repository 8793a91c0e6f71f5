import { type ClientConfig, Pool, type PoolClient } from "pg";
import { transaction } from "../db/pool.ts";
import { sessionOf } from "../db/server-sessions.ts";
import { timesAsText } from "../db/type-parsers.ts";

/**
 * Runs `work` in one transaction as assay_privacy, a role that the service never uses. The
 * transaction uses a connection of its own, because processing a long audit log may take longer
 * than the service permits a statement to take. With `isTrial`, the transaction is rolled back.
 */
export async function asPrivacy<Result>(
	ownerConnection: ClientConfig,
	options: { isReadOnly?: boolean; isTrial?: boolean },
	work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
	const pool = new Pool({
		...ownerConnection,
		application_name: "assay privacy",
		max: 1,
		connectionTimeoutMillis: 10_000,
		types: { getTypeParser: timesAsText },
		onConnect: async (client) => {
			await client.query(
				sessionOf("privacy", {
					statement_timeout: 0,
					lock_timeout: "30s",
					// The command computes between statements. If somebody suspends it with Ctrl-Z, it must
					// not keep its locks forever.
					idle_in_transaction_session_timeout: "5min",
					timezone: "UTC",
					datestyle: "ISO",
				}),
			);
		},
	});
	// If a connection is lost between two queries, the next query fails with the error. Without a
	// listener, this event would end the process.
	pool.on("error", () => {});
	pool.on("connect", (client) => client.on("error", () => {}));
	const tried = new Trial<Result>();
	try {
		return await transaction(
			pool,
			{ isReadOnly: options.isReadOnly ?? false },
			async (client) => {
				tried.result = await work(client);
				if (options.isTrial) throw tried;
				return tried.result;
			},
		);
	} catch (error) {
		if (error === tried) return tried.result as Result;
		throw error;
	} finally {
		await pool.end();
	}
}

/** An error that is thrown to roll back a trial. It carries the trial's result. */
class Trial<Result> extends Error {
	result: Result | undefined;
}
