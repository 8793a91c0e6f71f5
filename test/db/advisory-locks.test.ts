import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as locks from "../../src/db/advisory-locks.ts";

test("every advisory lock has a number of its own, also those of functions in sql/", () => {
	const schema = readFileSync(
		new URL("../../sql/schema.sql", import.meta.url),
		"utf8",
	);
	const inSql = new Set(
		[...schema.matchAll(/advisory_(?:xact_)?lock\((\d+)\)/g)].map(
			([, number]) => Number(number),
		),
	);
	expect(inSql.size).toBe(2);
	const all = [...inSql, ...Object.values(locks)];
	expect(new Set(all).size).toBe(all.length);
});
