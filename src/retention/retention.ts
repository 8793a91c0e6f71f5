import { Client, type ClientConfig, type QueryResult } from "pg";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { RETENTION_LOCK } from "../db/advisory-locks.ts";
import { sessionOf } from "../db/server-sessions.ts";
import { codeOf, isLockTimeout, UNDEFINED_TABLE } from "../db/sqlstate.ts";
import { SOON_MS, startDailyWork } from "../jobs/daily-work.ts";
import { DAY_MS } from "../units.ts";
import { ClockCheck } from "./clock-check.ts";
import { deleteDueOrganizations } from "./delete-organizations.ts";
import { dropIfArchived, dropIfEmpty } from "./drop-partition.ts";
import { removeLeftovers } from "./expired-rows.ts";
import { keptFrom } from "./kept-from.ts";
import { lookAtClock, noteRetention } from "./last-retention.ts";

/**
 * Time from the start of the service until the first run. The devices of a fleet come back meanwhile,
 * and this work is not urgent.
 */
export const DAILY_WORK_MS = 10_000;

/**
 * Number of rows that are deleted at a time. Deleting them takes about 50 ms, and writers of the
 * default partition wait that long.
 */
const BATCH_SIZE = 5_000;

const SESSION = sessionOf("none", {
	lock_timeout: "1s",
	statement_timeout: "10s",
	timezone: "UTC",
});

export interface Upkeep {
	/** Names of the dropped partitions. Each contained one month of raw or packed reports. */
	dropped: string[];
	/** Number of old rows that were deleted from the default partition. */
	deleted: number;
	/**
	 * Says whether all work was done. It is false if another program, such as a running backup, held
	 * a lock. The caller should then try again soon.
	 */
	isDone: boolean;
}

/**
 * Makes the next partitions of the raw posture reports. Drops the partitions of months that ended
 * more than `months` months ago. With 0, no partition is dropped. The posture history, which was
 * made from the reports, stays. With an archive, reports are dropped only after they were archived.
 *
 * A dropped partition cannot be restored. Therefore only the service does this, according to its
 * setting. It acts as the owner of the tables, because the service's own role may not drop them.
 * Reports that are being stored wait at most one second for a lock. A partition that cannot be
 * locked in that time is left for the next call. So is everything after the running partition or batch
 * if `signal` aborts.
 */
export async function keepReports(
	connection: ClientConfig,
	months: number,
	hasArchive = false,
	signal?: AbortSignal,
): Promise<Upkeep> {
	const client = new Client({
		...connection,
		application_name: "assay retention",
		connectionTimeoutMillis: 5_000,
		query_timeout: 15_000,
	});
	// The connection may be lost between two queries. Without a listener, this event would then end
	// the process.
	client.on("error", () => {});
	await client.connect();
	const kept: Upkeep = { dropped: [], deleted: 0, isDone: false };
	try {
		await client.query(SESSION);
		const { rows } = await client.query<{ made: boolean }>(
			"select ensure_posture_report_partitions() as made",
		);
		const isOurs = months === 0 || (await isOurTurn(client));
		let areAllThere = true;
		if (months > 0 && isOurs) {
			areAllThere = await dropPartitions(
				client,
				months,
				hasArchive,
				kept,
				signal,
			);
			if (hasArchive) await partitionLeftOver(client, months, signal);
			else await deleteLeftOver(client, months, kept, signal);
		}
		kept.isDone =
			isOurs && rows[0]?.made === true && areAllThere && !signal?.aborted;
	} catch (error) {
		if (!isLockTimeout(error)) throw error;
	} finally {
		await client.end();
	}
	return kept;
}

async function isOurTurn(client: Client): Promise<boolean> {
	const { rows } = await client.query<{ ours: boolean }>(
		"select pg_try_advisory_lock($1) as ours",
		[RETENTION_LOCK],
	);
	return rows[0]?.ours === true;
}

const KEPT_FROM = keptFrom("$1");

/**
 * Returns false if a partition was gone when its turn came. Packing replaces a month's partition, so
 * the next run may find another one of the same month.
 */
async function dropPartitions(
	client: Client,
	months: number,
	hasArchive: boolean,
	kept: Upkeep,
	signal?: AbortSignal,
): Promise<boolean> {
	const { rows } = await client.query<{
		name: string;
		month: string;
		isPacked: boolean;
	}>(
		`
		select c.relname::text as name, replace(right(c.relname, 7), '_', '-') || '-01' as month,
			c.relname ~ '^packed_' as "isPacked"
		from pg_inherits i join pg_class c on c.oid = i.inhrelid
		where i.inhparent in ('posture_reports'::regclass, 'packed_posture_reports'::regclass)
			and c.relname ~ '^(packed_)?posture_reports_\\d{4}_\\d\\d$'
			and to_date(right(c.relname, 7), 'YYYY_MM') < (${KEPT_FROM} at time zone 'UTC')::date
		order by right(c.relname, 7), c.relname`,
		[months],
	);
	let areAllThere = true;
	// Every partition is dropped in a transaction of its own, so that only one is locked at a time.
	for (const { name, month, isPacked } of rows) {
		if (signal?.aborted) return true;
		try {
			if (!hasArchive) {
				await client.query(`drop table ${name}`);
			} else {
				// Files have packed reports only, so no file has plain ones, such as those of an import.
				const drop = isPacked ? dropIfArchived : dropIfEmpty;
				if (!(await drop(client, month))) continue;
			}
			kept.dropped.push(name);
		} catch (error) {
			if (codeOf(error) !== UNDEFINED_TABLE) throw error;
			areAllThere = false;
		}
	}
	return areAllThere;
}

