import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client, type ClientConfig } from "pg";
import { AppError, StartRefused } from "../errors.ts";
import { COMMAND } from "../version.ts";
import { MIGRATION_LOCK } from "./advisory-locks.ts";
import { LockWatch } from "./lock-watch.ts";
import { missingSchema } from "./missing-database.ts";
import { makeRoles, type RolePlan, withOwnRoles } from "./own-roles.ts";
import {
	INSUFFICIENT_PRIVILEGE,
	isLockTimeout,
	isTransactionConflict,
} from "./sqlstate.ts";

const SQL_DIR = join(import.meta.dirname, "../../sql");

const MAX_ATTEMPTS = 4;

/**
 * Longest time that a migration waits for a lock while it holds others. Other transactions that
 * want one of these locks wait as long. The pools of the service give up after 3 s.
 */
const LOCK_WAIT = "2s";

/**
 * Name of the step that begins now, such as "starting PostgreSQL". If this process does not notice
 * at once that a step has ended, the step is a function, which is called whenever somebody wants to
 * know.
 */
export type Step = string | (() => string);

export type TellStep = (step: Step) => void;

/**
 * Migrations whose statements also run before an older one. A migration that was released never
 * changes, but a newer PostgreSQL may reject it.
 *
 * Since the releases of November 2026, PostgreSQL adds no column with a default or of a domain to a
 * table while a function with a parsed SQL body uses the row type of the table. So 64 runs before 32,
 * and 65 before 54.
 */
const ALSO_BEFORE: Readonly<Record<number, number>> = { 32: 64, 54: 65 };

export interface Migration {
	version: number;
	name: string;
	/** The statements to run: those of the file, after those of ALSO_BEFORE. */
	sql: string;
	/** The SHA-256 of the file. */
	checksum: string;
}

/**
 * Reads the numbered files of `directory` in ascending order. Throws when a number is missing or
 * appears twice.
 */
export function readMigrations(directory: string = SQL_DIR): Migration[] {
	const migrations = readdirSync(directory)
		.filter((name) => /^\d{4}_.+\.sql$/.test(name))
		.sort()
		.map((name) => {
			const sql = readFileSync(join(directory, name), "utf8");
			return {
				version: Number(name.slice(0, 4)),
				name,
				sql,
				checksum: createHash("sha256").update(sql).digest("hex"),
			};
		});
	migrations.forEach((migration, index) => {
		if (migration.version !== index + 1) {
			throw new Error(
				`${migration.name} must have the number ${index + 1}, because migrations are numbered without gaps`,
			);
		}
	});
	return migrations.map((migration) => {
		const earlier = migrations[(ALSO_BEFORE[migration.version] ?? 0) - 1];
		return earlier
			? { ...migration, sql: `${earlier.sql}\n${migration.sql}` }
			: migration;
	});
}

export interface MigrationState {
	/** Names of the applied migrations, oldest first. */
	applied: string[];
	/** Names of the migrations that this version has and the database lacks. */
	pending: string[];
}

/** Returns true if these migrations, which were just applied, have made the database. */
export function isNewDatabase(migrated: readonly string[]): boolean {
	return migrated[0]?.startsWith("0001_") ?? false;
}

/**
 * Finds out which of `migrations` the database has. Throws StartRefused (bad_request) when the
 * database was made by a newer version or by another set of files.
 */
export async function readMigrationState(
	client: Client,
	migrations: Migration[] = readMigrations(),
): Promise<MigrationState> {
	const { rows: found } = await client.query<{ found: boolean }>(
		"select to_regclass('public.migrations') is not null as found",
	);
	const { rows: applied } = found[0]?.found
		? await client.query<{ version: number; name: string; checksum: string }>(
				"select version, name, checksum from migrations order by version",
			)
		: { rows: [] };
	for (const row of applied) {
		const known = migrations[row.version - 1];
		if (!known) {
			throw new StartRefused(
				"bad_request",
				`the database was migrated by a newer version of Assay (it has ${row.name}); start that version, or restore a backup from before the upgrade (${COMMAND} restore --replace FILE)`,
			);
		}
		if (known.checksum !== row.checksum) {
			throw new StartRefused(
				"bad_request",
				`the database was migrated with a ${known.name} that differs from the one of this version; start the version that migrated the database`,
			);
		}
	}
	return {
		applied: applied.map((row) => row.name),
		pending: migrations.slice(applied.length).map((known) => known.name),
	};
}

