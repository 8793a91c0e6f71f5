import type { QueryConfig } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makePool, transaction } from "../../src/db/pool.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createDatabase();
	await database.owner.query("create table kept (number integer)");
});
afterAll(() => database.drop());

/** Runs a transaction that stores 1 and ends with `lastStatements`, on the connection of a pool. */
async function storeAndEnd(
	lastStatements: readonly QueryConfig[],
	isReadOnly = false,
): Promise<unknown> {
	const pool = makePool(
		{ connectionString: database.url },
		{ max: 1, role: "none" },
	);
	try {
		return await transaction(
			pool,
			{ isReadOnly, lastStatements: () => lastStatements },
			async (client) => {
				if (!isReadOnly) await client.query("insert into kept values (1)");
				return "stored";
			},
		).catch((error: Error) => error.message);
	} finally {
		await pool.end();
	}
}

async function takeKept(): Promise<number[]> {
	const { rows } = await database.owner.query<{ number: number }>(
		"with taken as (delete from kept returning number) select number from taken order by number",
	);
	return rows.map(({ number }) => number);
}

const insert = (number: number | string) => ({
	text: "insert into kept values ($1)",
	values: [number],
});

test("the last statements are committed with the rest of the transaction", async () => {
	expect(await storeAndEnd([insert(2), insert(3)])).toBe("stored");
	expect(await takeKept()).toEqual([1, 2, 3]);
});

test("a last statement that fails leaves nothing behind, and its own error is thrown", async () => {
	const message = await storeAndEnd([insert(2), insert("two"), insert(3)]);
	expect(message).toContain('invalid input syntax for type integer: "two"');
	expect(await takeKept()).toEqual([]);
});

test("a connection that is lost before the commit is an error, and nothing is stored", async () => {
	const message = await storeAndEnd([
		insert(2),
		{ text: "select pg_terminate_backend(pg_backend_pid())" },
		insert(3),
	]);
	expect(message).toMatch(/terminating connection|terminated unexpectedly/);
	expect(await takeKept()).toEqual([]);
});

test("a constraint that is checked by the commit is an error, and nothing is stored", async () => {
	await database.owner.query(
		"create table once (number integer unique deferrable initially deferred)",
	);
	const twice = { text: "insert into once values (1), (1)" };
	expect(await storeAndEnd([insert(2), twice])).toContain(
		"duplicate key value violates unique constraint",
	);
	expect(await takeKept()).toEqual([]);
});

test("a transaction that only reads cannot end with a write", async () => {
	expect(await storeAndEnd([insert(2)], true)).toContain(
		"cannot execute INSERT in a read-only transaction",
	);
	expect(await takeKept()).toEqual([]);
});
