import { readConfig } from "../config/config.ts";
import { type Database, openDatabase } from "../db/database.ts";
import { reportOpening } from "./progress.ts";

/**
 * Opens the configured database, brings it to the newest schema, runs `work` and closes the
 * database. Says on standard error what a slow opening waits for. Rejects with a bad_request AppError
 * when there is no database and `whenMissing` is "refuse".
 */
export async function withDatabase<Result>(
	work: (database: Database) => Promise<Result>,
	whenMissing: "refuse" | "make" = "refuse",
): Promise<Result> {
	const { tell, done } = reportOpening();
	const database = await openDatabase(readConfig(process.env), {
		whenMissing,
		tell,
	}).finally(done);
	try {
		return await work(database);
	} finally {
		await database.close();
	}
}
