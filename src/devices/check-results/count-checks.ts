import type { Pool } from "pg";
import { withTenant } from "../../db/pool.ts";
import {
	countInSlices,
	type SlicedCounts,
	type Slicing,
} from "../count-in-slices.ts";
import type { CheckCounts } from "./counts.ts";

/**
 * Days before today that are counted later if no count was made on them. A day without a count has
 * no verified measure when somebody looks back at it.
 */
const HISTORY_DAYS = 366;

/**
 * Counts the organization's devices by check and state, and stores the numbers for today. Does not
 * count if the last count is not older than `olderThanMs`. Returns false if another process counts
 * now. The pool needs two connections.
 */
export function countChecks(
	pool: Pool,
	organizationId: string,
	olderThanMs = 0,
	slicing: Slicing = {},
): Promise<boolean> {
	return whenNobodyCounts(pool, organizationId, async () => {
		if (await wasCounted(pool, organizationId, olderThanMs)) return true;
		const found = await countInSlices(pool, organizationId, slicing);
		await withTenant(pool, organizationId, (client) =>
			client.query({
				name: "check_counts.store",
				text: `
					insert into check_count_days (organization_id, day, counts, compliance)
					values ($1, (now() at time zone 'UTC')::date, $2, $3)
					on conflict (organization_id, day) do update set
						counted_at = now(), counts = excluded.counts, compliance = excluded.compliance`,
				values: [organizationId, ...toColumns(found)],
			}),
		);
		return true;
	});
}

async function wasCounted(
	pool: Pool,
	organizationId: string,
	olderThanMs: number,
): Promise<boolean> {
	const { rowCount } = await withTenant(pool, organizationId, (client) =>
		client.query({
			name: "check_counts.recent",
			text: `
				select from check_count_days k
				where k.organization_id = $1 and k.day >= (now() at time zone 'UTC')::date
					and k.counted_at > now() - $2 * interval '1 millisecond'`,
			values: [organizationId, olderThanMs],
		}),
	);
	return rowCount !== 0;
}

/**
 * Counts a day without a count, as the history shows its end: the last days of months first, which
 * the trends show, then the latest days. Returns false if every day has a count, or if another
 * process counts now. A day may lack one because the service did not run, or because it was an older
 * version.
 */
export function countMissingDay(
	pool: Pool,
	organizationId: string,
	slicing: Slicing = {},
): Promise<boolean> {
	return whenNobodyCounts(pool, organizationId, async () => {
		const missing = await findMissingDay(pool, organizationId);
		if (!missing) return false;
		const { day, ends_at } = missing;
		const found = await countInSlices(pool, organizationId, slicing, ends_at);
		await withTenant(pool, organizationId, (client) =>
			client.query(
				`insert into check_count_days (organization_id, day, counts, compliance)
				values ($1, $2, $3, $4) on conflict (organization_id, day) do nothing`,
				[organizationId, day, ...toColumns(found)],
			),
		);
		return true;
	});
}

async function findMissingDay(
	pool: Pool,
	organizationId: string,
): Promise<{ day: string; ends_at: string } | undefined> {
	const { rows } = await withTenant(pool, organizationId, (client) =>
		client.query<{ day: string; ends_at: string }>({
			name: "check_counts.missing",
			text: `
				select to_char(d.day, 'YYYY-MM-DD') as day,
					to_char(d.day + interval '1 day', 'YYYY-MM-DD"T00:00:00Z"') as ends_at
				from (
					select (now() at time zone 'UTC')::date - i as day
					from generate_series(1, ${HISTORY_DAYS}) i
				) d
				where d.day >= (
					select min(t.created_at at time zone 'UTC')::date from devices t where t.organization_id = $1
				) and not exists (
					select from check_count_days k where k.organization_id = $1 and k.day = d.day
				)
				order by extract(day from d.day + 1) = 1 desc, d.day desc limit 1`,
			values: [organizationId],
		}),
	);
	return rows[0];
}

/**
 * Runs `work` unless another process counts the organization's devices now. Returns false if one
 * does. A transaction of its own holds the lock. It reads no table and waits as long as the work
 * takes.
 */
async function whenNobodyCounts(
	pool: Pool,
	organizationId: string,
	work: () => Promise<boolean>,
): Promise<boolean> {
	return await withTenant(pool, organizationId, async (client) => {
		const { rows } = await client.query<{ ours: boolean }>(
			"select pg_try_advisory_xact_lock(hashtextextended('check counts ' || $1, 0)) as ours",
			[organizationId],
		);
		// PostgreSQL keeps the snapshot of a statement with parameters until the next statement, and
		// could not clean up after the devices' reports meanwhile. So this one comes last.
		await client.query("set local idle_in_transaction_session_timeout = 0");
		return rows[0]?.ours ? await work() : false;
	});
}

function toColumns(found: SlicedCounts): [counts: string, compliance: string] {
	const counts: CheckCounts = Object.fromEntries(
		found.requiredChecks.map((key) => [key, found.ofCheck(key)]),
	);
	return [JSON.stringify(counts), JSON.stringify(found.compliance)];
}
