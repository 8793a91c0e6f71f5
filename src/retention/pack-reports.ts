import { Client, type ClientConfig } from "pg";
import { PACKING_LOCK } from "../db/advisory-locks.ts";
import { sessionOf } from "../db/server-sessions.ts";
import { isLockTimeout } from "../db/sqlstate.ts";
import {
	MonthOfReports,
	type PackingFailure,
	type PackingOptions,
} from "./pack-month.ts";
import { DAYS_UNTIL_PACKED, findPlainMonths } from "./plain-months.ts";

const SESSION = sessionOf("none", {
	lock_timeout: "1s",
	statement_timeout: "60s",
	timezone: "UTC",
});

export interface Packing {
	/** First days of the months that were packed completely. */
	packed: string[];
	/** Devices that failed. Their months stay as they are, until a later call succeeds. */
	failed: PackingFailure[];
	/** False if another program held a lock, or the work was aborted. The caller should try again. */
	isDone: boolean;
}

/**
 * Packs the raw reports of months that ended at least two weeks ago: usually one row for each device
 * and month, about a thirtieth of the bytes. Works in small transactions with a rest after each, so
 * that it never holds a lock for long and takes at most half a core. Interrupted work goes on where it
 * stopped. A month's partition is dropped in the transaction that shows its packed reports. If the
 * month has packed reports already, the plain ones are moved to them device by device.
 *
 * A device that fails does not stop the others, or the other months.
 */
export async function packClosedMonths(
	connection: ClientConfig,
	options: PackingOptions = {},
): Promise<Packing> {
	const client = new Client({
		...connection,
		application_name: "assay packing",
		connectionTimeoutMillis: 5_000,
		query_timeout: 65_000,
	});
	// The connection may be lost between two queries. Without a listener, this event would then end
	// the process.
	client.on("error", () => {});
	const result: Packing = { packed: [], failed: [], isDone: false };
	try {
		await client.connect();
		await client.query(SESSION);
		const { rows } = await client.query<{ ours: boolean }>(
			"select pg_try_advisory_lock($1) as ours",
			[PACKING_LOCK],
		);
		if (!rows[0]?.ours) return { ...result, isDone: true };
		await dropUnfinished(client);
		const plain = await findPlainMonths(
			client,
			DAYS_UNTIL_PACKED,
			options.keptMonths,
		);
		for (const { month, hasPacked } of plain) {
			const reports = new MonthOfReports(client, month, options);
			const isPacked = await (hasPacked ? reports.move() : reports.pack());
			if (isPacked) result.packed.push(month);
			result.failed.push(...reports.failed);
			if (options.signal?.aborted) return result;
		}
		result.isDone = true;
	} catch (error) {
		if (!isLockTimeout(error)) throw error;
	} finally {
		await client.end();
	}
	return result;
}

/** Drops what was packed of months whose reports retention has dropped in the meantime. */
async function dropUnfinished(client: Client): Promise<void> {
	const { rows } = await client.query<{ name: string }>(`
		select c.relname::text as name from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and not c.relispartition
			and c.relname ~ '^packed_posture_reports_\\d{4}_\\d\\d$'
			and to_regclass(replace(c.relname, 'packed_', '')) is null`);
	for (const { name } of rows) await client.query(`drop table ${name}`);
}
