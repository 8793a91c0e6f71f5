import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";

/**
 * Advice in the errors of commands that need an existing database and must not create one. If a
 * nightly check created a database in a wrong or emptied folder, it would find that new, empty
 * database sound, and pass.
 */
export const MISSING_DATABASE_ADVICE =
	"set ASSAY_DATA_DIR or DATABASE_URL to the value that the service uses; in a new installation, `assay start` creates the database";

export function hasDatabase(config: Config): boolean {
	return (
		config.databaseUrl !== undefined ||
		existsSync(join(config.dataDir, "postgres.json"))
	);
}

/** Throws a bad_request AppError when there is no embedded database yet. */
export function requireDatabase(config: Config): void {
	if (hasDatabase(config)) return;
	throw new AppError(
		"bad_request",
		`there is no database in ${config.dataDir}; ${MISSING_DATABASE_ADVICE}`,
	);
}

export function missingSchema(): AppError {
	return new AppError(
		"bad_request",
		`the database has no schema of Assay; ${MISSING_DATABASE_ADVICE}`,
	);
}
