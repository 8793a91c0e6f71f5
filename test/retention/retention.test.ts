import { beforeEach, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { RETENTION_LOCK } from "../../src/db/advisory-locks.ts";
import {
	noteRetention,
	readRetentionTimes,
} from "../../src/retention/last-retention.ts";
import { keepReports, startRetention } from "../../src/retention/retention.ts";
import { connectTo } from "../support/backups.ts";
import {
	createDatabaseForTest,
	type TestDatabase,
} from "../support/database.ts";
import { ReadableLog } from "../support/readable-log.ts";
import { startService } from "../support/service.ts";
import { until } from "../support/until.ts";

let database: TestDatabase;
beforeEach(async () => {
	database = await createDatabaseForTest();
});

const keep = (months: number, url = database.url) =>
	keepReports({ connectionString: url }, months);

/** Returns the first day of the month `ago` months before this one. */
function month(ago: number): string {
	const now = new Date();
	return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago, 1))
		.toISOString()
		.slice(0, 10);
}

const nameOf = (ago: number) =>
	`posture_reports_${month(ago).slice(0, 7).replace("-", "_")}`;

const makePartition = (ago: number, { owner } = database) =>
	owner.query("select make_posture_report_partition($1)", [month(ago)]);

/**
 * Stores reports on the first day of the month `ago` months before this one, in the partition that
 * accepts them.
 */
const addReports = (ago: number, count = 1, { owner } = database) =>
	owner.query(
		`insert into posture_reports
		select repeat('o', 32), repeat('d', 32), lpad(n::text, 32, 'r'), $1::timestamptz + interval '1 hour', '[]'
		from generate_series(1, $2::integer) n`,
		[month(ago), count],
	);

async function found({ owner } = database): Promise<Record<string, number>> {
	const { rows } = await owner.query<{ name: string; rows: number }>(
		`select tableoid::regclass::text as name, count(*)::integer as rows from posture_reports
		group by 1 order by 1`,
	);
	return Object.fromEntries(rows.map((row) => [row.name, row.rows]));
}

test("partitions older than the retained months are dropped, and the month that is only partly older is not", async () => {
	for (const ago of [15, 14, 13, 1]) await makePartition(ago);
	for (const ago of [15, 14, 13, 1, 0]) await addReports(ago);
	expect(await keep(13)).toEqual({
		dropped: [nameOf(15), nameOf(14)],
		deleted: 0,
		isDone: true,
	});
	expect(await found()).toEqual({
		[nameOf(13)]: 1,
		[nameOf(1)]: 1,
		[nameOf(0)]: 1,
	});
	expect(await keep(13)).toEqual({ dropped: [], deleted: 0, isDone: true });
});

test("with zero months everything is kept", async () => {
	await makePartition(60);
	await addReports(60);
	await addReports(70);
	expect(await keep(0)).toEqual({ dropped: [], deleted: 0, isDone: true });
	expect(await found()).toEqual({
		[nameOf(60)]: 1,
		posture_reports_default: 1,
	});
});

test("old rows of the default partition are removed in batches, and the newer ones stay", async () => {
	await addReports(20, 12_001);
	await addReports(3, 2);
	expect(await keep(13)).toEqual({
		dropped: [],
		deleted: 12_001,
		isDone: true,
	});
	expect(await found()).toEqual({ posture_reports_default: 2 });
	const { rows } = await database.owner.query(
		"select relforcerowsecurity as forced from pg_class where relname = 'posture_reports_default'",
	);
	expect(rows).toEqual([{ forced: true }]);
});

test("processes that clean up at the same time drop each month once", async () => {
	for (const ago of [16, 15, 14]) await makePartition(ago);
	const all = await Promise.all(Array.from({ length: 4 }, () => keep(13)));
	expect(all.flatMap(({ dropped }) => dropped).sort()).toEqual(
		[nameOf(16), nameOf(15), nameOf(14)].sort(),
	);
});

test("during a long read, reports are still stored, and partitions that could not be dropped are dropped later", async () => {
	await makePartition(14);
	const reader = await connectTo(database.url);
	await reader.query("begin");
	await reader.query("select count(*) from posture_reports");
	const waiting = keep(13);
	await addReports(0, 3);
	expect(await waiting).toEqual({ dropped: [], deleted: 0, isDone: false });
	await addReports(1, 3);
	await reader.query("commit");
	expect(await keep(13)).toMatchObject({ dropped: [nameOf(14)], isDone: true });
});

