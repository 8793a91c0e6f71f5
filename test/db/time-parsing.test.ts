import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makePool } from "../../src/db/pool.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createDatabase();
});
afterAll(() => database.drop());

async function readTimes(texts: string[]): Promise<unknown[]> {
	const { rows } = await database.pool.query<{ time: unknown }>(
		"select time from unnest($1::timestamptz[]) time",
		[texts],
	);
	return rows.map(({ time }) => time);
}

/**
 * Generates times up to the latest one that an agent can send. With an offset, the last minute of
 * 9999 lies in the year 10000.
 */
const dates = fc.date({
	min: new Date("0001-01-01T00:00:00.000Z"),
	max: new Date("+010000-01-02T00:00:00.000Z"),
	noInvalidDate: true,
});
/**
 * Generates times with round fractions, because PostgreSQL omits zeros at the end of a fraction and
 * a fraction of zero.
 */
const round = fc
	.tuple(fc.nat({ max: 2 ** 31 }), fc.constantFrom(0, 100, 120, 500))
	.map(([second, millisecond]) => new Date(second * 1000 + millisecond));
const microseconds = fc.oneof(fc.constant(0), fc.nat({ max: 999 }));

test("a time is read as an RFC 3339 time in UTC and truncated to milliseconds", async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(fc.tuple(fc.oneof(dates, round), microseconds), {
				minLength: 1,
				maxLength: 50,
			}),
			async (moments) => {
				const texts = moments.map(([date, rest]) =>
					date
						.toISOString()
						.replace(/^\+0/, "")
						.replace("Z", `${String(rest).padStart(3, "0")}Z`),
				);
				expect(await readTimes(texts)).toEqual(
					moments.map(([date]) => date.toISOString()),
				);
			},
		),
		{ numRuns: 200 },
	);
});

test("infinity and times outside the years 1 to 9999 keep their value", async () => {
	expect(
		await readTimes([
			"infinity",
			"-infinity",
			"0044-03-15T12:00:00Z BC",
			"294276-12-31T00:00:00Z",
		]),
	).toEqual([
		"infinity",
		"-infinity",
		"-000043-03-15T12:00:00.000Z",
		"294276-12-31 00:00:00+00",
	]);
});

test("times are the same if the database prints them in another style and time zone", async () => {
	const { rows: names } = await database.owner.query(
		"select current_database() as name",
	);
	const name = names[0]?.name;
	await database.owner.query(
		`alter database ${name} set datestyle = 'SQL, DMY'`,
	);
	await database.owner.query(
		`alter database ${name} set timezone = 'Asia/Tokyo'`,
	);
	const pool = makePool({ connectionString: database.url }, { max: 1 });
	const { rows } = await pool.query(
		"select '2026-11-21T16:28:23.1Z'::timestamptz as time",
	);
	await pool.end();
	expect(rows[0]?.time).toBe("2026-11-21T16:28:23.100Z");
});

test("better-auth's pool reads times as Date, and both pools read dates as text", async () => {
	const pool = makePool(
		{ connectionString: database.url },
		{ max: 1, role: "identity", times: "Date" },
	);
	const text =
		"select '2026-11-21T16:28:23.1Z'::timestamptz as time, '2026-11-21'::date as day";
	const { rows } = await pool.query(text);
	await pool.end();
	expect(rows[0]).toEqual({
		time: new Date("2026-11-21T16:28:23.100Z"),
		day: "2026-11-21",
	});
	const { rows: asText } = await database.pool.query(text);
	expect(asText[0]).toEqual({
		time: "2026-11-21T16:28:23.100Z",
		day: "2026-11-21",
	});
});
