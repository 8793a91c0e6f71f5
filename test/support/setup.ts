import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Client } from "pg";
import type { TestProject } from "vitest/node";
import { ensureConsole } from "../../console/ensure-build.ts";
import { openEmbeddedPostgres } from "../../src/db/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { dropDatabase, SHARED, withDatabaseName } from "./database.ts";
import { makeFolder, makeRunFolder } from "./folder.ts";

declare module "vitest" {
	interface ProvidedContext {
		/** The address of the server's maintenance database, as its owner. */
		serverUrl: string;
		/** The name of a migrated database that the tests copy. */
		template: string;
		/** The folder that holds all temporary files of the run. */
		runFolder: string;
	}
}

/** The folder of the code that Node has compiled in earlier runs. */
const COMPILED = join(import.meta.dirname, "../../node_modules/.cache/tests");

/**
 * Starts one PostgreSQL for the whole run, or uses the one in DATABASE_URL, and creates a migrated
 * template that every test file copies. fsync stays on. The console is built first, because
 * otherwise each test that starts the real program would wait for the build.
 */
export default async function setup(project: TestProject) {
	await ensureConsole(say);
	// The workers and the programs that they start inherit this. Each loads a thousand files, and the
	// cache saves more than a second of processor time.
	process.env.NODE_COMPILE_CACHE ??= COMPILED;
	const folder = await makeRunFolder();
	project.provide("runFolder", folder.path);
	const server = process.env.DATABASE_URL
		? { url: process.env.DATABASE_URL, close: async () => {} }
		: await startEmbedded();
	// The tests choose their databases themselves.
	delete process.env.DATABASE_URL;
	const template = `assay_template_${process.pid}`;
	await run(server.url, (client) =>
		client.query(`create database ${template}`),
	);
	const templateUrl = withDatabaseName(server.url, template);
	await migrate({ connectionString: templateUrl });
	await run(templateUrl, (client) =>
		client.query("select ensure_posture_report_partitions()"),
	);
	project.provide("serverUrl", server.url);
	project.provide("template", template);
	return async () => {
		await run(server.url, async (client) => {
			await dropCopies(client, template);
			await dropDatabase(client, template);
		});
		await server.close();
		await folder.remove();
	};
}

/**
 * Drops the copies of the template that files have shared or failed tests have left. They use its
 * roles, which otherwise could not be dropped.
 */
async function dropCopies(client: Client, template: string): Promise<void> {
	const { rows } = await client.query<{ name: string }>(
		`select distinct d.datname as name
		from pg_shdepend s
		join pg_database d on d.oid = s.dbid
		join pg_roles r on r.oid = s.refobjid
		where s.refclassid = 'pg_authid'::regclass and d.datname <> $1
			and right(r.rolname, length($1) + 1) = '_' || $1`,
		[template],
	);
	for (const { name } of rows) {
		if (!name.startsWith(SHARED)) {
			say(`Dropping ${name}, which a test left.`);
		}
		await client.query(`drop database "${name}" with (force)`);
	}
}

function say(line: string): void {
	process.stdout.write(`${line}\n`);
}

async function run(
	url: string,
	work: (client: Client) => Promise<unknown>,
): Promise<void> {
	const client = new Client({ connectionString: url });
	await client.connect();
	await work(client);
	await client.end();
}

/**
 * Lets the owner connect without a password. Each of the thousands of connections of the tests would
 * otherwise hash it 4096 times on both sides. Only the user who runs the tests reaches the socket.
 */
async function trustOwner(client: Client): Promise<void> {
	const { rows } = await client.query("show hba_file");
	const file = rows[0].hba_file;
	const rules = await readFile(file, "utf8");
	await writeFile(file, `local all ${client.user} trust\n${rules}`);
	await client.query("select pg_reload_conf()");
}

/** Memory that glibc takes from the system at once and keeps for later, in bytes. */
const KEPT_MEMORY = 4 * 1024 * 1024;

/** Six processes each keep the pools of several services open. */
const MAX_CONNECTIONS = 400;

async function startEmbedded() {
	// PostgreSQL frees the memory of each plan. glibc would return it to the system and fetch it again
	// for the next one, a page at a time, which took a sixth of the time of planning.
	process.env.MALLOC_TOP_PAD_ ??= String(KEPT_MEMORY);
	const folder = await makeFolder("assay-test-");
	const postgres = await openEmbeddedPostgres(join(folder, "data"), {
		maxConnections: MAX_CONNECTIONS,
	});
	const { host, port, user, password, database } = postgres.connection;
	const url = new URL(`postgres://localhost:${port}/${database}`);
	url.username = user;
	url.password = password;
	url.searchParams.set("host", host);
	await run(url.href, trustOwner);
	return {
		url: url.href,
		close: async () => {
			await postgres.close();
			await rm(folder, { recursive: true, force: true });
		},
	};
}
