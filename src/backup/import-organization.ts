import {
	type Client,
	type ClientConfig,
	escapeIdentifier,
	type PoolClient,
} from "pg";
import { appendChanges } from "../audit/log.ts";
import type { Head } from "../audit/read.ts";
import { IMPORT_LOCK } from "../db/advisory-locks.ts";
import { readMigrationState } from "../db/migrate.ts";
import { roleName, setRole } from "../db/roles.ts";
import { LOCK_NOT_AVAILABLE } from "../db/sqlstate.ts";
import { setImporting, setOrganization } from "../db/transaction-settings.ts";
import { AppError } from "../errors.ts";
import { parseId, TENANT_PREFIX_LENGTH } from "../id.ts";
import type { Change } from "../operation.ts";
import { systemPrincipal } from "../principal.ts";
import { copyRows } from "./copy-rows.ts";
import { damaged, type Manifest, type RowCounts } from "./format.ts";
import {
	addUnpacked,
	beginWithPartitions,
	CHANGES,
	noteAddedReports,
	PACKED,
	staged,
} from "./import-reports.ts";
import { MEMBER_COLUMNS, MEMBERS } from "./organization-tables.ts";
import { openOwnerConnection } from "./owner-connection.ts";
import { atIntervals } from "./progress.ts";
import { BackupReader } from "./read.ts";
import type { SealCheck } from "./seal.ts";
import { columnList, readTables, type Table } from "./tables.ts";

/** A person who was a member in the other installation. */
export interface FormerMember {
	email: string;
	name: string;
	role: string;
	/** Last day of the membership, as YYYY-MM-DD. */
	ends_on: string | null;
	/** Registers that the membership was limited to. */
	writable_registers: string[] | null;
	reads_audit_log: boolean;
}

export interface Imported {
	manifest: Manifest;
	organization: { id: string; name: string };
	rows: RowCounts;
	members: FormerMember[];
	/** The newest sealed entry of the audit log when the organization was exported. */
	head: Head | undefined;
}

/**
 * Adds an exported organization to a database that has the newest schema. Other organizations and
 * the service continue meanwhile. First, the whole file is read into temporary tables and checked.
 * Then one transaction adds all rows, so a rejected file leaves nothing behind.
 *
 * `join` runs in that transaction, as the service's role. The changes that it returns are written to
 * the audit log.
 *
 * Throws a bad_request AppError if the file is no export, is damaged or cut off, has no right keyed
 * seal although `check` has a key, or was made with another schema. Throws conflict if the
 * organization exists, or if another import runs.
 */
