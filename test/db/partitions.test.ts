import { afterAll, beforeAll, expect, test } from "vitest";
import { createDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createDatabase();
});
afterAll(() => database.drop());

const partitions = async () => {
	const { rows } = await database.owner.query<{ name: string; bound: string }>(`
		select c.relname as name, pg_get_expr(c.relpartbound, c.oid) as bound
		from pg_inherits i join pg_class c on c.oid = i.inhrelid
		where i.inhparent = 'posture_reports'::regclass
		order by c.relname
	`);
	return rows;
};

function monthName(ahead: number): string {
	const now = new Date();
	const month = new Date(
		Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead, 1),
	);
	return `posture_reports_${month.toISOString().slice(0, 7).replace("-", "_")}`;
}

test("this month and the next two have partitions, no matter how often they are requested", async () => {
	for (let time = 0; time < 3; time++) {
		await database.pool.query("select ensure_posture_report_partitions()");
	}
	expect((await partitions()).map((one) => one.name)).toEqual([
		monthName(0),
		monthName(1),
		monthName(2),
		"posture_reports_default",
	]);
});

test("rows without a partition are stored in the default one and move when theirs is created", async () => {
	await database.owner.query(`drop table ${monthName(0)}`);
	await database.owner.query(
		"insert into posture_reports values (repeat('o', 32), repeat('d', 32), repeat('r', 32), now(), '[]')",
	);
	const where = async () =>
		(
			await database.owner.query(
				"select tableoid::regclass::text as partition from posture_reports",
			)
		).rows;
	expect(await where()).toEqual([{ partition: "posture_reports_default" }]);
	await database.pool.query("select ensure_posture_report_partitions()");
	expect(await where()).toEqual([{ partition: monthName(0) }]);
});
