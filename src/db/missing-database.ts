import { accessSync, constants, existsSync } from "node:fs";
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

/** Says why no embedded database was found, and what to do. */
export function describeMissing({ dataDir }: Pick<Config, "dataDir">): {
	found: string;
	advice: string;
} {
	if (existsSync(dataDir) && !canEnter(dataDir)) {
		return {
			found: `this user cannot enter the data folder ${dataDir}, so its database is not visible`,
			advice: `make the folder the service's user's again, for example with chown -R assay: ${dataDir}`,
		};
	}
	if (existsSync(join(dataDir, "postgres"))) {
		return {
			found: `${dataDir} has the files of a database, but not postgres.json, which holds its place and password`,
			advice:
				"put postgres.json back from a copy of the data folder, or restore a backup with assay restore --replace (docs/backup.md)",
		};
	}
	return {
		found: `there is no database in ${dataDir}`,
		advice: MISSING_DATABASE_ADVICE,
	};
}

function canEnter(folder: string): boolean {
	try {
		accessSync(folder, constants.X_OK);
		return true;
	} catch {
		return false;
	}
}

/** Throws a bad_request AppError when there is no embedded database yet. */
export function requireDatabase(config: Config): void {
	if (hasDatabase(config)) return;
	const { found, advice } = describeMissing(config);
	throw new AppError("bad_request", `${found}; ${advice}`);
}

export function missingSchema(): AppError {
	return new AppError(
		"bad_request",
		`the database has no schema of Assay; ${MISSING_DATABASE_ADVICE}`,
	);
}
