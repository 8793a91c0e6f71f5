import { Client } from "pg";
import { expect, inject, onTestFinished, test } from "vitest";
import {
	type Migration,
	migrate,
	readMigrationState,
	readMigrations,
} from "../../src/db/migrate.ts";
import {
	createEmptyDatabase,
	dropDatabase,
	withDatabaseName,
} from "../support/database.ts";

async function run(url: string, sql: string): Promise<unknown[]> {
	const client = new Client({ connectionString: url });
	await client.connect();
	try {
		return (await client.query(sql)).rows;
	} finally {
		await client.end();
	}
}

function migration(version: number, sql: string): Migration {
	return {
		version,
		name: `000${version}_test.sql`,
		sql,
		checksum: `checksum of ${sql}`,
	};
}

test("processes that start together on an empty database migrate it once", async () => {
	const url = await createEmptyDatabase();
	const applied = await Promise.all(
		Array.from({ length: 4 }, () => migrate({ connectionString: url })),
	);
	const names = readMigrations().map((one) => one.name);
	expect(applied.filter((list) => list.length > 0)).toEqual([names]);
	expect(
		await run(url, "select name from migrations order by version"),
	).toEqual(names.map((name) => ({ name })));
});

test("a failing migration leaves the database as it was before it", async () => {
	const url = await createEmptyDatabase();
	const good = migration(1, "create table first (id int)");
	const bad = migration(2, "create table second (id int); select 1 / 0");
	await expect(migrate({ connectionString: url }, [good, bad])).rejects.toThrow(
		"division by zero",
	);
	expect(
		await run(
			url,
			"select to_regclass('first') is not null as first, to_regclass('second') is not null as second",
		),
	).toEqual([{ first: true, second: false }]);
	const mended = migration(2, "create table second (id int)");
	expect(await migrate({ connectionString: url }, [good, mended])).toEqual([
		mended.name,
	]);
});

test("a database of a newer version is rejected and not changed", async () => {
	const url = await createEmptyDatabase();
	const all = [migration(1, "select 1"), migration(2, "select 2")];
	await migrate({ connectionString: url }, all);
	await expect(
		migrate({ connectionString: url }, all.slice(0, 1)),
	).rejects.toMatchObject({
		code: "bad_request",
		message: expect.stringContaining("newer version") as string,
	});
});

test("a migration that changed after it was applied is rejected", async () => {
	const url = await createEmptyDatabase();
	await migrate({ connectionString: url }, [migration(1, "select 1")]);
	await expect(
		migrate({ connectionString: url }, [migration(1, "select 2")]),
	).rejects.toMatchObject({ code: "bad_request" });
});

test("the state lists which migrations have been applied and which have not", async () => {
	const url = await createEmptyDatabase();
	const all = [migration(1, "select 1"), migration(2, "select 2")];
	const client = new Client({ connectionString: url });
	await client.connect();
	expect(await readMigrationState(client, all)).toEqual({
		applied: [],
		pending: ["0001_test.sql", "0002_test.sql"],
	});
	await migrate({ connectionString: url }, all.slice(0, 1));
	expect(await readMigrationState(client, all)).toEqual({
		applied: ["0001_test.sql"],
		pending: ["0002_test.sql"],
	});
	await client.end();
});

/**
 * Creates a database whose owner is not a superuser. Returns its address for the owner and for a
 * superuser.
 */
async function makeOwned(
	suffix: string,
): Promise<{ asOwner: string; asSuperuser: string }> {
	const server = inject("serverUrl");
	const name = `assay_owner_${suffix}_${process.pid}`;
	await run(
		server,
		`create role ${name} login createrole password 'owner-password'`,
	);
	await run(server, `create database ${name} owner ${name}`);
	onTestFinished(async () => {
		const client = new Client({ connectionString: server });
		await client.connect();
		await dropDatabase(client, name);
		await client.query(`drop role ${name}`);
		await client.end();
	});
	const url = new URL(withDatabaseName(server, name));
	const asSuperuser = url.href;
	url.username = name;
	url.password = "owner-password";
	return { asOwner: url.href, asSuperuser };
}

test("an owner without superuser rights can set up the database, and the service is still restricted", async () => {
	const { asOwner } = await makeOwned("set_up");
	const applied = await migrate({ connectionString: asOwner });
	expect(applied).toEqual(readMigrations().map((one) => one.name));
});

test("the migration distinguishes organizations that users have created from those of the operator, whoever runs it", async () => {
	const { asOwner, asSuperuser } = await makeOwned("earlier");
	const connection = { connectionString: asOwner };
	const before = readMigrations().findIndex(({ name }) =>
		name.includes("invitation_mails"),
	);
	await migrate(connection, readMigrations().slice(0, before));
	for (const [letter, operation, kind] of [
		["a", "setUp", "USER"],
		["b", "createOrganization", "SYSTEM"],
		["c", "createOrganization", "USER"],
	]) {
		const id = `repeat('${letter}', 32)`;
		await run(
			asSuperuser,
			`insert into organizations (id, name) values (${id}, '${letter}');
			insert into audit_entries (organization_id, sequence, at, actor_kind, actor_name, operation, outcome, previous_hash, hash)
			values (${id}, 1, now(), '${kind}', 'x', '${operation}', 'DONE', '', sha256('x'))`,
		);
	}
	await migrate(connection, readMigrations().slice(0, before + 1));
	expect(
		await run(
			asSuperuser,
			"select name, made_by_user from organizations order by name",
		),
	).toEqual([
		{ name: "a", made_by_user: false },
		{ name: "b", made_by_user: false },
		{ name: "c", made_by_user: true },
	]);
});

test("the error tells a user without the rights to set up the database which ones are missing", async () => {
	const server = inject("serverUrl");
	const name = `assay_guest_${process.pid}`;
	await run(server, `create role ${name} login password 'guest-password'`);
	await run(server, `create database ${name}`);
	onTestFinished(async () => {
		await run(server, `drop database ${name} with (force)`);
		await run(server, `drop role ${name}`);
	});
	const url = new URL(withDatabaseName(server, name));
	url.username = name;
	url.password = "guest-password";
	const refused = migrate({ connectionString: url.href });
	await expect(refused).rejects.toMatchObject({ code: "bad_request" });
	await expect(refused).rejects.toThrow(/the owner of the database/);
	await expect(refused).rejects.not.toThrow(/guest-password/);
});
