import type { Client } from "pg";
import type { Ledger } from "./failover/writers.ts";
import type { Fleet } from "./fleet.ts";

/** The numbers of acknowledged writes that are and are not in the database. */
export interface Found {
	acknowledged: number;
	/** The number of writes that were acknowledged but are missing. Must be 0. */
	lost: number;
	/**
	 * The number of writes that are stored more than once, whether acknowledged or not. Must be 0.
	 */
	duplicates: number;
	/** The number of tasks that do not have exactly one audit entry of their creation. Must be 0. */
	unlogged: number;
	/**
	 * The writes whose outcome no caller learned: how many of them are stored, and how many there
	 * are.
	 */
	unknownStored: number;
	unknown: number;
}

/** Looks for every acknowledged write in the database, as its owner. */
export async function compare(
	client: Client,
	fleet: Fleet,
	ledger: Ledger,
): Promise<Found> {
	const reports = await client.query<{ lost: number; doubles: number }>(
		`with stored as (
			select report_id, sum(jsonb_array_length(results))::int as results
			from posture_reports group by report_id
		)
		select
			(select count(*)::int from unnest($1::text[], $2::int[]) a (id, results)
				where not exists (select from stored s where s.report_id = a.id and s.results >= a.results)) as lost,
			(select count(*)::int from (
				select from posture_reports r, jsonb_array_elements(r.results) e
				group by report_id, e ->> 'check_key' having count(*) > 1
			) d) as doubles`,
		[[...ledger.reports.keys()], [...ledger.reports.values()]],
	);
	const beats = await client.query<{ lost: number }>(
		`select count(*)::int as lost from unnest($1::text[], $2::int[]) a (id, number)
		where not exists (
			select from devices d where d.id = a.id and substring(d.hostname from '^host-(\\d+)$')::int >= a.number
		)`,
		[
			[...ledger.heartbeats.keys()].map((device) => fleet.ids[device]),
			[...ledger.heartbeats.values()],
		],
	);
	const tasks = await client.query<{
		lost: number;
		doubles: number;
		unlogged: number;
		unknown: number;
	}>(
		`select
			(select count(*)::int from unnest($1::text[]) name
				where not exists (select from tasks t where t.name = name.name)) as lost,
			(select count(*)::int from (select from tasks group by name having count(*) > 1) d) as doubles,
			(select count(*)::int from tasks t where 1 <> (
				select count(*) from audit_entries a
				where a.organization_id = t.organization_id and a.record_id = t.id and a.operation = 'addTask'
			)) as unlogged,
			(select count(*)::int from tasks t where t.name = any ($2::text[])) as unknown`,
		[[...ledger.tasks], [...ledger.unknownTasks]],
	);
	const [report] = reports.rows;
	const [task] = tasks.rows;
	if (!report || !task) throw new Error("a count has a row");
	return {
		acknowledged:
			ledger.heartbeats.size + ledger.reports.size + ledger.tasks.size,
		lost: report.lost + (beats.rows[0]?.lost ?? 0) + task.lost,
		duplicates: report.doubles + task.doubles,
		unlogged: task.unlogged,
		unknownStored: task.unknown,
		unknown: ledger.unknownTasks.size,
	};
}
