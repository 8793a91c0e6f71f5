import type { PoolClient } from "pg";
import { z } from "zod";
import type { CheckCounts } from "../devices/check-results/counts.ts";
import { countFleet } from "../devices/count-states.ts";
import { fleetPassPercent, passPercent } from "../devices/pass-rate.ts";
import { defineOperation } from "../operation.ts";
import { TODAY } from "../organizations/time-zone.ts";
import { organizationId } from "../records/list-pages.ts";
import { described } from "../records/shown.ts";
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
			"Pass rate, as in listPostureSummary; null: not counted, or no devices",
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
	input: z.strictObject({
		organization_id: organizationId(),
		counts_today: z
			.boolean()
			.optional()
			.meta(
				described(
					"False: the pass_percent of today is null. The call is faster for a caller that has it from listPostureSummary.",
					"nothing",
				),
			),
	}),
	output: z.object({ points: z.array(point) }),
	run: async ({ client }, { organization_id, counts_today = true }) => ({
		points: await readPoints(client, organization_id, counts_today),
	}),
});

type Point = z.output<typeof point>;

/** The end of each month of the organization `o`, and now. */
const MOMENTS = `
	select m.day, least(now(), (m.day + 1)::timestamp at time zone o.time_zone) as at
	from (
		select (date_trunc('month', ${TODAY}::timestamp) - i * interval '1 month')::date - 1 as day
		from generate_series(0, ${MONTHS - 1}) i
		union all
		select ${TODAY}
	) m`;

/** Number of the moments that lie before a time. `width_bucket` counts bounds up to its operand. */
const momentsBefore = (time: string) =>
	`width_bucket(${time}, (select c.ends from calendar c))`;

/** Number of the moments whose day is not after a date. */
const daysUntil = (date: string) =>
	`width_bucket(${date}, (select c.days from calendar c))`;

/**
 * Selects the states of a register's records, each with the numbers of the first and the last moment
 * at which it is valid. So each record and each former state is read once for all moments. Each value
 * is SQL over the row `t` of the register, and over the fields `v.fields` of a former state.
 */
function statesOf(
	table: string,
	values: { name: string; now: string; former: string }[],
): string {
	const columns = (part: "now" | "former") =>
		values.map((value) => `${value[part]} as ${value.name}`).join(", ");
	return `
		select ${momentsBefore("t.updated_at")} + 1 as first, ${MONTHS + 1} as last, ${columns("now")}
		from ${table} t
		where t.organization_id = $1
		union all
		select ${momentsBefore("v.valid_from")} + 1, ${momentsBefore("v.valid_to")}, ${columns("former")}
		from record_versions v
		where v.organization_id = $1 and v.register = '${table}'
			and ${momentsBefore("v.valid_from")} < ${momentsBefore("v.valid_to")}`;
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

type Row = Omit<Point, "pass_percent"> & { counts: CheckCounts | null };

/**
 * Reads the points. The pass rate of a past month is that of a daily count, whose days end at
 * midnight in UTC. That of today is counted now, so it agrees with every other page, or left out.
 */
async function readPoints(
	client: PoolClient,
	organizationId: string,
	countsToday: boolean,
): Promise<Point[]> {
	const rows = await readRows(client, organizationId);
	const today = countsToday
		? fleetPassPercent(await countFleet(client, organizationId))
		: null;
	return rows.map(({ counts, ...point }, at) => ({
		...point,
		pass_percent:
			at === rows.length - 1
				? today
				: counts && passPercent(Object.values(counts)),
	}));
}

async function readRows(
	client: PoolClient,
	organizationId: string,
): Promise<Row[]> {
	const { rows } = await client.query<Row>({
		name: "trends",
		text: `
			with moments as (
				select m.day, m.at, o.records_known_since <= m.at as is_known,
					row_number() over (order by m.day) as n
				from organizations o cross join lateral (${MOMENTS}) m where o.id = $1
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
			select m.day::text as day, checked.counts,
				case when m.is_known then risk.count end as risks,
				case when m.is_known then risk.mean end as residual_risk,
				case when m.is_known then work.overdue end as overdue
			from moments m
			left join lateral (
				select k.counts from check_count_days k
				where k.organization_id = $1 and k.day between m.day - ${NEAR_DAYS} and m.day
				order by k.day desc limit 1
			) checked on true
			cross join lateral (
				select coalesce(sum(r.count), 0)::int as count,
					round(sum(r.score) / sum(r.count), 1)::float8 as mean
				from risk r where m.n between r.first and r.last
			) risk
			cross join lateral (
				select coalesce(sum(w.count), 0)::int as overdue
				from work w where m.n between w.first and w.last
			) work
			order by m.day`,
		values: [organizationId],
	});
	return rows;
}
