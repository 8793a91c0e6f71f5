import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import {
	type Migration,
	migrate,
	readMigrations,
} from "../../src/db/migrate.ts";
import {
	createDatabaseForTest,
	createEmptyDatabase,
	nameOfRole,
} from "../support/database.ts";

/**
 * While an installation is upgraded, processes of the version before it go on. They use statements
 * that they have prepared, on the schema of the new version.
 */

/** The migrations up to this one are older than the rule. */
const RULED_FROM = 97;

const SOURCES = join(import.meta.dirname, "../../src");

/** The functions that the service's roles may call, and the columns of all tables and views. */
const USED_BY_PROCESSES = `
	select p.oid::regprocedure || ' returns ' || pg_get_function_result(p.oid) as used
	from pg_proc p
	where p.pronamespace = 'public'::regnamespace and exists (
		select from aclexplode(p.proacl) a
		where a.privilege_type = 'EXECUTE' and a.grantee <> p.proowner
	)
	union all
	select format('%s.%s %s', c.relname, a.attname, format_type(a.atttypid, a.atttypmod))
	from pg_attribute a
	join pg_class c on c.oid = a.attrelid
	where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v')
		and a.attnum > 0 and not a.attisdropped`;

async function connect(url: string): Promise<Client> {
	const client = new Client({ connectionString: url });
	await client.connect();
	onTestFinished(() => client.end());
	return client;
}

/** Returns what the migrations take away from processes that run on the database. */
async function lostBy(
	migrations: Migration[],
	{ url, has }: { url: string; has: number },
): Promise<string[]> {
	const client = await connect(url);
	const read = async () => {
		const { rows } = await client.query<{ used: string }>(USED_BY_PROCESSES);
		return new Set(rows.map(({ used }) => used));
	};
	const found: string[] = [];
	let before = await read();
	for (const { version, name } of migrations.slice(has)) {
		await migrate({ connectionString: url }, migrations.slice(0, version));
		const after = await read();
		for (const used of before) {
			if (!after.has(used)) found.push(`${name}: ${used}`);
		}
		before = after;
	}
	return found;
}

test("no migration takes a function or a column away from processes of the version before it", async () => {
	const url = await createEmptyDatabase();
	const migrations = readMigrations();
	await migrate({ connectionString: url }, migrations.slice(0, RULED_FROM));
	expect(await lostBy(migrations, { url, has: RULED_FROM })).toEqual([]);
});

test("a migration that drops a column or changes what a function returns is found", async () => {
	const { url } = await createDatabaseForTest();
	const present = readMigrations();
	const next: Migration = {
		version: present.length + 1,
		name: "next.sql",
		sql: `
			alter table devices drop column agent_version cascade;
			drop function own_sessions();
			create function own_sessions() returns integer language sql as 'select 1';`,
		checksum: "next",
	};
	const lost = await lostBy([...present, next], { url, has: present.length });
	expect(lost.sort()).toEqual([
		"next.sql: devices.agent_version text",
		expect.stringMatching(/^next\.sql: own_sessions\(\) returns TABLE\(/),
	]);
});

test("a process from before the policies of groups stores heartbeats after the upgrade", async () => {
	const connection = { connectionString: await createEmptyDatabase() };
	const before = readMigrations().slice(0, 95);
	await migrate(connection, before);
	const older = await connect(connection.connectionString);
	await older.query(`set role ${await nameOfRole(older as never, "app")}`);
	const beat = () =>
		older.query({
			name: "agent_heartbeat",
			text: "select * from agent_heartbeat($1, $2, $3, $4, $5, $6, $7, $8)",
			values: ["{\\\\x00}", ..."abcdefg"].map((value, at) =>
				at === 0 ? value : `{${value}}`,
			),
			rowMode: "array",
		});
	const { fields } = await beat();
	await migrate(connection);
	const after = await beat();
	expect(after.fields.map(({ name }) => name)).toEqual(
		fields.map(({ name }) => name),
	);
});

test("a prepared statement names the columns that it reads", () => {
	const named = /\bname: "\w+",\s+text:\s*["`]\s*select \*/;
	const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" });
	const found = files
		.filter((path) => path.endsWith(".ts"))
		.filter((path) => named.test(readFileSync(join(SOURCES, path), "utf8")));
	expect(found).toEqual([]);
});
