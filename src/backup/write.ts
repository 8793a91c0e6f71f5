import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createZstdCompress } from "node:zlib";
import { type Client, type ClientConfig, escapeIdentifier } from "pg";
import { findLogProblems, type LogProblem } from "../audit/verify-all.ts";
import { readMigrationState } from "../db/migrate.ts";
import { setRole } from "../db/roles.ts";
import { AppError } from "../errors.ts";
import { COMMAND, VERSION } from "../version.ts";
import {
	COMPRESSION,
	FORMAT_VERSION,
	FORMATS,
	type Manifest,
	type RowCounts,
} from "./format.ts";
import type { KnownOrganizations } from "./old-backups.ts";
import { openOwnerConnection } from "./owner-connection.ts";
import { readRows, type Source } from "./rows.ts";
import { seal } from "./seal.ts";
import {
	CONTENTS_OF_FILES,
	columnList,
	readTables,
	type Table,
} from "./tables.ts";

export interface Written {
	manifest: Manifest;
	rows: RowCounts;
	/** Problems of the audit logs in the backup. Undefined if the logs were not verified. */
	auditProblems: LogProblem[] | undefined;
	/** True if the database has the newest schema. */
	isCurrent: boolean;
	/** Undefined if the database has an older schema. */
	organizations: KnownOrganizations | undefined;
}

export interface WriteOptions {
	/**
	 * Says whether every entry of the audit logs is also verified. That is possible only if the
	 * database has the newest schema.
	 */
	verifiesAudit: boolean;
	/** Key for the keyed seal, with which people notice a change that somebody made on purpose. */
	key?: Buffer | undefined;
	/** Encrypts the file. Without it, the file is not encrypted. */
	encrypt?: (bytes: AsyncIterable<Buffer>) => AsyncIterable<Buffer>;
	/** Leaves out the contents of files, which may be most of the bytes. */
	leavesOutFiles?: boolean | undefined;
	signal?: AbortSignal | undefined;
}

/**
 * Writes a backup of the database to `out` and ends that stream. The backup contains everything
 * that was committed at one moment. Meanwhile the service continues. The backup locks nothing that
 * the service needs, but a migration has to wait for it. The use of memory does not depend on the
 * size of the database. The database may have an older schema, and this function does not change
 * it.
 *
 * Throws a bad_request AppError when there is nothing to back up, or when a newer version made the
 * database.
 */
export async function writeBackup(
	connection: ClientConfig,
	out: Writable,
	report: (text: string) => void,
	{
		verifiesAudit,
		key,
		encrypt = (bytes) => bytes,
		leavesOutFiles = false,
		signal,
	}: WriteOptions = {
		verifiesAudit: true,
	},
): Promise<Written> {
	const client = await openOwnerConnection(connection, "60s");
	try {
		await client.query("begin isolation level repeatable read read only");
		const { tables, manifest, isCurrent } = await describe(client);
		await lockTables(client, tables);
		const rows: RowCounts = {};
		await pipeline(
			Readable.from(
				readRows(
					client,
					manifest,
					tables.map((table) => sourceOf(table, leavesOutFiles)),
					rows,
					report,
				),
			),
			createZstdCompress(COMPRESSION),
			(bytes: AsyncIterable<Buffer>) => encrypt(seal(bytes, key)),
			out,
			{ signal },
		);
		const organizations = isCurrent
			? await readKnownOrganizations(client)
			: undefined;
		const written = { manifest, rows, isCurrent, organizations };
		// The verification reads the database as it was at the moment of the backup. If it finds a
		// changed log, people can compare that log with the one in the file.
		if (!verifiesAudit || !isCurrent)
			return { ...written, auditProblems: undefined };
		report("written; verifying the audit logs");
		const auditProblems = await findLogProblems(client, signal);
		return { ...written, auditProblems };
	} finally {
		await client.end();
	}
}