/**
 * Deletes old rows of the default partition. That partition is usually empty (see
 * ensure_posture_report_partitions).
 */
async function deleteLeftOver(
	client: Client,
	months: number,
	kept: Upkeep,
	signal?: AbortSignal,
): Promise<void> {
	if (await isDefaultEmpty(client)) return;
	for (let deleted = BATCH_SIZE; deleted === BATCH_SIZE; ) {
		if (signal?.aborted) return;
		const { rowCount } = await queryDefault(
			client,
			`
			delete from posture_reports_default
			where ctid = any (array(
				select ctid from posture_reports_default where received_at < ${KEPT_FROM} limit ${BATCH_SIZE}
			))`,
			[months],
		);
		deleted = rowCount ?? 0;
		kept.deleted += deleted;
	}
}

/**
 * Moves old rows of the default partition into partitions of their months, where they are packed and
 * archived.
 */
async function partitionLeftOver(
	client: Client,
	months: number,
	signal?: AbortSignal,
): Promise<void> {
	if (await isDefaultEmpty(client)) return;
	const { rows } = await queryDefault<{ month: string }>(
		client,
		`
		select distinct to_char(received_at at time zone 'UTC', 'YYYY-MM') || '-01' as month
		from posture_reports_default where received_at < ${KEPT_FROM} order by 1`,
		[months],
	);
	for (const { month } of rows) {
		if (signal?.aborted) return;
		await client.query("select make_posture_report_partition($1)", [month]);
	}
}

async function isDefaultEmpty(client: Client): Promise<boolean> {
	const { rows } = await client.query<{ empty: boolean }>(
		"select pg_relation_size('posture_reports_default') = 0 as empty",
	);
	return rows[0]?.empty === true;
}

/** Row-level security binds the owner too. It is switched off only within this transaction. */
async function queryDefault<Row extends object>(
	client: Client,
	text: string,
	values: unknown[],
): Promise<QueryResult<Row>> {
	await client.query("begin");
	await client.query(
		"alter table posture_reports_default no force row level security",
	);
	const result = await client.query<Row>(text, values);
	await client.query(
		"alter table posture_reports_default force row level security; commit",
	);
	return result;
}

/**
 * Runs `keepReports`, `removeLeftovers` and `deleteDueOrganizations` soon after the start and then
 * once a day, or again soon if they could not finish. The database knows when they last did. Deletes
 * nothing while `clock` does not trust the database's clock. Returns a function that begins nothing
 * further, and resolves when the running batch is done.
 */
export function startRetention(
	connection: ClientConfig,
	{
		reportRetentionMonths: months,
		archivePlace,
		dailyWorkAfterMs = DAILY_WORK_MS,
	}: Config,
	log: Logger,
	clock = new ClockCheck(),
): () => Promise<void> {
	/** Returns the time, in milliseconds, until something may be deleted by its age. */
	const examineClock = async () => {
		const times = await lookAtClock(connection);
		const { isNew, aheadMs, waitMs } = clock.look(times);
		if (isNew) {
			const days = Math.floor(aheadMs / DAY_MS);
			log.error(
				{ days, now: new Date(times.nowMs), last: new Date(times.lastMs) },
				`old rows are not removed for an hour, because the clock of the database is ${days} days ahead of their last complete removal; if the clock is wrong, correct it within this hour, or the service then deletes too much, and nothing brings it back; if the service was off or could not remove old rows since then, the clock needs no correction`,
			);
		}
		return waitMs;
	};
	const keep = async (keptMonths: number, signal: AbortSignal) => {
		const { dropped, deleted, isDone } = await keepReports(
			connection,
			keptMonths,
			archivePlace !== undefined,
			signal,
		);
		if (dropped.length > 0 || deleted > 0) {
			log.info({ dropped, deleted, months }, "dropped old posture reports");
		}
		return isDone;
	};
	/** Returns the time, in milliseconds, until the next run. */
	const work = async (signal: AbortSignal) => {
		const waitMs = await examineClock();
		if (waitMs > 0) {
			// The partition of this month is needed in any case. With 0, none is dropped.
			await keep(0, signal);
			return Math.min(waitMs, SOON_MS);
		}
		const isDone = await keep(months, signal);
		const removed = await removeLeftovers(connection, signal);
		if (Object.keys(removed).length > 0) {
			log.info({ removed }, "removed rows left by sign-ins and invitations");
		}
		await deleteDueOrganizations(connection, log, signal);
		if (!isDone) return SOON_MS;
		await noteRetention(connection);
		return DAY_MS;
	};
	return startDailyWork(
		dailyWorkAfterMs,
		work,
		"old rows could not be removed",
		log,
	);
}
