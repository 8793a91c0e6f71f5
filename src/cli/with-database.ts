import { readConfig } from "../config.ts";
import { type Database, openDatabase } from "../db/database.ts";

/** Runs `work` with the configured database, which it opens, migrates and closes. */
export async function withDatabase<Result>(
	work: (database: Database) => Promise<Result>,
): Promise<Result> {
	const database = await openDatabase(readConfig(process.env));
	try {
		return await work(database);
	} finally {
		await database.close();
	}
}