test("a partition that is gone when its turn comes stops nothing, and the next run looks again", async () => {
	for (const ago of [16, 15, 14]) await makePartition(ago);
	// As packing, which replaces the partition of a month.
	await database.owner.query(`
		create function drop_next() returns event_trigger language plpgsql as $$
		begin drop table if exists ${nameOf(15)}; end $$;
		create event trigger drop_next on sql_drop execute function drop_next()`);
	expect(await keep(13)).toEqual({
		dropped: [nameOf(16), nameOf(14)],
		deleted: 0,
		isDone: false,
	});
	expect(await keep(13)).toEqual({ dropped: [], deleted: 0, isDone: true });
});

test("a service can start while a long read prevents it from creating a partition", async () => {
	await database.owner.query(`drop table ${nameOf(0)}`);
	const reader = await connectTo(database.url);
	await reader.query("begin");
	await reader.query("select count(*) from posture_reports");
	const ensure = async () =>
		(
			await database.pool.query(
				"select ensure_posture_report_partitions() as done",
			)
		).rows;
	expect(await ensure()).toEqual([{ done: false }]);
	await addReports(0);
	expect(await found()).toEqual({ posture_reports_default: 1 });
	await reader.query("commit");
	expect(await ensure()).toEqual([{ done: true }]);
	expect(await found()).toEqual({ [nameOf(0)]: 1 });
});

test("the service's role cannot drop partitions or delete reports of other organizations", async () => {
	await addReports(20);
	for (const sql of [
		"select make_posture_report_partition(now())",
		"drop table posture_reports_default",
		"delete from posture_reports_default",
	]) {
		await expect(database.pool.query(sql), sql).rejects.toMatchObject({
			code: "42501",
		});
	}
	await database.pool.query("delete from posture_reports");
	expect(await found()).toEqual({ posture_reports_default: 1 });
});

/**
 * Packing begins twice as late. If both began at once on a busy machine, a drop could wait for a lock
 * of packing for more than a second, and would then be tried again ten minutes later.
 */
const BEFORE_PACKING_MS = 300;

test("the service applies its retention setting when it starts", async () => {
	const served = await startService(
		async (url) => {
			const seeded = await connectTo(url);
			await seeded.query("select make_posture_report_partition($1)", [
				month(3),
			]);
			await seeded.query("select make_posture_report_partition($1)", [
				month(2),
			]);
			return url;
		},
		{ ASSAY_REPORT_RETENTION_MONTHS: "2" },
		undefined,
		undefined,
		BEFORE_PACKING_MS,
	);
	const names = async () =>
		(
			await served.database.owner.query<{ name: string }>(
				// The service packs the month that is kept, before or after this reads.
				`select replace(inhrelid::regclass::text, 'packed_', '') as name from pg_inherits
				where inhparent in ('posture_reports'::regclass, 'packed_posture_reports'::regclass) order by 1`,
			)
		).rows.map(({ name }) => name);
	await expect.poll(names).not.toContain(nameOf(3));
	expect(await names()).toContain(nameOf(2));
	await served.close();
});

test("the database knows when the work was last complete, also after a restart and before it ever was", async () => {
	const read = async () =>
		new Date((await readRetentionTimes(database.pool)).lastMs);
	const { rows } = await database.owner.query<{ ms: number }>(
		`select extract(epoch from applied_at)::float8 * 1000 as ms from migrations
		where name ~ 'last_retention'`,
	);
	expect(rows.map(({ ms }) => new Date(ms))).toEqual([await read()]);
	const earlier = new Date(Date.now() - 26 * 3_600_000);
	await database.owner.query("update last_retention set done_at = $1", [
		earlier,
	]);
	const log = new ReadableLog();
	const config = { ...readConfig({}), dailyWorkAfterMs: 0 };
	const broken = startRetention(
		{ host: "127.0.0.1", port: 1 },
		config,
		log.logger,
	);
	await expect
		.poll(() => log.lines)
		.toMatchObject([{ msg: "old rows could not be removed yet" }]);
	await broken();
	expect(await read()).toEqual(earlier);
	const stop = startRetention(
		{ connectionString: database.url },
		config,
		log.logger,
	);
	await expect.poll(read).not.toEqual(earlier);
	await stop();
	expect((await read()).getTime()).toBeGreaterThan(Date.now() - 60_000);
});

