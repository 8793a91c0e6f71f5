import { setTimeout as sleep } from "node:timers/promises";
import { Client, Pool } from "pg";
import { inject, onTestFinished } from "vitest";
import { makePool } from "../../src/db/pool.ts";
import {
	DATABASE_ROLES,
	type DatabaseRole,
	roleName,
} from "../../src/db/roles.ts";

/** Returns the address of another database on the same server. */
export function withDatabaseName(serverUrl: string, name: string): string {
	const url = new URL(serverUrl);
	url.pathname = `/${name}`;
	return url.href;
}

export interface TestDatabase {
	name: string;
	url: string;
	/** Connects as the service's role, which row-level security restricts. */
	pool: Pool;
	/** Connects as the owner, who is a superuser on the test server and sees everything. */
	owner: Pool;
	/** Ends the connections, so that `createDatabase` can copy the database. */
	disconnect: () => Promise<void>;
	drop: () => Promise<void>;
}

let made = 0;
let server: Pool | undefined;

/**
 * Runs a statement on the server of the tests. The files of a process share the connections, which
 * end with the process.
 */
async function onServer(
	statement: string,
): Promise<{ rows: Record<string, unknown>[] }> {
	server ??= survives(
		new Pool({
			connectionString: inject("serverUrl"),
			max: 2,
			idleTimeoutMillis: 0,
		}),
	);
	return server.query(statement);
}

const LOOKS = 200;
const LOOK_MS = 5;

/** Waits a little until a database has no sessions. A pool ends before the server closes them. */
async function waitForSessions(name: string): Promise<void> {
	for (let look = 0; look < LOOKS; look++) {
		const { rows } = await onServer(
			`select from pg_stat_activity where datname = '${name}' limit 1`,
		);
		if (rows.length === 0) break;
		await sleep(LOOK_MS);
	}
}

/** Lets a pool survive that the server closes a connection, also one that is just ending. */
export function survives(pool: Pool): Pool {
	pool.on("error", () => {});
	pool.on("connect", (client) => client.on("error", () => {}));
	return pool;
}

/** The names of the databases that are dropped after the run begin with this. */
export const SHARED = "assay_shared_";

/**
 * Creates a migrated database, or a copy of another one. The caller has to drop it, unless it is
 * shared.
 */
export async function createDatabase(
	prefix = "assay_test_",
	template = inject("template"),
): Promise<TestDatabase> {
	const name = `${prefix}${process.pid}_${++made}`;
	// By default, PostgreSQL would also write the copy to the write-ahead log, which is twice the
	// work.
	await onServer(
		`create database ${name} template ${template} strategy file_copy`,
	);
	const url = withDatabaseName(inject("serverUrl"), name);
	const owner = survives(new Pool({ connectionString: url, max: 2 }));
	const pool = makePool({ connectionString: url }, { max: 8 });
	const end = async () => {
		await pool.end();
		await owner.end();
		// A client that is ended by force just now has no listener any more, and its error would end
		// the process.
		await waitForSessions(name);
	};
	let ended: Promise<void> | undefined;
	const disconnect = () => {
		ended ??= end();
		return ended;
	};
	return {
		name,
		url,
		pool,
		owner,
		disconnect,
		drop: async () => {
			await disconnect();
			await onServer(`drop database ${name} with (force)`);
		},
	};
}

let shared: Promise<TestDatabase> | undefined;

/**
 * Returns the migrated database that files of this process share. A file may use it if it makes
 * organizations of its own, looks only at these, and changes nothing but their rows. The database is
 * dropped after the run.
 */
export function shareDatabase(): Promise<TestDatabase> {
	shared ??= createDatabase(SHARED);
	return shared;
}

/** Returns the name that a role has in this database. */
export async function nameOfRole(
	database: Pick<Pool, "query">,
	role: DatabaseRole,
): Promise<string> {
	const { rows } = await database.query<{ name: string }>(
		`select ${roleName(role)} as name`,
	);
	return rows[0]?.name as string;
}

/** Drops a database and the roles that were made for it. */
export async function dropDatabase(
	client: Pick<Client, "query">,
	name: string,
): Promise<void> {
	const roles = DATABASE_ROLES.map((role) => `assay_${role}_${name}`);
	await client.query(`drop database ${name} with (force)`);
	await client.query(`drop role if exists ${roles.join(", ")}`);
}

/**
 * Creates an empty database and returns its address. The database is dropped when the test ends.
 */
export async function createEmptyDatabase(): Promise<string> {
	const name = `assay_empty_${process.pid}_${++made}`;
	const withClient = async (work: (client: Client) => Promise<unknown>) => {
		const client = new Client({ connectionString: inject("serverUrl") });
		await client.connect();
		await work(client);
		await client.end();
	};
	await withClient((client) => client.query(`create database ${name}`));
	onTestFinished(() => withClient((client) => dropDatabase(client, name)));
	return withDatabaseName(inject("serverUrl"), name);
}

/** Creates a migrated database, which is dropped when the test ends. */
export async function createDatabaseForTest(): Promise<TestDatabase> {
	const database = await createDatabase();
	onTestFinished(() => database.drop());
	return database;
}
