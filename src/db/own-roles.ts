import { createHash } from "node:crypto";
import { type Client, escapeIdentifier } from "pg";
import { AppError } from "../errors.ts";
import type { Migration } from "./migrate.ts";
import { DATABASE_ROLES, type DatabaseRole, roleName } from "./roles.ts";
import { INSUFFICIENT_PRIVILEGE } from "./sqlstate.ts";

/**
 * Number of the migration that moves everything from the roles that all databases shared to the
 * database's own roles.
 */
const MOVES_TO_OWN_ROLES = 23;
const SET_OPTION_VERSION = 160_000;
/** Leaves room in PostgreSQL's 63 bytes for "assay_identity_", an underscore and an OID. */
const MAX_SUFFIX = 36;
/**
 * A name that may stand in SQL without quotes. Anything else never gets into a migration's text.
 */
const PLAIN = /^[a-z_][a-z0-9_]{0,62}$/;

type Names = Record<DatabaseRole, string>;

export interface RolePlan {
	/** The names that the roles have when all migrations are applied. */
	own: Names;
	/** The names that migrations before MOVES_TO_OWN_ROLES work with. */
	before: Names;
	/** Statements that make the missing roles and let the login act as them. */
	statements: string[];
}

interface Facts {
	login: string;
	database: string;
	oid: string;
	isSuperuser: boolean;
	mayCreateRoles: boolean;
	version: number;
	/** The roles that have rights in the database already. */
	known: Partial<Names>;
}

/**
 * Returns what the migrations need before they can run. The roles of a database are named after it:
 * `assay_app_<database>`. When these names are taken, for example by a database that was renamed,
 * the database's OID is added.
 */
export async function planRoles(
	client: Client,
	migrations: Migration[],
): Promise<RolePlan> {
	const facts = await readFacts(client);
	const { known } = facts;
	const isOwn = (role: DatabaseRole) =>
		known[role] !== undefined && known[role] !== sharedName(role);
	const suffix = known.app?.startsWith("assay_app_")
		? known.app.slice("assay_app_".length)
		: await chooseSuffix(client, facts);
	const own = named((role) =>
		isOwn(role) ? known[role] : `${sharedName(role)}_${suffix}`,
	);
	const before = named((role) => known[role] ?? own[role]);
	const needed = DATABASE_ROLES.filter((role) =>
		migrations.some(({ sql }) => mentions(sql, role)),
	);
	const statements = await listStatements(client, facts, own, needed);
	return { own, before, statements };
}

/**
 * Makes the roles that the migrations need, if the login may. Throws a bad_request AppError with
 * the statements for an administrator otherwise.
 */
export async function makeRoles(
	client: Client,
	migrations: Migration[],
): Promise<RolePlan> {
	const plan = await planRoles(client, migrations);
	try {
		// One text with several statements is one transaction, unless the caller has opened one.
		if (plan.statements.length > 0) {
			await client.query(plan.statements.join("\n"));
		}
	} catch (error) {
		if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE) {
			throw error;
		}
		throw new AppError(
			"bad_request",
			`the user in DATABASE_URL may not make the roles of this database (${(error as Error).message}); ${howToHelp(plan)}`,
			{ cause: error },
		);
	}
	return plan;
}

/** Returns the advice for an administrator, with the statements to run. */
export function howToHelp({ statements }: RolePlan): string {
	return `let it create roles for this time (alter role … createrole), or run as an administrator: ${statements.join(" ")}`;
}

/** Returns the text of a migration with the names of this database's roles. */
export function withOwnRoles(migration: Migration, plan: RolePlan): string {
	const names = migration.version < MOVES_TO_OWN_ROLES ? plan.before : plan.own;
	let { sql } = migration;
	for (const role of DATABASE_ROLES) {
		sql = sql.replace(pattern(role), () => requirePlain(names[role]));
	}
	return sql;
}

/** Returns the name that all databases of a server shared before each had roles of its own. */
export function sharedName(role: DatabaseRole): string {
	return `assay_${role}`;
}

/** Returns the suffix that a database of this name gives to its roles. */
export function suffixOf(database: string): string {
	if (new RegExp(`^[a-z0-9_]{1,${MAX_SUFFIX}}$`).test(database)) {
		return database;
	}
	const readable = database.toLowerCase().replace(/[^a-z0-9_]/g, "_");
	const hash = createHash("sha256").update(database).digest("hex");
	return `${readable.slice(0, MAX_SUFFIX - 17)}_${hash.slice(0, 16)}`;
}

function pattern(role: DatabaseRole): RegExp {
	const name = sharedName(role);
	return new RegExp(`\\b${name}\\b`, "g");
}

