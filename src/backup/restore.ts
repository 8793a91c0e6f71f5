import { type Client, type ClientConfig, escapeIdentifier } from "pg";
import {
	applyMigration,
	explainMissingPrivilege,
	type Migration,
	makeMigrationsTable,
	readMigrationState,
	readMigrations,
	takeTurn,
} from "../db/migrate.ts";
import { makeRoles, type RolePlan } from "../db/own-roles.ts";
import { setRole } from "../db/roles.ts";
import { LOCK_NOT_AVAILABLE } from "../db/sqlstate.ts";
import { AppError } from "../errors.ts";
import { copyRows } from "./copy-rows.ts";
import { damaged, type Manifest, type RowCounts } from "./format.ts";
import { openOwnerConnection } from "./owner-connection.ts";
import { atIntervals } from "./progress.ts";
import { BackupReader } from "./read.ts";
import type { SealCheck } from "./seal.ts";
import { columnList, readTables, type Table } from "./tables.ts";

export interface Restored {
	manifest: Manifest;
	rows: RowCounts;
	/** Names of the migrations that were applied after loading because the backup lacked them. */
	migrated: string[];
}

/**
 * Loads a backup into an empty database and then migrates that database to the newest schema. The
 * rows are loaded into the schema with which the backup was made. Everything happens in one
 * transaction, so a rejected backup leaves nothing behind.
 *
 * Throws a bad_request AppError in these cases:
 *
 * - The file is not a backup, is damaged, or is cut off, or `check` has a key and the keyed seal is
 *   missing or wrong.
 * - The backup was made by a newer version or with other migrations.
 * - The database is not empty, or its user lacks a privilege.
 */
export async function restoreBackup(
	connection: ClientConfig,
	source: AsyncIterable<Buffer>,
	report: (text: string) => void,
	check?: SealCheck,
): Promise<Restored> {
	const migrations = readMigrations();
	const reader = await BackupReader.open(source, check);
	try {
		const { manifest } = reader;
		requireKnownHistory(manifest, migrations);
		const client = await openOwnerConnection(connection, "5s");
		try {
			await takeTurn(client);
			await client.query("begin");
			const roles = await migrateTo(client, manifest, migrations);
			await load(client, reader, report);
			const later = migrations.slice(manifest.migrations.length);
			for (const migration of later) {
				await applyMigration(client, migration, roles);
			}
			await makePartitions(client, manifest);
			await client.query(setRole("audit", "transaction"));
			await client.query("select audit_settle()");
			await client.query("commit");
			const tables = await readTables(client);
			// Without this statement, PostgreSQL would gather statistics only later, and for a
			// partitioned table never.
			await client.query(`analyze ${nameList(tables)}`);
			const migrated = later.map(({ name }) => name);
			return { manifest, rows: reader.rows, migrated };
		} catch (error) {
			throw explain(error);
		} finally {
			// Closing the connection rolls back everything that was not committed.
			await client.end();
		}
	} finally {
		reader.close();
	}
}

function requireKnownHistory(
	manifest: Manifest,
	migrations: Migration[],
): void {
	manifest.migrations.forEach(({ version, name, checksum }, index) => {
		const known = migrations[index];
		if (!known) {
			throw new AppError(
				"bad_request",
				`the backup was made by a newer version of Assay (${manifest.assay}; it has ${name}); restore it with that version`,
			);
		}
		if (known.version !== version || known.checksum !== checksum) {
			throw new AppError(
				"bad_request",
				`the migration ${name} in the backup differs from ${known.name} in this version; restore the backup with the version that made it (${manifest.assay})`,
			);
		}
	});
}

/**
 * Brings the empty database to the schema with which the backup was made. Makes the roles that
 * these migrations and the later ones need, and returns them.
 */
async function migrateTo(
	client: Client,
	manifest: Manifest,
	migrations: Migration[],
): Promise<RolePlan> {
	const { applied } = await readMigrationState(client, migrations);
	if (applied.length === 0) await requireNoTables(client);
	if (applied.length > manifest.migrations.length) {
		throw new AppError(
			"bad_request",
			`the database has a newer schema (${applied.at(-1)}) than the backup (${manifest.migrations.at(-1)?.name}); to restore into an empty one, set ASSAY_DATA_DIR to a new folder or DATABASE_URL to a new database; --replace exchanges an embedded database and keeps the former one`,
		);
	}
	await makeMigrationsTable(client);
	const roles = await makeRoles(client, migrations.slice(applied.length));
	for (const migration of migrations.slice(
		applied.length,
		manifest.migrations.length,
	)) {
		await applyMigration(client, migration, roles);
	}
	return roles;
}