/** Reads which organizations there are and were. The client acts as assay_backup. */
export async function readKnownOrganizations(
	client: Pick<Client, "query">,
): Promise<KnownOrganizations> {
	const { rows } = await client.query<KnownOrganizations>(`
		select
			array(select id::text from organizations order by id) as present,
			array(select organization_id::text from deleted_organizations order by number) as deleted`);
	return rows[0] ?? { present: [], deleted: [] };
}

/** Keeps migrations away, which could change a table before it was read. */
export async function lockTables(
	client: Client,
	tables: readonly Table[],
): Promise<void> {
	await client.query(
		`lock table ${tables.map(({ name }) => escapeIdentifier(name)).join(", ")} in access share mode`,
	);
}

function sourceOf({ name, columns }: Table, leavesOutFiles: boolean): Source {
	const isEmptied = leavesOutFiles && CONTENTS_OF_FILES.includes(name);
	return {
		name,
		columns,
		query: `select ${columnList(columns)} from ${escapeIdentifier(name)} where ${!isEmptied}`,
	};
}

/**
 * Describes the database for the first line of a file, and takes the role that reads it, until the
 * transaction ends.
 */
export async function describe(
	client: Client,
): Promise<{ tables: Table[]; manifest: Manifest; isCurrent: boolean }> {
	const { applied, pending } = await readMigrationState(client);
	if (applied.length === 0) {
		throw new AppError(
			"bad_request",
			"there is nothing to back up, because the database has no schema of Assay; check DATABASE_URL or ASSAY_DATA_DIR",
		);
	}
	const tables = await readTables(client);
	const { rows } = await client.query<
		Pick<
			Manifest,
			"made_at" | "server" | "migrations" | "report_months" | "packed_months"
		> & {
			bypasses: boolean;
		}
	>(`
		select
			to_char(now(), 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as made_at,
			current_setting('server_version') as server,
			(
				select jsonb_agg(jsonb_build_object('version', version, 'name', name, 'checksum', checksum) order by version)
				from migrations
			) as migrations,
			array(
				select replace(right(c.relname, 7), '_', '-') || '-01'
				from pg_inherits i join pg_class c on c.oid = i.inhrelid
				where i.inhparent = 'posture_reports'::regclass and c.relname ~ '_\\d{4}_\\d\\d$'
				order by 1
			) as report_months,
			array(
				select replace(right(c.relname, 7), '_', '-') || '-01'
				from pg_inherits i join pg_class c on c.oid = i.inhrelid
				where i.inhparent = to_regclass('packed_posture_reports') and c.relname ~ '_\\d{4}_\\d\\d$'
				order by 1
			) as packed_months,
			(select rolsuper or rolbypassrls from pg_roles where rolname = current_user) as bypasses`);
	const [found] = rows;
	if (!found)
		throw new Error("the query for the facts of the database returned no row");
	const { bypasses, ...facts } = found;
	await takeRole(client, tables, bypasses, pending);
	return {
		tables,
		isCurrent: pending.length === 0,
		manifest: {
			format: FORMATS.backup,
			version: FORMAT_VERSION,
			assay: VERSION,
			...facts,
			tables: tables.map(({ name }) => name),
		},
	};
}

/**
 * Switches to the role assay_backup, which cannot write and sees every row. Without the right
 * policy on a table, the role would silently see fewer rows, so each table's policy is checked
 * first.
 */
async function takeRole(
	client: Client,
	tables: Table[],
	bypasses: boolean,
	pending: string[],
): Promise<void> {
	const hidden = tables.filter(({ isReadable }) => !isReadable);
	if (hidden.length === 0) {
		await client.query(setRole("backup", "transaction"));
		return;
	}
	// The schema is older than assay_backup. A user that bypasses row-level security sees every row
	// without that role.
	if (bypasses) return;
	if (pending.length > 0) {
		throw new AppError(
			"bad_request",
			`the database has the schema of an older version, and its user may not read every table; run \`${COMMAND} migrate\` first`,
		);
	}
	throw new Error(
		`the role assay_backup may not read ${hidden.map(({ name }) => name).join(", ")}`,
	);
}
