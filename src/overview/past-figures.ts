import { recordKinds } from "../registers/all.ts";

/** Number of the days $2 that end before a time. `width_bucket` counts bounds up to its operand. */
const endsBefore = (time: string) =>
	`width_bucket(${time}, (select c.ends from calendar c))`;

/** Number of the days $2 that are not after a date. */
const daysUntil = (date: string) =>
	`width_bucket(${date}, (select c.days from calendar c))`;

const FIRST_END = "(select c.ends[1] from calendar c)";
const LAST_END = "(select c.ends[cardinality(c.ends)] from calendar c)";

/**
 * Selects the states of a register's records, each with the numbers of the first and the last of the
 * days at whose end it is valid. So each record and each former state is read once for all days. Each
 * value is SQL over the row `t` of the register, and over the fields `v.fields` of a former state.
 */
function statesOf(
	table: string,
	values: { name: string; now: string; former: string }[],
): string {
	const columns = (part: "now" | "former") =>
		values.map((value) => `${value[part]} as ${value.name}`).join(", ");
	return `
		select ${endsBefore("t.updated_at")} + 1 as first, cardinality($2::date[]) as last, ${columns("now")}
		from ${table} t
		where t.organization_id = $1 and t.updated_at < ${LAST_END}
		union all
		select ${endsBefore("v.valid_from")} + 1, ${endsBefore("v.valid_to")}, ${columns("former")}
		from record_versions v
		where v.organization_id = $1 and v.register = '${table}'
			and v.valid_to >= ${FIRST_END} and v.valid_from < ${LAST_END}
			and ${endsBefore("v.valid_from")} < ${endsBefore("v.valid_to")}`;
}

const RISKS = statesOf("risks", [
	{
		name: "score",
		now: "t.residual_risk_score",
		former: "(v.fields ->> 'residual_risk_score')::smallint",
	},
	{
		name: "is_archived",
		now: "t.archived_at is not null",
		former: "v.fields ->> 'archived_at' is not null",
	},
]);

const DUE = recordKinds
	.flatMap(({ table, due }) => {
		if (!due) return [];
		const { date, done } = due;
		return statesOf(table, [
			{
				name: "due",
				now: `t.${date}`,
				former: `(v.fields ->> '${date}')::date`,
			},
			{
				name: "is_done",
				now: `t.${done.field} = '${done.value}'`,
				former: `v.fields ->> '${done.field}' = '${done.value}'`,
			},
		]);
	})
	.join(" union all ");

/**
 * SQL for `day`, `at`, `risks`, `residual_risk` and `overdue` of the past days $2 of the organization
 * $1, each at its end in the organization's time zone.
 */
export const PAST_FIGURES = `
	with moments as (
		select d.day, (d.day + 1)::timestamp at time zone o.time_zone as at,
			row_number() over (order by d.day) as n
		from organizations o cross join unnest($2::date[]) d (day) where o.id = $1
	), calendar as (
		select array_agg(m.at + interval '1 microsecond' order by m.n) as ends,
			array_agg(m.day order by m.n) as days
		from moments m
	), risk as materialized (
		select r.first, r.last, count(*) as count, sum(r.score) as score
		from (${RISKS}) r
		where not r.is_archived
		group by 1, 2
	), work as materialized (
		select greatest(w.first, ${daysUntil("w.due")} + 1) as first, w.last, count(*) as count
		from (${DUE}) w
		where not w.is_done and w.due is not null
		group by 1, 2
	)
	select m.day, m.at, risk.count as risks, risk.mean as residual_risk, work.overdue
	from moments m
	cross join lateral (
		select coalesce(sum(r.count), 0)::int as count,
			round(sum(r.score) / sum(r.count), 1)::float8 as mean
		from risk r where m.n between r.first and r.last
	) risk
	cross join lateral (
		select coalesce(sum(w.count), 0)::int as overdue
		from work w where m.n between w.first and w.last
	) work`;
