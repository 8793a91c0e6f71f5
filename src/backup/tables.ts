import { type Client, escapeIdentifier } from "pg";

/**
 * What no backup has: people sign in anew, and a link that was used, or a session that was
 * ended, must not come back. In the same words in sql/0010_backup_retention.sql.
 */
export const OF_THE_MOMENT = [
	"account_links",
	"sessions",
	"sign_in_failures",
	"verifications",
];

export interface Table {
	name: string;
	/** Without generated ones, which the database works out again. */
	columns: string[];
	/** Tables that its foreign keys name. */
	refersTo: string[];
	/** The role assay_backup sees all its rows. */
	isReadable: boolean;
	hasTriggers: boolean;
}

/**
 * The tables that a backup has, as the database itself describes them, each after those it refers
 * to. Ours force row-level security (a test sees to it); others in the schema are none of ours.
 * A partitioned table stands for its partitions.
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
					and 'assay_backup' = any (p.roles) and p.qual = 'true'
			) as "isReadable",
			exists (
				select from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal
			) as "hasTriggers"
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
		if (next.length === 0) throw new Error("tables refer to each other");
		for (const table of next) ordered.add(table);
	}
	return [...ordered];
}

/** `"a", "b"` */
export function columnList(columns: readonly string[]): string {
	return columns.map((column) => escapeIdentifier(column)).join(", ");
}
