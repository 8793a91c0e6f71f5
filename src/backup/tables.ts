import { type Client, escapeIdentifier } from "pg";
import { roleName } from "../db/roles.ts";

/**
 * Tables that no backup contains. After a restore everybody signs in again, and a used link or an
 * ended session must not become valid again, and no mail or event is sent twice.
 * sql/0127_last_retention.sql has the same names.
 */
export const OF_THE_MOMENT = [
	"account_links",
	"audit_sealing",
	"events",
	"last_backup",
	"last_retention",
	"mails",
	"maintenance",
	"my_devices_links",
	"notification_messages",
	"sessions",
	"sign_in_failures",
	"unknown_device_keys",
	"verifications",
	"webhook_deliveries",
];

/** Tables whose rows a backup without the contents of files leaves out. */
export const CONTENTS_OF_FILES: readonly string[] = ["file_chunks"];

export interface Table {
	name: string;
	/** All columns except generated ones, which the database computes again. */
	columns: string[];
	/** Tables that the foreign keys of this table refer to. */
	refersTo: string[];
	/** True if the role assay_backup can read all rows. */
	isReadable: boolean;
	hasTriggers: boolean;
	/**
	 * True if the table holds rows of organizations that an export contains. The function allow_backup
	 * decides it.
	 */
	isExported: boolean;
}

/**
 * Finds out from PostgreSQL's catalog which tables a backup contains. Each table comes after the
 * tables that it refers to. All of Assay's tables force row-level security, which a test checks, so
 * any other table in the schema does not belong to Assay. A partitioned table stands for all its
 * partitions.
 */
export async function readTables(
	client: Pick<Client, "query">,
): Promise<Table[]> {
	const { rows } = await client.query<Table>(
		`
		select
			c.relname::text as name,
			array(
				select a.attname::text from pg_attribute a
				where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
				order by a.attnum
			) as columns,
			array(
				select t.relname::text from pg_constraint f
				join pg_class t on t.oid = f.confrelid
				where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid
			) as "refersTo",
			exists (
				select from pg_policies p
				where p.schemaname = 'public' and p.tablename = c.relname and p.cmd = 'SELECT'
					and ${roleName("backup")} = any (p.roles) and p.qual = 'true'
			) as "isReadable",
			exists (
				select from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal
			) as "hasTriggers",
			exists (
				select from pg_policy p where p.polrelid = c.oid and p.polname = 'import'
			) as "isExported"
		from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			and c.relforcerowsecurity and c.relname <> all ($1)
		order by c.relname`,
		[OF_THE_MOMENT],
	);
	return inOrder(rows);
}

function inOrder(tables: Table[]): Table[] {
	const ordered = new Set<Table>();
	const names = new Set(tables.map(({ name }) => name));
	while (ordered.size < tables.length) {
		const done = new Set([...ordered].map(({ name }) => name));
		const next = tables.filter(
			(table) =>
				!ordered.has(table) &&
				table.refersTo.every((name) => done.has(name) || !names.has(name)),
		);
		if (next.length === 0)
			throw new Error(
				"the tables refer to each other in a circle, so they have no order",
			);
		for (const table of next) ordered.add(table);
	}
	return [...ordered];
}

/** Returns a list of quoted column names, such as `"a", "b"`. */
export function columnList(columns: readonly string[]): string {
	return columns.map((column) => escapeIdentifier(column)).join(", ");
}
