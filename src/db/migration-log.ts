import type { Logger } from "pino";
import type { Database } from "./database.ts";
import { isNewDatabase } from "./migrate.ts";

/** Logs each migration of an upgrade, and one line for all migrations of a new database. */
export function logMigrations(
	{ migrated, migratedInMs }: Database,
	log: Logger,
): void {
	if (isNewDatabase(migrated)) {
		log.info(
			{ migrations: migrated.length, durationMs: Math.round(migratedInMs) },
			`created the tables: ${migrated.length} migrations in ${(migratedInMs / 1000).toFixed(1)} s`,
		);
		return;
	}
	for (const name of migrated) log.info({ migration: name }, "migrated");
}
