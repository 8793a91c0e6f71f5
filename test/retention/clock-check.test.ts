import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { sealAll } from "../../src/audit/sealer.ts";
import { readConfig } from "../../src/config/config.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { ClockCheck } from "../../src/retention/clock-check.ts";
import { startRetention } from "../../src/retention/retention.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { ReadableLog } from "../support/readable-log.ts";
import { until } from "../support/until.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const OLD_MONTH = "posture_reports_2020_01";

let database: TestDatabase;
let id: string;
/** Milliseconds on the clock that nobody can set. */
let monotonicMs: number;
beforeAll(async () => {
	database = await createDatabase();
});
afterAll(() => database.drop());
beforeEach(() => {
	monotonicMs = 5_000;
});

/** Begins a test: only what it adds here is old, and the last removal lies so far back. */
async function begin(ago: string): Promise<void> {
	await database.owner.query(
		"delete from organization_closures; delete from verifications",
	);
	id = await createOrganization(database.pool, "Acme");
	await sealAll(database.pool);
	await database.owner.query(
		"insert into organization_closures values ($1, 'DELETION', 'the end', now() - interval '15 days', now())",
		[id],
	);
	await database.owner.query(
		"select make_posture_report_partition('2020-01-01')",
	);
	await addOldRow();
	await setLastRemoval(ago);
}

const addOldRow = () =>
	database.owner.query(
		`insert into verifications (id, identifier, value, expires_at)
		values (repeat('v', 32), 'v', 'v', now() - interval '1 day')`,
	);

const startProcess = () => new ClockCheck(() => monotonicMs);

/** A clock that is ahead, and a last removal that lies so far back, look the same. */
const setLastRemoval = (ago: string) =>
	database.owner.query(
		"update last_retention set done_at = now() - $1::interval",
		[ago],
	);

const isNoted = async () => {
	const { rowCount } = await database.owner.query(
		"select from last_retention where abs(extract(epoch from now() - done_at)) < 3600",
	);
	return rowCount === 1;
};

/** Returns what is still there of that which may be deleted by its age. */
async function left(): Promise<string[]> {
	const { rows } = await database.owner.query<{ name: string }>(
		`select 'organization' as name from organizations where id = $1
		union all select 'reports' where to_regclass($2) is not null
		union all select 'verification' from verifications
		order by 1`,
		[id, OLD_MONTH],
	);
	return rows.map(({ name }) => name);
}
const ALL = ["organization", "reports", "verification"];

/** Lets a process do the daily work once, until `isOver`. Returns the errors in its log. */
async function run(
	clock: ClockCheck,
	isOver: (log: ReadableLog) => Promise<boolean> | boolean,
): Promise<Record<string, unknown>[]> {
	const log = new ReadableLog();
	const stop = startRetention(
		{ connectionString: database.url },
		{ ...readConfig({}), dailyWorkAfterMs: 0 },
		log.logger,
		clock,
	);
	await until("the work", () => isOver(log));
	await stop();
	return errorsIn(log);
}

const errorsIn = ({ lines }: ReadableLog) =>
	lines.filter(({ level }) => Number(level) >= 50);

/**
 * Lets a process do the daily work once, which should delete nothing. Such a run only makes the
 * partition of the month.
 */
async function runInVain(clock: ClockCheck) {
	const name = `'posture_reports_' || to_char(now() at time zone 'UTC', 'YYYY_MM')`;
	await database.owner.query(
		`do $$ begin execute 'drop table if exists ' || ${name}; end $$`,
	);
	const errors = await run(clock, async () => {
		const { rowCount } = await database.owner.query(
			`select where to_regclass(${name}) is not null and not exists (
				select from pg_stat_activity where datname = current_database()
					and application_name in ('assay retention', 'assay leftovers', 'assay deletion')
			)`,
		);
		return rowCount === 1;
	});
	expect(await left()).toEqual(ALL);
	return errors;
}

test.each([
	["a new installation", "0 seconds"],
	["a day after the last removal", "25 hours"],
	["a clock that was ahead and is corrected", "-30 days"],
])("%s deletes what is old at once", async (_, ago) => {
	await begin(ago);
	expect(
		await run(
			startProcess(),
			async () => (await left()).length === 0 && isNoted(),
		),
	).toEqual([]);
});