export async function importOrganization(
	connection: ClientConfig,
	source: AsyncIterable<Buffer>,
	report: (text: string) => void,
	check: SealCheck = { key: undefined },
	join: (
		client: PoolClient,
		organizationId: string,
	) => Promise<Change[]> = () => Promise.resolve([]),
): Promise<Imported> {
	const reader = await BackupReader.open(source, check, ["organization"]);
	try {
		const { manifest } = reader;
		const { organization } = manifest;
		if (!organization || parseId(organization.id)?.kind !== "organization") {
			throw damaged();
		}
		const client = await openOwnerConnection(connection, "5s");
		try {
			await requireSameSchema(client, manifest);
			await takeTurn(client);
			await asBackup(client, () => requireNew(client, organization.id));
			const tables = (await readTables(client)).filter(
				({ isExported }) => isExported,
			);
			await stage(client, tables, reader, report);
			await requireOneOrganization(client, organization.id);
			report("the file is sound; adding the organization");
			await beginWithPartitions(client);
			await addRows(client, tables, organization.id, reader.rows);
			await enter(client, organization, manifest, join);
			const imported = {
				manifest,
				organization,
				rows: reader.rows,
				members: await readMembers(client),
				head: await readHead(client),
			};
			await client.query("commit");
			// Without this statement, PostgreSQL would gather statistics only later, and for a
			// partitioned table never.
			await client.query(
				`analyze ${tables.map(({ name }) => escapeIdentifier(name)).join(", ")}`,
			);
			return imported;
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

async function requireSameSchema(
	client: Client,
	{ migrations, assay }: Manifest,
): Promise<void> {
	const { applied } = await readMigrationState(client);
	const newest = migrations.at(-1)?.name;
	if (newest === applied.at(-1) && migrations.length === applied.length) return;
	throw new AppError(
		"bad_request",
		migrations.length > applied.length
			? `the export was made by a newer version of Assay (${assay}, schema ${newest}); upgrade this installation to that version first`
			: `the export was made by another version of Assay (${assay}, schema ${newest}), and this database has the schema ${applied.at(-1)}; upgrade the other installation to the version of this one, and export again`,
	);
}

/** Ends when the connection ends. */
async function takeTurn(client: Client): Promise<void> {
	const { rows } = await client.query<{ ours: boolean }>(
		"select pg_try_advisory_lock($1) as ours",
		[IMPORT_LOCK],
	);
	if (rows[0]?.ours) return;
	throw new AppError(
		"conflict",
		"another import is running in this database; wait until it has ended",
	);
}

/** Runs `work` in a transaction that sees every row and changes none. */
async function asBackup<Result>(
	client: Client,
	work: () => Promise<Result>,
): Promise<Result> {
	await client.query("begin read only");
	try {
		await client.query(setRole("backup", "transaction"));
		return await work();
	} finally {
		await client.query("rollback");
	}
}

/** Throws conflict if there is an organization with this id, or with its tenant. */
async function requireNew(client: Client, id: string): Promise<void> {
	const { rows } = await client.query<{ id: string; name: string }>(
		"select id, name from organizations where starts_with(id, $1)",
		[id.slice(0, TENANT_PREFIX_LENGTH)],
	);
	const [found] = rows;
	if (!found) return;
	throw new AppError(
		"conflict",
		found.id === id
			? `the organization ${found.name} (${id}) exists in this database; delete it there first, or import into another installation`
			: `the organization ${found.name} (${found.id}) of this database has the same tenant as ${id}; import into another installation`,
	);
}

/** Reads the whole file into temporary tables. The file is known to be sound afterwards. */
async function stage(
	client: Client,
	tables: readonly Table[],
	reader: BackupReader,
	report: (text: string) => void,
): Promise<void> {
	const progress = atIntervals(report);
	const awaited = new Map<string, readonly string[]>(
		tables.map(({ name, columns }) => [name, columns]),
	);
	awaited.set(MEMBERS, MEMBER_COLUMNS);
	for (;;) {
		const head = await reader.nextTable();
		if (!head) break;
		const columns = awaited.get(head.table);
		if (!columns || columnList(columns) !== columnList(head.columns)) {
			throw damaged();
		}
		awaited.delete(head.table);
		const from =
			head.table === MEMBERS
				? "memberships m join users u on u.id = m.user_id"
				: escapeIdentifier(head.table);
		// The new table has the types of the columns, and no other rules.
		await client.query(
			`create temporary table ${staged(head.table)} as select ${columnList(columns)} from ${from} with no data`,
		);
		const count = await copyRows(
			client,
			{ name: `import_${head.table}`, columns: [...columns] },
			reader,
			progress,
			head.table,
			"export the organization again",
		);
		if (count > 0) report(`${head.table}: ${count} rows`);
	}
	if (awaited.size > 0) throw damaged();
}

/** The other tables are checked when their rows are added. */
async function requireOneOrganization(
	client: Client,
	id: string,
): Promise<void> {
	const { rows } = await client.query<{ id: string }>(
		`select id from ${staged("organizations")}`,
	);
	if (rows.length !== 1 || rows[0]?.id !== id) throw damaged();
}

/**
 * Adds the rows as assay_backup. Row-level security rejects a row of another organization, and the
 * triggers that note news know that these are none.
 *
 * Entries of the audit log get new ids in the same order, because ids belong to the installation.
 * Their numbers and hashes stay. They are entries of a running transaction for the sealer.
 */
async function addRows(
	client: Client,
	tables: readonly Table[],
	organizationId: string,
	expected: RowCounts,
): Promise<void> {
	await client.query("select pg_current_xact_id()");
	await client.query(`create temporary table import_ids on commit drop as
		select old_id, nextval('audit_entry_ids') as new_id from (
			select id as old_id from ${staged("audit_entries")}
			union select entry_id from ${staged("audit_seals")}
			order by old_id
		) e`);
	await client.query("create unique index on import_ids (old_id)");
	await client.query("analyze import_ids");
	await client.query(setImporting(organizationId));
	await allowReading(client, ["ids", ...tables.map(({ name }) => name)]);
	await client.query(setRole("backup", "transaction"));
	for (const { name, columns } of tables) {
		if (name === PACKED) {
			await addUnpacked(client);
			continue;
		}
		// The rows of this table concern the packing of the other installation.
		if (name === CHANGES) continue;
		const renumbered = RENUMBERED[name];
		const values = columns.map((column) =>
			column === renumbered ? "i.new_id" : `s.${escapeIdentifier(column)}`,
		);
		const join = renumbered
			? `join import_ids i on i.old_id = s.${renumbered}`
			: "";
		const { rowCount } = await client.query(
			`insert into ${escapeIdentifier(name)} (${columnList(columns)})
			select ${values.join(", ")} from ${staged(name)} s ${join}`,
		);
		if (rowCount !== expected[name]) {
			throw new Error(
				`the database added only ${rowCount} of the ${expected[name]} rows of ${name}`,
			);
		}
	}
	await noteAddedReports(client);
}

/** Lets assay_backup read temporary tables of this session. */
async function allowReading(client: Client, names: string[]): Promise<void> {
	const { rows } = await client.query<{ name: string }>(
		`select ${roleName("backup")} as name`,
	);
	await client.query(
		`grant select on ${names.map(staged).join(", ")} to ${escapeIdentifier(rows[0]?.name ?? "")}`,
	);
}

/** Columns with ids of audit entries. */
const RENUMBERED: Readonly<Record<string, string>> = {
	audit_entries: "id",
	audit_seals: "entry_id",
};

/** Writes to the audit log that the organization was imported. */
async function enter(
	client: Client,
	organization: { id: string; name: string },
	{ made_at, assay }: Manifest,
	join: (client: PoolClient, organizationId: string) => Promise<Change[]>,
): Promise<void> {
	await client.query(setRole("app", "transaction"));
	await client.query(setOrganization(organization.id));
	// A connection of a pool has the same methods, and one more that nothing here calls.
	const caller = client as unknown as PoolClient;
	await appendChanges(
		caller,
		systemPrincipal(),
		"importOrganization",
		organization.id,
		[
			{
				kind: "organization",
				...organization,
				fields: { exported_at: { after: made_at }, made_by: { after: assay } },
			},
			...(await join(caller, organization.id)),
		],
	);
	await client.query(setRole("none", "transaction"));
}

async function readMembers(client: Client): Promise<FormerMember[]> {
	const { rows } = await client.query<FormerMember>(
		`select email, name, role, to_char(ends_on, 'YYYY-MM-DD') as ends_on, writable_registers, reads_audit_log
		from ${staged(MEMBERS)} order by email`,
	);
	return rows;
}

async function readHead(client: Client): Promise<Head | undefined> {
	const { rows } = await client.query<Head>(
		`select sequence::integer, encode(hash, 'hex') as hash from ${staged("audit_heads")}`,
	);
	return rows[0];
}

function explain(error: unknown): unknown {
	const { code, message } = error as { code?: string; message: string };
	if (code === LOCK_NOT_AVAILABLE) {
		return new AppError(
			"bad_request",
			"the database was locked for too long, perhaps by a migration or another import; try again",
			{ cause: error },
		);
	}
	// The file is sound, but not as Assay writes it: rows of another organization, or rows that refer
	// to nothing.
	if (code === "42501" && message.includes("row-level security")) {
		return new AppError(
			"bad_request",
			"the file contains rows of another organization, so Assay did not write it like this; nothing was imported",
			{ cause: error },
		);
	}
	return error;
}
