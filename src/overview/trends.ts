import type { PoolClient } from "pg";
import { z } from "zod";
import { JUDGED } from "../devices/check-results/count-sql.ts";
import { defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { recordKinds } from "../registers/all.ts";

const MONTHS = 12;
/** A month without a count on its last day is shown with one of a day this close before. */
const NEAR_DAYS = 7;

const point = z.object({
	day: z.string(),
	pass_percent: z
		.number()
		.nullable()
		.describe(
			"Share of PASSING in the required checks of all devices without EXCEPTED and NOT_APPLICABLE ones; null: not counted, or no devices",
		),
	risks: z.int().nullable(),
	residual_risk: z
		.number()
		.nullable()
		.describe("Mean residual risk score; null: no risks"),
	overdue: z
		.int()
		.nullable()
		.describe(
			"Open nonconformities, tasks, obligations and improvements past their due date",
		),
});

/**
 * Returns the figures of the home page over twelve months. It reads the kept states of records at
 * the end of each month, and the daily counts of device checks.
 */
export const getTrends = defineOperation({
	name: "getTrends",
	title: "Get trends",
	description: `Read the pass rate, residual risk and overdue work of the last day of each of the past ${MONTHS} months, and of today. null: their states were not kept.`,
	toolset: "history",
	access: "read",
	tenant: "organization_id",
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({ points: z.array(point) }),
	run: async ({ client }, { organization_id }) => ({
		points: await readPoints(client, organization_id),
	}),
});

type Point = z.output<typeof point>;

/** The end of each month, and now. Each day ends at midnight in UTC, as the daily counts do. */
const MOMENTS = `
	select m.day, least(now(), (m.day + 1)::timestamp at time zone 'UTC') as at
	from (
		select (date_trunc('month', now() at time zone 'UTC') - i * interval '1 month')::date - 1 as day
		from generate_series(0, ${MONTHS - 1}) i
		union all
		select (now() at time zone 'UTC')::date
	) m`;

/**
 * Selects values of the records of a register at the moment `m`. Each value is SQL over the row `t`
 * of the register, and over the fields `v.fields` of a former state.
 */
function recordsAt(
	table: string,
	values: { name: string; now: string; former: string }[],
): string {
	const columns = (part: "now" | "former") =>
		values.map((value) => `${value[part]} as ${value.name}`).join(", ");
	return `
		select ${columns("now")} from ${table} t
		where t.organization_id = $1 and t.updated_at <= m.at
		union all
		select ${columns("former")} from record_versions v
		where v.organization_id = $1 and v.register = '${table}'
			and v.valid_to > m.at and v.valid_from <= m.at`;
}

const RISKS = recordsAt("risks", [
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
		return recordsAt(table, [
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

const judged = JUDGED.map((state) => `'${state}'`).join(", ");

async function readPoints(
	client: PoolClient,
	organizationId: string,
): Promise<Point[]> {
	const { rows } = await client.query<Point>({
		name: "trends",
		text: `
			select m.day::text as day, passing.pass_percent,
				case when m.is_known then risk.count end as risks,
				case when m.is_known then risk.mean end as residual_risk,
				case when m.is_known then work.overdue end as overdue
			from (
				select m.*, o.records_known_since <= m.at as is_known
				from (${MOMENTS}) m join organizations o on o.id = $1
			) m
			left join lateral (
				select round(100.0 * sum(s.value::bigint) filter (where s.key = 'PASSING')
					/ nullif(sum(s.value::bigint), 0), 1)::float8 as pass_percent
				from (
					select k.counts from check_count_days k
					where k.organization_id = $1 and k.day between m.day - ${NEAR_DAYS} and m.day
					order by k.day desc limit 1
				) k, jsonb_each(k.counts) c, jsonb_each_text(c.value) s
				where s.key in (${judged})
			) passing on true
			cross join lateral (
				select count(*)::int as count, round(avg(r.score), 1)::float8 as mean from (${RISKS}) r
				where not r.is_archived
			) risk
			cross join lateral (
				select count(*)::int as overdue from (${DUE}) w where w.due < m.day and not w.is_done
			) work
			order by m.day`,
		values: [organizationId],
	});
	return rows;
}
