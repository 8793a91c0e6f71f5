import { Client } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { migrate, readMigrations } from "../../src/db/migrate.ts";
import { suffixOf } from "../../src/db/own-roles.ts";
import { makePool, withTenant } from "../../src/db/pool.ts";
import { DATABASE_ROLES } from "../../src/db/roles.ts";
import { readSeparation, separate } from "../../src/db/separation.ts";
import { makeOrganizationId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { backUp, restore } from "../support/backups.ts";
import {
	createDatabaseForTest,
	createEmptyDatabase,
	nameOfRole,
} from "../support/database.ts";
import {
	asSuperuser,
	connected,
	createInstallation,
	type Installation,
	setUpWithSharedRoles,
} from "../support/installations.ts";

/** Two installations that are set up. The tests that use them leave their rights as they are. */
let first: Installation;
let second: Installation;
beforeAll(async () => {
	first = await setUp({ dropAt: afterAll });
	second = await setUp({ dropAt: afterAll });
});

async function setUp(how?: Parameters<typeof createInstallation>[0]) {
	const installation = await createInstallation(how);
	await migrate({ connectionString: installation.url });
	return installation;
}

function giveUpCreateRole({ url }: Installation): Promise<unknown> {
	return asSuperuser((client) =>
		client.query(`alter role ${new URL(url).username} nocreaterole`),
	);
}

/** Makes an organization as the service would, and returns those that the service then sees. */
async function makeAcme(url: string): Promise<string[]> {
	const pool = makePool({ connectionString: url }, { max: 1 });
	try {
		const id = await createOrganization(pool, "Acme");
		return await withTenant(pool, id, async (client) => {
			const { rows } = await client.query<{ name: string }>(
				"select name from organizations",
			);
			return rows.map(({ name }) => name);
		});
	} finally {
		await pool.end();
	}
}

/** Returns the error's code, or "" for a statement that works. */
async function codeOf(url: string, sql: string): Promise<string> {
	return connected(url, (client) =>
		client.query(sql).then(
			() => "",
			(error: { code: string }) => error.code,
		),
	);
}

function rolesOf(suffix: string): string[] {
	return DATABASE_ROLES.map((role) => `assay_${role}_${suffix}`);
}

const DENIED = "42501";
const TABLES = ["accounts", "users", "organizations", "api_tokens"];

test("two installations on one server are set up, work, and cannot read each other", async () => {
	for (const each of [first, second]) {
		await giveUpCreateRole(each);
		expect(await makeAcme(each.url)).toEqual(["Acme"]);
	}
	for (const [from, to] of [
		[first, second],
		[second, first],
	] as const) {
		const url = from.urlOf(to.name);
		for (const table of TABLES) {
			expect(await codeOf(url, `select from ${table}`), table).toBe(DENIED);
		}
		expect(await codeOf(url, "select has_users()")).toBe(DENIED);
		for (const role of rolesOf(to.name)) {
			expect(await codeOf(url, `set role ${role}`), role).toBe(DENIED);
			expect(await codeOf(url, `grant ${role} to current_user`), role).toBe(
				DENIED,
			);
		}
		// The login's own roles give it no rights there.
		for (const role of rolesOf(from.name)) {
			expect(
				await codeOf(url, `set role ${role}; select from accounts`),
				role,
			).toBe(DENIED);
		}
	}
});

test("an owner without createrole upgrades, backs up and works after set-up", async () => {
	await giveUpCreateRole(first);
	expect(await migrate({ connectionString: first.url })).toEqual([]);
	expect(await makeAcme(first.url)).toEqual(["Acme"]);
	const { rows } = await asSuperuser(
		(client) =>
			client.query(
				"select count(*)::integer as organizations from organizations",
			),
		first.name,
	);
	const backup = await backUp(first.url);
	expect(backup.rows).toMatchObject(rows[0]);
	const { url: copy } = await createDatabaseForTest();
	expect((await restore(copy, backup.file)).rows).toEqual(backup.rows);
});

test("a login that may not create roles gets the statements to run, and uses the roles that they make, in a database of any name, and no role has a name that PostgreSQL would cut", async () => {
	const name = `Prüf "Datenbank" ${process.pid} ${"x".repeat(36)}`;
	expect(suffixOf(name)).toMatch(/^[a-z0-9_]{36}$/);
	expect(suffixOf(`${name}y`)).not.toBe(suffixOf(name));
	for (const role of rolesOf(`${suffixOf(name)}_4294967295`)) {
		expect(Buffer.byteLength(role)).toBeLessThanOrEqual(63);
	}
	const one = await createInstallation({ name, mayCreateRoles: false });
	const message = await migrate({ connectionString: one.url }).then(
		() => "",
		(error: Error) => error.message,
	);
	expect(message).toContain("createrole");
	expect(
		await connected(one.url, (client) =>
			client.query("select from pg_tables where schemaname = 'public'"),
		),
	).toMatchObject({ rowCount: 1 });
	const statements = message.slice(message.indexOf("create role "));
	await asSuperuser((client) => client.query(statements));
	expect(await migrate({ connectionString: one.url })).toHaveLength(
		readMigrations().length,
	);
	expect(await makeAcme(one.url)).toEqual(["Acme"]);
	expect(await connected(one.url, readSeparation)).toMatchObject({
		members: [],
		shared: [],
	});
});

test("an upgrade moves every right to the database's own roles, and processes of the older version continue", async () => {
	const one = await createInstallation();
	await setUpWithSharedRoles(one);
	const id = makeOrganizationId();
	const older = new Client({ connectionString: one.url });
	await older.connect();
	onTestFinished(() => older.end());
	const work = async (client: Client) => {
		await client.query("begin");
		await client.query(
			`select set_config('assay.organization_id', '${id}', true)`,
		);
		const { rows } = await client.query("select name from organizations");
		await client.query("update organizations set name = name || '+'");
		await client.query("select has_organizations()");
		await client.query("commit");
		return rows;
	};
	await older.query("set role assay_app");
	await older.query(
		`begin; select set_config('assay.organization_id', '${id}', true);
		insert into organizations (id, name) values ('${id}', 'Acme'); commit`,
	);
	expect(await work(older)).toEqual([{ name: "Acme" }]);

	await migrate({ connectionString: one.url });
	expect(await work(older)).toEqual([{ name: "Acme+" }]);
	await connected(one.url, async (client) => {
		await client.query("set role assay_app");
		expect(await work(client)).toEqual([{ name: "Acme++" }]);
		expect((await client.query("select from organizations")).rowCount).toBe(0);
		await client.query("set role assay_identity");
		await client.query("select password from accounts");
	});
	expect(await makeAcme(one.url)).toEqual(["Acme"]);

	const plain = async ({ url, name }: Installation) =>
		JSON.stringify(await objects(url)).replaceAll(name, "here");
	expect(await plain(one)).toBe(await plain(second));

	await connected(one.url, separate);
	expect(await codeOf(one.url, "set role assay_app; select from devices")).toBe(
		DENIED,
	);
	await expect(older.query("select from devices")).rejects.toMatchObject({
		code: DENIED,
	});
	expect(await makeAcme(one.url)).toEqual(["Acme"]);
});

/** Returns the rights that the catalogue lists: owners, grants, policies and texts of functions. */
async function objects(url: string): Promise<unknown[]> {
	return connected(url, async (client) => {
		const { rows } = await client.query(`
			select c.relname as name, null as text, pg_get_userbyid(c.relowner)::text as owner, (
				select array_agg(a::text order by a::text) from unnest(c.relacl) a
			) as acl, (
				select jsonb_object_agg(t.attname, (select array_agg(a::text order by a::text) from unnest(t.attacl) a))
				from pg_attribute t where t.attrelid = c.oid and t.attacl is not null
			) as columns, (
				select jsonb_agg(p order by p.policyname) from pg_policies p where p.tablename = c.relname
			) as policies
			from pg_class c where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
			union all
			select p.oid::regprocedure::text, p.prosrc, pg_get_userbyid(p.proowner)::text, (
				select array_agg(a::text order by a::text) from unnest(p.proacl) a
			), null, null
			from pg_proc p where p.pronamespace = 'public'::regnamespace
			order by 1`);
		return rows;
	});
}

test("a login with which the older version shared its roles is named, and `separate` locks it out", async () => {
	const one = await createInstallation();
	const other = await createInstallation();
	await setUpWithSharedRoles(one);
	await setUpWithSharedRoles(other);
	const theft = "set role assay_backup; select from accounts";
	expect(await codeOf(other.urlOf(one.name), theft)).toBe("");
	await migrate({ connectionString: one.url });
	const login = new URL(other.url).username;
	const found = await connected(one.url, readSeparation);
	expect(found.members).toContain(login);
	expect(found.guests).toContain(login);

	await connected(one.url, separate);
	const after = await connected(one.url, readSeparation);
	expect(after).toMatchObject({ shared: [], members: [], guests: [] });
	// It cannot even connect.
	await expect(codeOf(other.urlOf(one.name), theft)).rejects.toMatchObject({
		code: DENIED,
	});
	// The other installation goes on with the shared roles until its own upgrade.
	expect(await codeOf(other.url, theft)).toBe("");
	await migrate({ connectionString: other.url });
	expect(await makeAcme(other.url)).toEqual(["Acme"]);
});

test("the right to connect is taken away only in a database that the login owns", async () => {
	await asSuperuser((client) =>
		client.query(`alter database ${first.name} owner to current_user`),
	);
	onTestFinished(() =>
		asSuperuser(async (client) => {
			await client.query(
				`alter database ${first.name} owner to ${new URL(first.url).username}`,
			);
		}),
	);
	await expect(connected(first.url, separate)).rejects.toMatchObject({
		code: "bad_request",
		message: expect.stringContaining("does not own") as string,
	});
	expect(await connected(first.url, readSeparation)).toMatchObject({
		isOpenToAll: true,
	});
});

test("roles of the same name that belong to somebody else are left alone", async () => {
	// No later test uses this installation.
	const one = first;
	await makeAcme(one.url);
	await asSuperuser(async (client) => {
		const login = new URL(one.url).username;
		await client.query(`alter role ${login} createrole`);
		await client.query(`alter database ${one.name} rename to ${one.name}_was`);
		await client.query(`create database ${one.name} owner ${login}`);
	});
	await migrate({ connectionString: one.url });
	expect(await makeAcme(one.url)).toEqual(["Acme"]);
	expect(await makeAcme(one.urlOf(`${one.name}_was`))).toEqual(["Acme"]);
	const { reached } = await connected(one.url, readSeparation);
	expect(reached).toEqual([]);
});

test("a database that belongs to a superuser is upgraded in the same way", async () => {
	const url = await createEmptyDatabase();
	await setUpWithSharedRoles({ url });
	await migrate({ connectionString: url });
	expect(await makeAcme(url)).toEqual(["Acme"]);
	const database = new URL(url).pathname.slice(1);
	const name = await connected(url, (client) => nameOfRole(client, "app"));
	expect(name).toBe(`assay_app_${database}`);
	// A second time, the roles are there and nothing is left to do.
	expect(await migrate({ connectionString: url })).toEqual([]);
});

test("a pool in a database without Assay's roles fails, and never works as its login", async () => {
	const url = await createEmptyDatabase();
	for (const role of DATABASE_ROLES) {
		const pool = makePool({ connectionString: url }, { max: 1, role });
		await expect(pool.query("select current_user"), role).rejects.toThrow(
			`role "assay_${role} of this database" does not exist`,
		);
		await pool.end();
	}
});
