import { Client, Pool } from "pg";
import { inject, onTestFinished } from "vitest";
import { makePool } from "../../src/db/pool.ts";

/** The same server address with another database. */
export function withDatabaseName(serverUrl: string, name: string): string {
	const url = new URL(serverUrl);
	url.pathname = `/${name}`;
	return url.href;
}

export interface TestDatabase {
	url: string;
	/** As the service's role, bound by row-level security. */
	pool: Pool;
	/** As the owner, which sees everything on the test server (it is a superuser there). */
	owner: Pool;
	drop: () => Promise<void>;
}

let made = 0;

/** A fresh, migrated database of its own; `drop` it when done. */
export async function createDatabase(): Promise<TestDatabase> {
	const name = `assay_test_${process.pid}_${++made}`;
	const server = new Client({ connectionString: inject("serverUrl") });
	await server.connect();
	// Copied as files: through the write-ahead log, the default, it takes twice the work.
	await server.query(
		`create database ${name} template ${inject("template")} strategy file_copy`,
	);
	await server.end();
	const url = withDatabaseName(inject("serverUrl"), name);
	const owner = new Pool({ connectionString: url, max: 2 });
	owner.on("error", () => {});
	const pool = makePool({ connectionString: url }, { max: 8 });
	await pool.query("select ensure_posture_report_partitions()");
	return {
		url,
		pool,
		owner,
		drop: async () => {
			await pool.end();
			await owner.end();
			const client = new Client({ connectionString: inject("serverUrl") });
			await client.connect();
			await client.query(`drop database ${name} with (force)`);
			await client.end();
		},
	};
}

/** Address of a database with nothing in it, for the present test alone. */
export async function createEmptyDatabase(): Promise<string> {
	const name = `assay_empty_${process.pid}_${++made}`;
	const onServer = async (sql: string) => {
		const client = new Client({ connectionString: inject("serverUrl") });
		await client.connect();
		await client.query(sql);
		await client.end();
	};
	await onServer(`create database ${name}`);
	onTestFinished(() => onServer(`drop database ${name} with (force)`));
	return withDatabaseName(inject("serverUrl"), name);
}

/** A database for the present test alone. */
export async function createDatabaseForTest(): Promise<TestDatabase> {
	const database = await createDatabase();
	onTestFinished(() => database.drop());
	return database;
}
