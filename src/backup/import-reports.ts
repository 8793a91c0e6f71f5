import { type Client, escapeIdentifier } from "pg";
import { codeOf, UNDEFINED_TABLE } from "../db/sqlstate.ts";
import { partitionOf } from "../retention/partition-name.ts";

/** Returns the name of the temporary table with the rows of a file for this table, in quotes. */
export const staged = (table: string) => escapeIdentifier(`import_${table}`);

export const PACKED = "packed_posture_reports";
export const CHANGES = "posture_report_changes";

/**
 * Begins the transaction that adds the rows. It has a partition for each month of the raw reports,
 * and no other process drops one until its end. They are made before, because others would have to
 * wait for the end of the transaction. A partition that stays empty does no harm.
 */
export async function beginWithPartitions(client: Client): Promise<void> {
	const { rows } = await client.query<{ month: string }>(`
		select to_char(month, 'YYYY-MM-DD') as month from (
			select distinct date_trunc('month', received_at at time zone 'UTC') as month
			from ${staged("posture_reports")}
			union
			select month from ${staged(PACKED)}
		) r
		order by 1`);
	const months = rows.map(({ month }) => month);
	const names = months.map((month) => partitionOf("posture_reports", month));
	for (;;) {
		await client.query(
			"select make_posture_report_partition(month) from unnest($1::timestamptz[]) month",
			[months],
		);
		await client.query("begin");
		if (names.length === 0) return;
		try {
			// The parent comes first, as in every statement that drops a partition.
			await client.query(
				`lock table only ${["posture_reports", ...names].join(", only ")} in row exclusive mode`,
			);
			return;
		} catch (error) {
			await client.query("rollback");
			// Packing or retention dropped an empty partition in between.
			if (codeOf(error) !== UNDEFINED_TABLE) throw error;
		}
	}
}

/**
 * Adds packed reports as plain ones. The service packs them within a day, also if their month has
 * packed reports already.
 */
export async function addUnpacked(client: Client): Promise<void> {
	const { rows } = await client.query<{ reports: number }>(
		`select coalesce(sum(cardinality(report_ids)), 0)::integer as reports from ${staged(PACKED)}`,
	);
	const { rowCount } = await client.query(
		`insert into posture_reports (organization_id, device_id, report_id, received_at, results)
		select s.organization_id, s.device_id, u.report_id, u.received_at, u.results::jsonb
		from ${staged(PACKED)} s
		cross join lateral unpack_reports(
			s.report_ids, s.received_at, s.report_of, s.variant_of, s.observed_at, s.variants
		) u`,
	);
	if (rowCount !== rows[0]?.reports) {
		throw new Error(
			`the database added only ${rowCount} of the ${rows[0]?.reports} packed reports`,
		);
	}
}

/**
 * Notes the devices with reports as changed. A process that is packing one of the months has counted
 * its reports before this transaction commits, and packs these devices again.
 */
export async function noteAddedReports(client: Client): Promise<void> {
	await client.query(
		`insert into ${CHANGES} (organization_id, device_id, month)
		select organization_id, device_id, posture_report_month(received_at) from ${staged("posture_reports")}
		union
		select organization_id, device_id, month from ${staged(PACKED)}
		on conflict do nothing`,
	);
}
