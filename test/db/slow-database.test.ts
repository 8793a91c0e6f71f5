import { createServer } from "node:net";
import { Client, Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { connectionAdvice } from "../../src/db/connection-advice.ts";
import { createDatabaseForTest, survives } from "../support/database.ts";

/** Returns the error that `attempt` rejects with. */
const errorOf = (attempt: Promise<unknown>): Promise<unknown> =>
	attempt.then(
		() => undefined,
		(error) => error,
	);

test("a slow database is not blamed on a firewall", async () => {
	const { url: connectionString } = await createDatabaseForTest();
	const pool = survives(
		new Pool({
			connectionString,
			max: 1,
			connectionTimeoutMillis: 500,
		}),
	);
	onTestFinished(() => pool.end());
	const client = await pool.connect();
	const slow = { text: "select pg_sleep(0.5)", query_timeout: 1 };
	const errors = [
		// No connection became free, the server gave up, and the client gave up.
		await errorOf(pool.connect()),
		await errorOf(
			client.query("set statement_timeout to '1ms'; select pg_sleep(10)"),
		),
		await errorOf(client.query(slow)),
	];
	client.release(true);
	for (const error of errors) {
		expect(error).toBeInstanceOf(Error);
		expect(connectionAdvice(error)).toMatch(/busy/);
		expect(connectionAdvice(error)).not.toMatch(/firewall/);
	}
});

test("a server that answers no new connection may be busy or behind a firewall", async () => {
	const silent = createServer(() => {});
	await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
	onTestFinished(() => void silent.close());
	const { port } = silent.address() as { port: number };
	const client = new Client({
		host: "127.0.0.1",
		port,
		connectionTimeoutMillis: 50,
	});
	client.on("error", () => {});
	const advice = connectionAdvice(await errorOf(client.connect()));
	expect(advice).toMatch(/busy/);
	expect(advice).toMatch(/firewall/);
});
