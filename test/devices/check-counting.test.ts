import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { countChecks } from "../../src/devices/check-results/count-checks.ts";
import {
	restAfter,
	startCheckCounts,
} from "../../src/devices/check-results/counting.ts";
import { makeId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { ReadableLog } from "../support/readable-log.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createDatabase();
});
afterAll(() => database.drop());

/** Stores an organization with ACTIVE devices. */
async function makeFleet(size = 1): Promise<string> {
	const id = await createOrganization(database.pool, "Fleet");
	const devices = Array.from({ length: size }, () => makeId(id, "device"));
	await database.owner.query(
		`insert into devices (
			organization_id, id, name, status, hardware_uuid, hardware_hash, platform, hostname,
			hostname_key, activated_at, last_seen_at, search_text
		)
		select $1, id, 'device', 'ACTIVE', id, sha256(convert_to(id, 'UTF8')), 'LINUX', id,
			sort_key(id), now(), now(), search_text(id)
		from unnest($2::text[]) d (id)`,
		[id, devices],
	);
	return id;
}

/** Lets PostgreSQL refuse counts with this code until the function that is returned is called. */
async function refuseCounts(code: string): Promise<() => Promise<void>> {
	await database.owner.query(`
		create function refuse() returns trigger language plpgsql as $$
		begin
			raise exception 'the count is refused' using errcode = '${code}';
		end $$;
		create trigger refuse before insert or update on check_count_days
			for each row execute function refuse()`);
	return async () => {
		await database.owner.query("drop function if exists refuse cascade");
	};
}

async function countedOf(id: string): Promise<number> {
	const { rowCount } = await database.owner.query(
		"select from check_count_days where organization_id = $1",
		[id],
	);
	return rowCount ?? 0;
}

test.each([
	{ code: "57014", level: 40, devices: 5_000 },
	{ code: "23514", level: 50, devices: undefined },
])("after a count failed with $code, the log names the organization and the retry, and a pause follows", async ({
	code,
	level,
	devices,
}) => {
	vi.useFakeTimers({ toFake: ["performance"] });
	const id = await makeFleet();
	const accept = await refuseCounts(code);
	const log = new ReadableLog();
	const counting = startCheckCounts(database.pool, database.pool, log.logger);
	onTestFinished(async () => {
		await counting.stop();
		await accept();
		vi.useRealTimers();
		// Without devices, the next test's service does not look at the organization.
		await database.owner.query(
			"delete from devices where organization_id = $1",
			[id],
		);
	});
	const look = async () => {
		counting.poller.wake();
		await counting.poller.idle();
		return log.lines.splice(0);
	};
	expect(await look()).toEqual([
		expect.objectContaining({
			...{ level, organization: id, retry_seconds: 60 },
			...(devices && { devices }),
		}),
	]);
	await counting.noteChanges(database.pool as never, id, [
		{ type: "posture.failed" },
	] as never);
	vi.advanceTimersByTime(59_000);
	expect(await look()).toEqual([]);
	vi.advanceTimersByTime(2_000);
	const [line] = await look();
	// The second failure has slices of a quarter again.
	expect(line).toMatchObject({ level, ...(devices && { devices: 1_250 }) });
	await accept();
	vi.advanceTimersByTime(61_000);
	expect(await look()).toEqual([]);
	expect(await countedOf(id)).toBe(1);
});

test("while a count rests, a migration can change the tables, and no other process counts", async () => {
	const id = await makeFleet(3);
	const { pool, owner } = database;
	let rests = 0;
	const rest = async () => {
		rests++;
		await owner.query(`
			begin;
			set local lock_timeout = '60s';
			lock table devices, posture_spans, check_count_days in access exclusive mode;
			rollback`);
		expect(await countChecks(pool, id)).toBe(false);
		// Nor does it hold back the cleaning of tables.
		const { rows } = await owner.query(
			"select query from pg_stat_activity where datname = current_database() and state = 'idle in transaction' and backend_xmin is not null",
		);
		expect(rows).toEqual([]);
	};
	expect(await countChecks(pool, id, 0, { devices: 1, rest })).toBe(true);
	// Each slice has one of the three devices, and the last one has none.
	expect(rests).toBe(3);
	expect(await countedOf(id)).toBe(1);
});

test("between two slices, a count rests three times as long as the last one took, at most 30 s", () => {
	expect(restAfter(400)).toBe(1_200);
	expect(restAfter(60_000)).toBe(30_000);
});
