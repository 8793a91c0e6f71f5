import { expect, test } from "vitest";
import { shareDatabase } from "../support/database.ts";

test("no function with a parsed SQL body uses a table's row type, because the table could get no more columns", async () => {
	const database = await shareDatabase();
	const { rows } = await database.owner.query<{ name: string }>(`
		select p.oid::regprocedure::text as name
		from pg_proc p
		where p.pronamespace = 'public'::regnamespace and p.prosqlbody is not null
			and exists (
				select from pg_type t
				where t.typrelid <> 0
					and t.oid = any (array_append(p.proargtypes::oid[], p.prorettype))
			)`);
	expect(rows).toEqual([]);
});
