import { Client, escapeIdentifier } from "pg";
import { inject, onTestFinished } from "vitest";
import { readMigrations } from "../../src/db/migrate.ts";
import { suffixOf } from "../../src/db/own-roles.ts";
import { DATABASE_ROLES } from "../../src/db/roles.ts";
import { withDatabaseName } from "./database.ts";

/** An empty database on the test's server, with a login of its own that owns it. */
export interface Installation {
	name: string;
	/** The address with which its login connects. The login is not a superuser. */
	url: string;
	/** Returns the address of another database as this one's login. */
	urlOf: (database: string) => string;
}

let made = 0;

/** Connects to a database of the test's server as the superuser. */
export async function asSuperuser<Result>(
	work: (client: Client) => Promise<Result>,
	database?: string,
): Promise<Result> {
	const serverUrl = inject("serverUrl");
	return connected(
		database ? withDatabaseName(serverUrl, database) : serverUrl,
		work,
	);
}

export async function connected<Result>(
	url: string,
	work: (client: Client) => Promise<Result>,
): Promise<Result> {
	const client = new Client({ connectionString: url });
	await client.connect();
	try {
		return await work(client);
	} finally {
		await client.end();
	}
}

/** Makes a login and its database. Both are dropped when the test ends, or when `dropAt` says. */
export async function createInstallation({
	name = `assay_own_${process.pid}_${++made}`,
	mayCreateRoles = true,
	dropAt = (drop: () => Promise<void>): void => onTestFinished(drop),
} = {}): Promise<Installation> {
	const login = `owner_${suffixOf(name)}`;
	await asSuperuser(async (client) => {
		await client.query(
			`create role ${login} login password 'owner-password' ${mayCreateRoles ? "createrole" : ""}`,
		);
		await client.query(
			`create database ${escapeIdentifier(name)} owner ${login}`,
		);
	});
	dropAt(() =>
		asSuperuser(async (client) => {
			const { rows } = await client.query<{ name: string }>(
				`select datname as name from pg_database d join pg_roles r on r.oid = d.datdba where r.rolname = '${login}'`,
			);
			for (const database of rows) {
				await client.query(
					`drop database ${escapeIdentifier(database.name)} with (force)`,
				);
			}
			const { rows: roles } = await client.query<{ name: string }>(
				`select rolname as name from pg_roles where rolname ~ $1`,
				[`^assay_(${DATABASE_ROLES.join("|")})_${suffixOf(name)}(_\\d+)?$`],
			);
			for (const role of roles) await client.query(`drop role ${role.name}`);
			await client.query(`drop role ${login}`);
		}),
	);
	const urlOf = (database: string) => {
		const url = new URL(
			withDatabaseName(inject("serverUrl"), encodeURIComponent(database)),
		);
		url.username = login;
		url.password = "owner-password";
		return url.href;
	};
	return { name, url: urlOf(name), urlOf };
}

/** A database whose owner is no superuser. */
export interface OwnedDatabase {
	/** The address with which the owner connects. */
	url: string;
	/** The address for a superuser, whom row-level security does not bind. */
	look: string;
}

/** Returns the addresses of a database that the login of this installation owns. */
export function ownedBy({ urlOf }: Installation, name: string): OwnedDatabase {
	return {
		url: urlOf(name),
		look: withDatabaseName(inject("serverUrl"), name),
	};
}

/**
 * Copies the database of an installation for the same login. The copy is dropped when the test ends.
 * This takes a tenth of the time in which all migrations are applied.
 */
export async function copyInstallation(
	installation: Installation,
): Promise<OwnedDatabase> {
	const copy = `${installation.name}_copy_${++made}`;
	const login = new URL(installation.url).username;
	await asSuperuser((client) =>
		client.query(
			`create database ${copy} owner ${login} template ${installation.name} strategy file_copy`,
		),
	);
	onTestFinished(() =>
		asSuperuser(async (client) => {
			await client.query(`drop database ${copy} with (force)`);
		}),
	);
	return ownedBy(installation, copy);
}

/** Number of the last migration with the roles that all databases of a server shared. */
export const LAST_SHARED = 22;

/** Sets a database up as the version before its own roles did. */
export async function setUpWithSharedRoles({
	url,
}: Pick<Installation, "url">): Promise<void> {
	const login = new URL(url).username;
	await asSuperuser(async (client) => {
		for (const role of DATABASE_ROLES) {
			await client.query(`
				do $$ begin create role assay_${role} nologin; exception when duplicate_object or unique_violation then null; end $$;
				grant assay_${role} to ${login}`);
		}
	});
	await connected(url, async (client) => {
		await client.query(
			"create table migrations (version integer primary key, name text not null, checksum text not null, applied_at timestamptz not null default now())",
		);
		for (const migration of readMigrations().slice(0, LAST_SHARED)) {
			await client.query(migration.sql);
			await client.query(
				"insert into migrations (version, name, checksum) values ($1, $2, $3)",
				[migration.version, migration.name, migration.checksum],
			);
		}
	});
}
