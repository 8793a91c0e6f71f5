import Fastify from "fastify";
import { expect, test } from "vitest";
import { makePool } from "../../src/db/pool.ts";
import { toAppError } from "../../src/errors.ts";
import { addHealth } from "../../src/http/health.ts";
import { createDatabase } from "../support/database.ts";

test("/health/ready blames the database, and not the load, if it gets no connection", async () => {
	const database = await createDatabase();
	const pool = makePool(
		{ connectionString: database.url },
		{ max: 1, timeLimitFactor: 0.2 },
	);
	const app = Fastify();
	app.setErrorHandler((error, _request, reply) => {
		const { status, message } = toAppError(error);
		return reply.code(status).send({ message });
	});
	addHealth(app, pool, () => false, "name");
	const ready = async () => {
		const answer = await app.inject("/health/ready");
		return { status: answer.statusCode, message: answer.json().message };
	};
	// As if a look at a database that hangs still waited.
	const client = await pool.connect();
	expect(await ready()).toEqual({
		status: 503,
		message: "the service cannot reach its database; retry later",
	});
	client.release();
	expect(await ready()).toMatchObject({ status: 200 });
	await app.close();
	await pool.end();
	await database.drop();
});
