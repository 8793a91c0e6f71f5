import { readConfig } from "../config.ts";
import { type Database, openDatabase } from "../db/database.ts";

/**
 * Runs `work` with the configured database, which it opens, brings to the newest schema and closes.
 * Rejects with a bad_request AppError when there is none, unless it may be made.
 */
export async function withDatabase<Result>(
	work: (database: Database) => Promise<Result>,
	whenMissing: "refuse" | "make" = "refuse",
): Promise<Result> {
	const database = await openDatabase(readConfig(process.env), whenMissing);
	try {
		return await work(database);
	} finally {
		await database.close();
	}
}