/**
 * Brings the database to the newest schema, each migration in a transaction of its own. Returns the
 * names of the migrations that it applied. Several processes may call this at once. Another
 * transaction that uses a table for long, such as a backup, delays the migration without a limit.
 * The processes that serve go on meanwhile. Throws a bad_request AppError when the database is
 * newer than this version, when its user lacks a privilege that a migration needs, or when there is
 * no schema and `whenMissing` is "refuse".
 */
export async function migrate(
	connection: ClientConfig,
	migrations: Migration[] = readMigrations(),
	whenMissing: "refuse" | "make" = "make",
	tell: TellStep = () => {},
): Promise<string[]> {
	const client = new Client({
		...connection,
		application_name: "assay migrate",
		connectionTimeoutMillis: 10_000,
	});
	await client.connect();
	const watch = new LockWatch(connection, client);
	try {
		tell("waiting until no other process changes the tables");
		await takeTurn(client);
		const { applied, pending } = await readMigrationState(client, migrations);
		if (applied.length === 0 && whenMissing === "refuse") throw missingSchema();
		await makeMigrationsTable(client);
		const missing = migrations.slice(applied.length);
		if (missing.length === 0) return pending;
		const roles = await makeRoles(client, missing);
		for (const [index, migration] of missing.entries()) {
			const step = `migration ${index + 1} of ${missing.length}, ${migration.name}`;
			tell(step);
			await applyAlone(client, migration, roles, watch, (blockers) =>
				tell(blockers ? `${step}, which waits for ${blockers}` : step),
			);
		}
		return pending;
	} catch (error) {
		throw explainMissingPrivilege(error);
	} finally {
		await watch.close();
		await client.end();
	}
}

/**
 * Waits until no other process migrates this database, and then takes the lock. The lock is held
 * until the connection closes.
 */
export async function takeTurn(client: Client): Promise<void> {
	await client.query("set role none");
	await client.query("select pg_advisory_lock($1)", [MIGRATION_LOCK]);
	await client.query("set search_path to public");
}

export async function makeMigrationsTable(client: Client): Promise<void> {
	await client.query(`
		create table if not exists migrations (
			version integer primary key,
			name text not null,
			checksum text not null,
			applied_at timestamptz not null default now()
		)
	`);
}

/**
 * Applies one migration in a transaction of its own, again after a deadlock with the service. If
 * others hold a lock for long, gives up its own locks until they are done. Otherwise PostgreSQL
 * would let everybody else wait behind the migration for the same tables.
 */
async function applyAlone(
	client: Client,
	migration: Migration,
	roles: RolePlan,
	watch: LockWatch,
	tellBlockers: (blockers?: string) => void,
): Promise<void> {
	for (let attempt = 1; ; ) {
		await client.query(`begin; set local lock_timeout = '${LOCK_WAIT}'`);
		try {
			await watch.during(() => applyMigration(client, migration, roles));
			await client.query("commit");
			return;
		} catch (error) {
			await client.query("rollback");
			if (isLockTimeout(error)) {
				await watch.blockersEnd(tellBlockers);
				tellBlockers();
				continue;
			}
			if (attempt++ === MAX_ATTEMPTS || !isTransactionConflict(error)) {
				throw error;
			}
		}
	}
}

/**
 * Applies one migration. The caller has opened the transaction, holds the lock of `takeTurn` and
 * has made the roles.
 */
export async function applyMigration(
	client: Client,
	migration: Migration,
	roles: RolePlan,
): Promise<void> {
	await client.query(withOwnRoles(migration, roles));
	await client.query(
		"insert into migrations (version, name, checksum) values ($1, $2, $3)",
		[migration.version, migration.name, migration.checksum],
	);
}

export function explainMissingPrivilege(error: unknown): unknown {
	if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE) {
		return error;
	}
	return new AppError(
		"bad_request",
		`the user in DATABASE_URL may not set up the database (${(error as Error).message}); make the user the owner of the database (alter database … owner to …)`,
		{ cause: error },
	);
}
