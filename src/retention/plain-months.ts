import type { Client, Pool } from "pg";
import { keptFrom } from "./kept-from.ts";

/**
 * Days from the end of a month until its reports are packed. Devices may extend them until then.
 */
export const DAYS_UNTIL_PACKED = 14;

export interface PlainMonth {
	/** Its first day. */
	month: string;
	/** True if it has packed reports too, such as after an import. */
	hasPacked: boolean;
}

/**
 * Returns the months that ended at least so many days ago and have a partition with plain reports,
 * oldest first. With `keptMonths`, leaves out the months that retention drops.
 */
export async function findPlainMonths(
	client: Pick<Client | Pool, "query">,
	days = DAYS_UNTIL_PACKED,
	keptMonths = 0,
): Promise<PlainMonth[]> {
	const { rows } = await client.query<PlainMonth>(
		`
		select to_char(m.month, 'YYYY-MM-DD') as month,
			exists (
				select from pg_inherits p
				where p.inhparent = 'packed_posture_reports'::regclass
					and p.inhrelid = to_regclass('packed_' || c.relname)
			) as "hasPacked"
		from pg_inherits i
		join pg_class c on c.oid = i.inhrelid
		cross join lateral (select to_date(right(c.relname, 7), 'YYYY_MM') as month) m
		where i.inhparent = 'posture_reports'::regclass
			and c.relname ~ '^posture_reports_\\d{4}_\\d\\d$'
			and m.month + interval '1 month' + $1 * interval '1 day' <= now() at time zone 'UTC'
			and ($2::integer = 0 or m.month >= ${keptFrom("$2")} at time zone 'UTC')
		order by 1`,
		[days, keptMonths],
	);
	return rows;
}
