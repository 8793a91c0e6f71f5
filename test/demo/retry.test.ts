import { Pool } from "pg";
import { expect, onTestFinished, test } from "vitest";
import {
	explainEnd,
	retryWhileBusy,
	tellWaiting,
} from "../../src/demo/retry.ts";
import { AppError, overloaded } from "../../src/errors.ts";
import { createDatabaseForTest, survives } from "../support/database.ts";

const PAUSE_MS = 1;

test("what is overloaded is tried again until it succeeds", async () => {
	const { url } = await createDatabaseForTest();
	const pool = survives(
		new Pool({
			connectionString: url,
			max: 1,
			connectionTimeoutMillis: 100,
		}),
	);
	onTestFinished(() => pool.end());
	const held = await pool.connect();
	let attempts = 0;
	const answer = await retryWhileBusy(async () => {
		attempts++;
		if (attempts === 1) throw overloaded();
		if (attempts === 3) held.release();
		// In the second attempt, no connection is free.
		return (await pool.query("select 'done' as answer")).rows;
	}, PAUSE_MS);
	expect(answer).toEqual([{ answer: "done" }]);
	expect(attempts).toBe(3);
});

test.each([
	["a refusal", new AppError("bad_request", "the name is taken")],
	["an error in the code", new TypeError("x is undefined")],
	["a full disk", Object.assign(new Error("no space"), { code: "53100" })],
])("%s is not tried again", async (_, error) => {
	let attempts = 0;
	const attempt = retryWhileBusy(async () => {
		attempts++;
		throw error;
	}, PAUSE_MS);
	await expect(attempt).rejects.toBe(error);
	expect(attempts).toBe(1);
});

test("a wait says what it waits for until it ends", async () => {
	const isTold = Promise.withResolvers<string>();
	const answer = await tellWaiting(
		"PostgreSQL to start",
		isTold.resolve,
		() => isTold.promise,
		PAUSE_MS,
	);
	expect(answer).toContain("still waiting for PostgreSQL to start");
});

test("a demonstration whose PostgreSQL does not answer says that the machine may be busy, and nothing of networks", () => {
	const end = explainEnd(new Error("timeout expired")) as AppError;
	expect(end.message).toContain("this machine may be busy");
	expect(end.message).not.toMatch(/firewall|DATABASE_URL/);
	const other = new TypeError("x is undefined");
	expect(explainEnd(other)).toBe(other);
});