test("after the clock has leapt ahead, nothing is deleted for an hour, the log says so once, and reports still get their partition", async () => {
	await begin("30 days");
	const clock = startProcess();
	expect(await runInVain(clock)).toMatchObject([
		{
			level: 50,
			days: 30,
			msg: expect.stringContaining(
				"30 days ahead of their last complete removal; if the clock is wrong",
			),
		},
	]);
	expect(await isNoted()).toBe(false);

	monotonicMs += 59 * MINUTE;
	expect(await runInVain(clock)).toEqual([]);

	// An installation that was off for a month goes on by itself.
	monotonicMs += MINUTE;
	expect(await run(clock, isNoted)).toEqual([]);
	expect(await left()).toEqual([]);
});

test("a clock that is corrected within the hour has deleted nothing, and the next run deletes what is old", async () => {
	await begin("30 days");
	const clock = startProcess();
	await runInVain(clock);
	monotonicMs += 10 * MINUTE;
	await setLastRemoval("1 day");
	await run(clock, isNoted);
	expect(await left()).toEqual([]);
});

test("every process waits for its own hour, also after a restart, and ends the wait of the others", async () => {
	await begin("30 days");
	const [first, second] = [startProcess(), startProcess()];
	await runInVain(first);
	monotonicMs += 59 * MINUTE;
	await runInVain(second);
	monotonicMs += 2 * MINUTE;
	await runInVain(startProcess());
	await run(first, isNoted);
	expect(await left()).toEqual([]);
	await addOldRow();
	await run(second, async () => (await left()).length === 0);
});

test("processes that look at the same time delete nothing", async () => {
	await begin("3 days");
	await Promise.all(
		[startProcess(), startProcess(), startProcess()].map((clock) =>
			run(clock, (log) => errorsIn(log).length > 0),
		),
	);
	expect(await left()).toEqual(ALL);
});

const NOW = Date.UTC(2026, 10, 30);

test("a clock that leaps while the process runs is distrusted, although the process is old", () => {
	const clock = startProcess();
	expect(clock.look({ nowMs: NOW, lastMs: NOW - DAY })).toMatchObject({
		isTrusted: true,
	});
	monotonicMs += DAY;
	const leapt = { nowMs: NOW + 31 * DAY, lastMs: NOW };
	expect(clock.look(leapt)).toEqual({
		isTrusted: false,
		isNew: true,
		aheadMs: 31 * DAY,
		waitMs: HOUR,
	});
	monotonicMs += 10 * MINUTE;
	expect(
		clock.look({ ...leapt, nowMs: leapt.nowMs + 10 * MINUTE }),
	).toMatchObject({
		isTrusted: false,
		isNew: false,
		waitMs: 50 * MINUTE,
	});
	monotonicMs += 50 * MINUTE;
	expect(clock.look({ ...leapt, nowMs: leapt.nowMs + HOUR })).toMatchObject({
		isTrusted: true,
	});
});

test("another leap begins the hour again and is reported", () => {
	const clock = startProcess();
	const lastMs = NOW - 20 * DAY;
	clock.look({ nowMs: NOW + 10 * DAY, lastMs });
	monotonicMs += 59 * MINUTE;
	// The clock is set right. The service was really off for 20 days.
	expect(clock.look({ nowMs: NOW, lastMs })).toMatchObject({
		isTrusted: false,
		isNew: true,
		waitMs: HOUR,
	});
	monotonicMs += HOUR;
	expect(clock.look({ nowMs: NOW + HOUR, lastMs })).toMatchObject({
		isTrusted: true,
	});
});

test("a process whose removals have failed for days trusts a clock that goes on as before", () => {
	const clock = startProcess();
	for (let day = 0; day < 5; day++) {
		expect(
			clock.look({ nowMs: NOW + day * DAY, lastMs: NOW - DAY }),
		).toMatchObject({ isTrusted: true });
		monotonicMs += DAY;
	}
});