function mentions(sql: string, role: DatabaseRole): boolean {
	return pattern(role).test(sql);
}

function requirePlain(name: string): string {
	if (PLAIN.test(name)) return name;
	throw new AppError(
		"bad_request",
		`the role "${name}" has rights in this database, but a role of Assay may be named only with a-z, 0-9 and _; rename it`,
	);
}

function named(nameOf: (role: DatabaseRole) => string | undefined): Names {
	return Object.fromEntries(
		DATABASE_ROLES.map((role) => [role, nameOf(role)]),
	) as Names;
}

async function readFacts(client: Client): Promise<Facts> {
	const { rows } = await client.query<Facts>(`
		select
			r.rolname::text as login, d.datname::text as database, d.oid::text as oid,
			r.rolsuper as "isSuperuser", r.rolcreaterole as "mayCreateRoles",
			current_setting('server_version_num')::integer as version,
			jsonb_strip_nulls(jsonb_build_object(${DATABASE_ROLES.map((role) => `'${role}', ${roleName(role)}`).join(", ")})) as known
		from pg_roles r, pg_database d
		where r.rolname = current_user and d.datname = current_database()`);
	const [facts] = rows;
	if (!facts)
		throw new Error("the query for the roles of the database returned no row");
	return facts;
}

/**
 * Returns the end of the roles' names. A script may have made the roles for this login beforehand.
 * Roles that the login may not use, or that another database uses, belong to somebody else.
 */
async function chooseSuffix(client: Client, facts: Facts): Promise<string> {
	const suffix = suffixOf(facts.database);
	const { rows } = await client.query<{ isTaken: boolean }>(
		`
		select exists (
			select from pg_roles r
			where r.rolname = any ($1) and (
				not exists (
					select from pg_auth_members m
					where m.roleid = r.oid and pg_has_role(current_user, m.member, 'member')
						and ($2 = false or m.member = quote_ident(current_user)::regrole)
				)
				or exists (
					select from pg_shdepend s
					where s.refclassid = 'pg_authid'::regclass and s.refobjid = r.oid and s.dbid not in (0, $3)
				)
			)
		) as "isTaken"`,
		[
			DATABASE_ROLES.map((role) => `${sharedName(role)}_${suffix}`),
			facts.isSuperuser,
			facts.oid,
		],
	);
	return rows[0]?.isTaken ? `${suffix}_${facts.oid}` : suffix;
}

async function listStatements(
	client: Client,
	facts: Facts,
	own: Names,
	needed: DatabaseRole[],
): Promise<string[]> {
	const hasSetOption = facts.version >= SET_OPTION_VERSION;
	const { rows } = await client.query<{ name: string; mayAct: boolean }>(
		`select r.rolname::text as name, pg_has_role(r.oid, $2) and (not $3 or exists (
			select from pg_auth_members m where m.roleid = r.oid and m.member = quote_ident(current_user)::regrole
		)) as "mayAct"
		from pg_roles r where r.rolname = any ($1)`,
		[Object.values(own), hasSetOption ? "set" : "member", facts.isSuperuser],
	);
	const found = new Map(rows.map(({ name, mayAct }) => [name, mayAct]));
	// Since PostgreSQL 16, the login that creates a role has the admin option on it.
	const isAdministrator =
		hasSetOption && facts.mayCreateRoles && !facts.isSuperuser;
	const login = escapeIdentifier(facts.login);
	const statements: string[] = [];
	for (const role of needed) {
		const name = requirePlain(own[role]);
		if (!found.has(name)) statements.push(`create role ${name} nologin;`);
		if (found.get(name) !== true) {
			statements.push(
				`grant ${name} to ${login}${isAdministrator ? "" : " with admin option"};`,
			);
		}
	}
	statements.push(...(await listBridges(client, facts.known, own)));
	return statements;
}

/**
 * Returns the grants that let processes of an older version continue. They act as the shared roles,
 * which keep their rights as members of the database's own roles.
 */
async function listBridges(
	client: Client,
	known: Partial<Names>,
	own: Names,
): Promise<string[]> {
	const shared = DATABASE_ROLES.filter(
		(role) => known[role] === sharedName(role),
	);
	const { rows } = await client.query<{ own: string; shared: string }>(
		`select * from unnest($1::text[], $2::text[]) as pair (own, shared)
		where not exists (
			select from pg_auth_members m
			where m.roleid = (select oid from pg_roles where rolname = pair.own)
				and m.member = (select oid from pg_roles where rolname = pair.shared)
		)`,
		[shared.map((role) => own[role]), shared.map(sharedName)],
	);
	return rows.map((pair) => `grant ${pair.own} to ${pair.shared};`);
}