async function requireNoTables(client: Client): Promise<void> {
	const { rows } = await client.query<{ name: string }>(`
		select c.relname::text as name from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
			and c.relname <> 'migrations'
			and not exists (select from pg_depend d where d.objid = c.oid and d.deptype = 'e')
		order by 1`);
	if (rows.length > 0) {
		throw notEmpty(
			`tables that are not Assay's (${some(rows.map(({ name }) => name))})`,
		);
	}
}

/**
 * Loads the rows. While they are loaded, row-level security and the tables' triggers are off. Both
 * are on again before the commit. COPY does not work under row-level security, which binds the
 * owner too. The triggers are not needed, because the backup already contains their effects.
 */
async function load(
	client: Client,
	reader: BackupReader,
	report: (text: string) => void,
): Promise<void> {
	const tables = await readTables(client);
	await client.query(`lock table ${nameList(tables)} in access exclusive mode`);
	await client.query(
		alterEach(tables, "no force row level security", "disable trigger user"),
	);
	await requireNoRows(client, tables);
	await makePartitions(client, reader.manifest);

	const loaded: RowCounts = {};
	const progress = atIntervals(report);
	const awaited = new Map(tables.map((table) => [table.name, table]));
	for (;;) {
		const head = await reader.nextTable();
		if (!head) break;
		const table = awaited.get(head.table);
		if (!table || columnList(table.columns) !== columnList(head.columns)) {
			throw damaged();
		}
		awaited.delete(head.table);
		const count = await copyRows(client, table, reader, progress);
		loaded[table.name] = count;
		if (count > 0) report(`${table.name}: ${count} rows`);
	}
	if (awaited.size > 0) throw damaged();
	for (const [name, count] of Object.entries(reader.rows)) {
		if (loaded[name] === count) continue;
		throw new Error(
			`the database stored only ${loaded[name]} of the ${count} rows of ${name}`,
		);
	}

	await client.query(
		alterEach(tables, "force row level security", "enable trigger user"),
	);
}

/** Returns statements that change each table, and those with triggers in a second way. */
function alterEach(
	tables: Table[],
	change: string,
	changeOfTriggers: string,
): string {
	return tables
		.map(({ name, hasTriggers }) => {
			const changes = hasTriggers ? `${change}, ${changeOfTriggers}` : change;
			return `alter table ${escapeIdentifier(name)} ${changes};`;
		})
		.join("\n");
}

async function requireNoRows(client: Client, tables: Table[]): Promise<void> {
	const { rows } = await client.query<{ name: string; rows: string }>(
		tables
			.map(
				({ name }) =>
					`select '${name}' as name, count(*) as rows from (select from ${escapeIdentifier(name)} limit 1000) t having count(*) > 0`,
			)
			.join(" union all "),
	);
	if (rows.length > 0) {
		throw notEmpty(
			`rows (${some(rows.map(({ name, rows }) => `${name}: ${rows === "1000" ? "1000+" : rows}`))})`,
		);
	}
}

/**
 * Makes the partitions that the backup names. Rows that are already in the default partition move
 * into them.
 */
async function makePartitions(
	client: Client,
	manifest: Manifest,
): Promise<void> {
	const { rows } = await client.query<{ isKnown: boolean; packs: boolean }>(
		`select
			to_regprocedure('make_posture_report_partition(timestamptz)') is not null as "isKnown",
			to_regclass('packed_posture_reports') is not null as packs`,
	);
	if (!rows[0]?.isKnown) return;
	await client.query(
		"select make_posture_report_partition(day) from unnest($1::timestamptz[]) day",
		[manifest.report_months],
	);
	if (!rows[0].packs) return;
	await client.query(
		`select make_packed_report_partition(day) from unnest($1::date[]) day
		where to_regclass('packed_posture_reports_' || to_char(day, 'YYYY_MM')) is null`,
		[manifest.packed_months],
	);
}

function nameList(tables: Table[]): string {
	return tables.map(({ name }) => escapeIdentifier(name)).join(", ");
}

function some(names: string[]): string {
	return `${names.slice(0, 5).join(", ")}${names.length > 5 ? ` and ${names.length - 5} more` : ""}`;
}

function notEmpty(what: string): AppError {
	return new AppError(
		"bad_request",
		`the database is not empty: it holds ${what}; to restore into an empty one, set ASSAY_DATA_DIR to a new folder or DATABASE_URL to a new database; --replace exchanges an embedded database and keeps the former one`,
	);
}

function explain(error: unknown): unknown {
	const { code } = error as { code?: string };
	if (code === LOCK_NOT_AVAILABLE) {
		return new AppError(
			"bad_request",
			"another program uses the database, perhaps the service; stop it and restore again",
			{ cause: error },
		);
	}
	return explainMissingPrivilege(error);
}
