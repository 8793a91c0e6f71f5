import type { PoolClient } from "pg";
import { z } from "zod";
import type { CheckCounts } from "../devices/check-results/counts.ts";
import { countFleet } from "../devices/count-states.ts";
import { fleetPassPercent, passPercent } from "../devices/pass-rate.ts";
import { defineOperation } from "../operation.ts";
import { TODAY } from "../organizations/time-zone.ts";
import { orInfinity } from "../records/date-or-infinity.ts";
import { dueDates } from "../records/due-dates.ts";
import { organizationId } from "../records/list-pages.ts";
import { described } from "../records/shown-in-tool-list.ts";
import { PAST_FIGURES } from "./past-figures.ts";

/** Number of past months, each with a point of its last day. */
export const MONTHS = 12;
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
 * Returns the figures of the home page over twelve months: those that the service has kept of the end
 * of each month, and the daily counts of device checks. What is not kept yet is read from the former
 * states of the records.
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
type Figures = Pick<Point, "risks" | "residual_risk" | "overdue">;

/**
 * Reads the points. The pass rate of a past month is that of a daily count, whose days end at
 * midnight in UTC. That of today is counted now, so it agrees with every other page, or left out.
 */
async function readPoints(
	client: PoolClient,
	organizationId: string,
	countsToday: boolean,
): Promise<Point[]> {
	const days = await readDays(client, organizationId);
	const missing = days.flatMap(({ day, lacks_figures }) =>
		lacks_figures ? [day] : [],
	);
	const read =
		missing.length > 0
			? await readPastFigures(client, organizationId, missing)
			: new Map<string, Figures>();
	const past = days.map(({ counts, lacks_figures: _, ...kept }) => ({
		...kept,
		...read.get(kept.day),
		pass_percent: counts && passPercent(Object.values(counts)),
	}));
	return [
		...past,
		{
			...(await readPresent(client, organizationId)),
			pass_percent: countsToday
				? fleetPassPercent(await countFleet(client, organizationId))
				: null,
		},
	];
}

interface Day extends Figures {
	day: string;
	counts: CheckCounts | null;
	lacks_figures: boolean;
}

/** Reads the last day of each month, with the figures that are kept and a daily count. */
async function readDays(
	client: PoolClient,
	organizationId: string,
): Promise<Day[]> {
	const { rows } = await client.query<Day>({
		name: "trends.days",
		text: `
			select m.day::text as day, checked.counts, k.risks, k.residual_risk, k.overdue,
				o.records_known_since <= m.at and k.at is null as lacks_figures
			from organizations o
			cross join lateral ends_of_months(o.time_zone, ${MONTHS}) m
			left join trend_points k
				on k.organization_id = $1 and k.at = m.at and o.records_known_since <= m.at
			left join lateral (
				select c.counts from check_count_days c
				where c.organization_id = $1 and c.day between m.day - ${NEAR_DAYS} and m.day
				order by c.day desc limit 1
			) checked on true
			where o.id = $1
			order by m.day`,
		values: [organizationId],
	});
	return rows;
}

async function readPastFigures(
	client: PoolClient,
	organizationId: string,
	days: string[],
): Promise<Map<string, Figures>> {
	const { rows } = await client.query<Figures & { day: string }>({
		name: "trends.past",
		text: `select p.day::text as day, p.risks, p.residual_risk, p.overdue from (${PAST_FIGURES}) p`,
		values: [organizationId, days],
	});
	return new Map(rows.map(({ day, ...figures }) => [day, figures]));
}

/** SQL for the open work past its due date. Its condition is that of the index of the date. */
const OVERDUE = dueDates
	.filter(({ isWork }) => isWork)
	.map(
		({ kind, date, open }) => `
			select count(*) as count from ${kind.table} t
			where t.organization_id = $1 and ${orInfinity(date, "date")} < ${TODAY} and ${open}`,
	)
	.join(" union all ");

async function readPresent(
	client: PoolClient,
	organizationId: string,
): Promise<Figures & { day: string }> {
	const { rows } = await client.query<Figures & { day: string }>({
		name: "trends.present",
		text: `
			select ${TODAY}::text as day, r.risks, r.residual_risk, w.overdue
			from (
				select count(*)::int as risks, round(avg(t.residual_risk_score), 1)::float8 as residual_risk
				from risks t where t.organization_id = $1 and t.archived_at is null
			) r
			cross join (select sum(o.count)::int as overdue from (${OVERDUE}) o) w`,
		values: [organizationId],
	});
	const [row] = rows;
	if (!row) throw new Error("an aggregate has no row");
	return row;
}
