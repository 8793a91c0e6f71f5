import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { byteaArray, textArray } from "../../src/db/array.ts";
import { anyUnicode } from "../support/any-unicode.ts";
import { shareDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await shareDatabase();
});

/** Generates text that PostgreSQL can store, without U+0000. */
const storable = anyUnicode().map((text) => text.replaceAll("\0", ""));

test("any texts and nulls arrive unchanged", async () => {
	const awkward = [
		"",
		"NULL",
		"null",
		'"',
		"\\",
		"{a,b}",
		" a ",
		"\n",
		'a"\\"b',
	];
	await fc.assert(
		fc.asyncProperty(
			fc.array(
				fc.oneof(storable, fc.constant(null), fc.constantFrom(...awkward)),
			),
			async (values) => {
				const { rows } = await database.pool.query<{ back: unknown }>(
					"select $1::text[] as back",
					[textArray(values)],
				);
				expect(rows[0]?.back).toEqual(values);
			},
		),
		{ numRuns: 200 },
	);
});

test("any bytes arrive unchanged", async () => {
	await fc.assert(
		fc.asyncProperty(fc.array(fc.uint8Array()), async (values) => {
			const { rows } = await database.pool.query<{ back: Buffer[] }>(
				"select $1::bytea[] as back",
				[byteaArray(values.map((bytes) => Buffer.from(bytes).toString("hex")))],
			);
			expect(rows[0]?.back.map((bytes) => [...bytes])).toEqual(
				values.map((bytes) => [...bytes]),
			);
		}),
		{ numRuns: 100 },
	);
});
