/**
 * Writes sql/schema.sql, the schema that the migrations produce. With --check it only compares the
 * file with that schema, and fails when they differ. The program needs a superuser of a PostgreSQL
 * 15 in DATABASE_URL, and pg_dump of the same version. Assay supports no version older than 15.
 * Using the same version every time keeps the text independent of the server.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "pg";
import { migrate } from "./migrate.ts";
import { DATABASE_ROLES } from "./roles.ts";

const FILE = join(import.meta.dirname, "../../sql/schema.sql");
const SCRATCH = `assay_schema_${process.pid}`;

/**
 * Removes the lines of a dump that depend on the server's version, the session or the owner, and
 * the name of this database in the names of its roles.
 */
function normalize(dump: string): string {
	const lines = dump
		.split("\n")
		.filter((line) => !/^(--|SET |SELECT pg_catalog|\\)/.test(line));
	return `${lines
		.join("\n")
		.replace(/\n{3,}/g, "\n\n")
		.trim()
		.replaceAll(`_${SCRATCH}`, "")}\n`;
}

const serverUrl = process.env.DATABASE_URL;
if (!serverUrl) {
	console.error("Set DATABASE_URL to a PostgreSQL 15 and its superuser.");
	process.exit(2);
}
const url = new URL(serverUrl);
url.pathname = `/${SCRATCH}`;
const server = new Client({ connectionString: serverUrl });
await server.connect();
let schema: string;
try {
	const { rows } = await server.query<{ major: number }>(
		"select current_setting('server_version_num')::int / 10000 as major",
	);
	if (rows[0]?.major !== 15) {
		console.error(`This is PostgreSQL ${rows[0]?.major}; the dump needs 15.`);
		process.exit(2);
	}
	await server.query(`create database ${SCRATCH}`);
	await migrate({ connectionString: url.href });
	schema = normalize(
		execFileSync("pg_dump", ["--schema-only", "--no-owner", url.href], {
			encoding: "utf8",
		}),
	);
} finally {
	await server.query(`drop database if exists ${SCRATCH} with (force)`);
	await server.query(
		`drop role if exists ${DATABASE_ROLES.map((role) => `assay_${role}_${SCRATCH}`).join(", ")}`,
	);
	await server.end();
}

if (!process.argv.includes("--check")) {
	writeFileSync(FILE, schema);
	console.log(`Wrote ${FILE}.`);
} else if (readFileSync(FILE, "utf8") !== schema) {
	console.error(
		"sql/schema.sql differs from the result of the migrations; run `npm run schema` to write it again",
	);
	process.exit(1);
} else {
	console.log("sql/schema.sql matches the result of the migrations.");
}
