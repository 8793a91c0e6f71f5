import { percentSql } from "../../units.ts";
import type { CheckState } from "../check-states.ts";
import { JUDGED } from "../pass-rate.ts";

/** SQL condition: the count `k` still says something about the present. */
const IS_RECENT = "k.counted_at > now() - interval '1 day'";

/**
 * SQL of a column of the last count of the transaction's organization. Null: there is no recent
 * one. It depends on no row, so PostgreSQL reads it once for a statement.
 */
const latest = (column: string) => `(
	select k.${column} from check_count_days k
	where k.organization_id = current_setting('assay.organization_id', true) and ${IS_RECENT}
	order by k.day desc limit 1
)`;

/** Columns of the last count, for a statement that reads all its checks. */
export const LATEST_COUNTS = latest("counts");
export const LATEST_COUNTED_AT = latest("counted_at");

/** SQL of the numbers by state of the check, whose key is an SQL expression. */
const countsOf = (key: string) => `(${LATEST_COUNTS} -> ${key})`;

const number = (counts: string, state: CheckState) =>
	`coalesce((${counts} ->> '${state}')::bigint, 0)`;
const judged = (counts: string) =>
	JUDGED.map((state) => number(counts, state)).join(" + ");

/** SQL of the pass rate of a check, or null if no device counts. */
export const passPercentSql = (key: string) => `(
	select ${percentSql(number("x.counts", "PASSING"), judged("x.counts"))}
	from (select ${countsOf(key)} as counts) x
)`;

/**
 * SQL condition: at least this share of the devices passes the check. Without a count, it is false.
 */
export const reachesSql = (key: string, percent: string) => `(
	select ${number("x.counts", "PASSING")} > 0
		and 100 * ${number("x.counts", "PASSING")} >= ${percent} * (${judged("x.counts")})
	from (select ${countsOf(key)} as counts) x
)`;

/** SQL condition: a device counts for the check. */
export const hasJudgedSql = (key: string) => `(
	select ${judged("x.counts")} > 0 from (select ${countsOf(key)} as counts) x
)`;