test("a time that a clock which was ahead has left is replaced, so that the alert can fire again", async () => {
	await database.owner.query(
		"update last_retention set done_at = now() + interval '1 year'",
	);
	await noteRetention({ connectionString: database.url });
	const { lastMs } = await readRetentionTimes(database.pool);
	expect(Math.abs(lastMs - Date.now())).toBeLessThan(3_600_000);
});

test("a run that could not finish, or that another process did, does not count", async () => {
	const reader = await connectTo(database.url);
	await reader.query("select pg_advisory_lock($1)", [RETENTION_LOCK]);
	expect(await keep(13)).toMatchObject({ isDone: false });
	await reader.query("select pg_advisory_unlock($1)", [RETENTION_LOCK]);
	expect(await keep(13)).toMatchObject({ isDone: true });
});

test("with an archive, plain reports of an old month stay, and those without a partition get one", async () => {
	for (const ago of [15, 14]) await makePartition(ago);
	await addReports(14);
	await addReports(20);
	// Both were archived and dropped before these reports came.
	await database.owner.query(
		"insert into archived_months select unnest($1::date[])",
		[[month(14), month(20)]],
	);
	const withArchive = () =>
		keepReports({ connectionString: database.url }, 13, true);
	expect(await withArchive()).toEqual({
		dropped: [nameOf(15)],
		deleted: 0,
		isDone: true,
	});
	expect(await found()).toEqual({ [nameOf(14)]: 1, [nameOf(20)]: 1 });
	expect((await withArchive()).dropped).toEqual([]);
});

test("an abort ends the work after the running partition or batch, and the rest stays", async () => {
	/** Returns a signal that is aborted when it is looked at for the second time. */
	const afterOne = () => {
		let looks = 0;
		return {
			get aborted() {
				return ++looks > 1;
			},
		} as AbortSignal;
	};
	const keepUntil = (signal: AbortSignal, hasArchive = false) =>
		keepReports({ connectionString: database.url }, 13, hasArchive, signal);
	for (const ago of [16, 15]) await makePartition(ago);
	expect(await keepUntil(afterOne())).toEqual({
		dropped: [nameOf(16)],
		deleted: 0,
		isDone: false,
	});
	await keep(13);
	await addReports(20, 12_001);
	await addReports(19);
	expect(await keepUntil(afterOne())).toEqual({
		dropped: [],
		deleted: 5_000,
		isDone: false,
	});
	expect(await keepUntil(afterOne(), true)).toMatchObject({ isDone: false });
	expect(await found()).toEqual({
		[nameOf(20)]: 7_001,
		posture_reports_default: 1,
	});
});

test("a stop during the work begins nothing further and logs no error", async () => {
	const { owner, url } = database;
	for (const ago of [16, 15]) await makePartition(ago);
	await owner.query(
		`insert into verifications (id, identifier, value, expires_at)
		values (repeat('v', 32), 'v', 'v', now() - interval '1 day')`,
	);
	// The first drop lasts until the lock is free. It does not wait for the lock, because the work gives
	// up such a wait after a second.
	const holder = await connectTo(url);
	await holder.query("select pg_advisory_lock(1)");
	await owner.query(`
		create function last_long() returns event_trigger language plpgsql as $$
		begin
			while not pg_try_advisory_xact_lock(1) loop
				perform pg_sleep(0.05);
			end loop;
		end
		$$;
		create event trigger last_long on sql_drop execute function last_long()`);
	const log = new ReadableLog();
	const stop = startRetention(
		{ connectionString: url },
		{ ...readConfig({}), reportRetentionMonths: 13, dailyWorkAfterMs: 0 },
		log.logger,
	);
	await until("the first drop", async () => {
		const { rowCount } = await owner.query(
			`select from pg_stat_activity where datname = current_database()
			and application_name = 'assay retention' and state = 'active' and query like 'drop table%'`,
		);
		return rowCount === 1;
	});
	const stopping = stop();
	await holder.query("select pg_advisory_unlock(1)");
	await stopping;
	const { rows } = await owner.query(
		`select to_regclass($1) is null as dropped, to_regclass($2) is not null as kept,
			(select count(*)::int from verifications) as left`,
		[nameOf(16), nameOf(15)],
	);
	expect(rows).toEqual([{ dropped: true, kept: true, left: 1 }]);
	expect(log.lines.map(({ msg }) => msg)).toEqual([
		"dropped old posture reports",
	]);
});
