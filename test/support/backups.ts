import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { Client } from "pg";
import { onTestFinished } from "vitest";
import type { Manifest, RowCounts } from "../../src/backup/format.ts";
import { type Restored, restoreBackup } from "../../src/backup/restore.ts";
import { type WriteOptions, writeBackup } from "../../src/backup/write.ts";
import { roleName } from "../../src/db/roles.ts";

export interface Backup {
	file: Buffer;
	manifest: Manifest;
	rows: RowCounts;
}

export async function backUp(
	url: string,
	options?: WriteOptions,
): Promise<Backup> {
	const out = new PassThrough();
	const [file, written] = await Promise.all([
		buffer(out),
		writeBackup({ connectionString: url }, out, () => {}, options),
	]);
	return { file, ...written };
}

/** Restores from chunks of any length, as they arrive through a pipe. */
export function restore(
	url: string,
	file: Buffer,
	pieceLength = 1000,
): Promise<Restored> {
	const pieces = function* () {
		for (let at = 0; at < file.length; at += pieceLength) {
			yield file.subarray(at, at + pieceLength);
		}
	};
	return restoreBackup(
		{ connectionString: url },
		Readable.from(pieces()),
		() => {},
	);
}

export async function query<Row extends object>(
	url: string,
	sql: string,
	values: unknown[] = [],
): Promise<Row[]> {
	const client = new Client({ connectionString: url });
	await client.connect();
	try {
		return (await client.query<Row>(sql, values)).rows;
	} finally {
		await client.end();
	}
}

/** Opens a connection, which is closed when the test ends. */
export async function connectTo(url: string): Promise<Client> {
	const client = new Client({ connectionString: url });
	client.on("error", () => {});
	await client.connect();
	onTestFinished(() => client.end());
	return client;
}

/** Returns the rows of every table as text, read as a superuser. Generated columns are included. */
export async function allRows(url: string): Promise<Record<string, string[]>> {
	// One connection serves all tables, because opening a connection takes longer than reading a
	// table.
	const client = new Client({ connectionString: url });
	await client.connect();
	try {
		return await allRowsOf(client);
	} finally {
		await client.end();
	}
}

/** Does the same with a connection of the caller, which keeps the plan of each table. */
export async function allRowsOf(
	client: Client,
): Promise<Record<string, string[]>> {
	const { rows: tables } = await client.query<{ name: string }>(
		`select c.relname as name from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
		order by 1`,
	);
	const all: Record<string, string[]> = {};
	for (const { name } of tables) {
		const { rows } = await client.query<{ row: string }>({
			name: `rows of ${name}`,
			text: `select to_jsonb(t)::text as row from ${name} t order by 1`,
		});
		all[name] = rows.map(({ row }) => row);
	}
	return all;
}

/**
 * Returns what the catalogue contains about tables: columns, policies, triggers, grants, keys and
 * indexes. Roles have the names that they would have in every database.
 */
export async function catalogue(url: string): Promise<unknown[]> {
	const rows = await query<{ app: string }>(
		url,
		`
		select
			${roleName("app")} as app,
			c.relname as table, c.relkind, c.relrowsecurity, c.relforcerowsecurity, c.relispartition,
			c.relacl::text, c.reloptions, pg_get_expr(c.relpartbound, c.oid) as bound,
			array(
				select concat_ws(' ', a.attname, a.atttypid::regtype, a.attnotnull, a.attgenerated, a.attacl, pg_get_expr(d.adbin, d.adrelid))
				from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
				where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped order by a.attnum
			) as columns,
			array(
				select concat_ws(' ', t.tgname, t.tgenabled, pg_get_triggerdef(t.oid)) from pg_trigger t
				where t.tgrelid = c.oid and not t.tgisinternal order by 1
			) as triggers,
			(
				select array_agg(distinct t.tgenabled) from pg_trigger t where t.tgrelid = c.oid and t.tgisinternal
			) as internal_triggers,
			array(
				select p::text from (
					select policyname, roles, cmd, qual, with_check from pg_policies where tablename = c.relname
				) p order by 1
			) as policies,
			array(
				select concat_ws(' ', k.conname, k.convalidated, pg_get_constraintdef(k.oid))
				from pg_constraint k where k.conrelid = c.oid order by 1
			) as keys,
			array(
				select pg_get_indexdef(i.indexrelid) from pg_index i where i.indrelid = c.oid order by 1
			) as indexes
		from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
		order by c.relname`,
	);
	const suffix = rows[0]?.app.slice("assay_app".length) ?? "";
	return JSON.parse(
		JSON.stringify(rows.map(({ app: _, ...row }) => row)).replaceAll(
			suffix,
			"",
		),
	);
}
