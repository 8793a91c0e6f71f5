import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";

/**
 * What a command says that works on what is there and must not make it: in a wrong or emptied folder
 * a nightly check would else look at a new, sound, empty database, and pass.
 */
export const MISSING_DATABASE_ADVICE =
	"set ASSAY_DATA_DIR or DATABASE_URL to what the service uses; for a new installation `assay start` makes one";

export function hasDatabase(config: Config): boolean {
	return (
		config.databaseUrl !== undefined ||
		existsSync(join(config.dataDir, "postgres.json"))
	);
}

/** Throws a bad_request AppError where an embedded database would have to be made. */
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
