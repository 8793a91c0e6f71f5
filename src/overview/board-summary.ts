import type { PoolClient } from "pg";
import { z } from "zod";
import { complianceCounts, countFleet } from "../devices/count-states.ts";
import { isInForce } from "../devices/exceptions/exception-status.ts";
import { fleetPassPercent } from "../devices/pass-rate.ts";
import { endOfMillisecond } from "../devices/timestamps.ts";
import { type Context, defineOperation } from "../operation.ts";
import { TODAY } from "../organizations/time-zone.ts";
import { contextAsOf } from "../records/as-of.ts";
import { organizationId } from "../records/list-pages.ts";
import { dateSchema } from "../records/text-schemas.ts";
import { recordKinds } from "../registers/all.ts";
import { decisions, readDecisions } from "./board-decisions.ts";
import { coverages, readCoverages } from "./framework-coverages.ts";
import { countRisks, riskCells } from "./risk-matrix.ts";

/** Most frameworks of a board summary. The others are left out. */
const MAX_FRAMEWORKS = 12;

const figures = z.object({
	coverage: coverages,
	risks: riskCells,
	fleet: z.object({
		active_devices: z.int(),
		devices_by_compliance: complianceCounts(),
		compliant_by_exception: z
			.int()
			.describe("COMPLIANT devices that an exception excuses from a check"),
		pass_percent: z
			.number()
			.nullable()
			.describe(
				"Pass rate, as in listPostureSummary; null: no check was judged",
			),
	}),
	work: z.array(
		z.object({
			register: z.string(),
			open: z.int(),
			overdue: z.int().describe("Open records past their due date"),
		}),
	),
	major_nonconformities: z.int().describe("Open ones of the severity MAJOR"),
	exceptions_in_force: z.int(),
});
type Figures = z.output<typeof figures>;

/** The report for the board. Clients read the parts with their own tools. */
export const getBoardSummary = defineOperation({
	name: "getBoardSummary",
	title: "Get the board summary",
	description:
		"Read where the organization stands now, where it stood at the end of an earlier day, and what needs a decision.",
	toolset: "counts",
	access: "read",
	surface: "console",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		compared_with: dateSchema().describe("A day before today"),
	}),
	output: z.object({
		today: z.string(),
		compared_with: z
			.string()
			.nullable()
			.describe(
				"The wanted day, or the first day whose records are known; null: there is none before today",
			),
		now: figures,
		before: figures.nullable(),
		decisions,
	}),
	run: async (context, { organization_id, compared_with }) => {
		const { client } = context;
		const {
			today,
			day,
			ends_at: endsAt,
		} = await findDay(client, organization_id, compared_with);
		return {
			today,
			compared_with: day,
			now: await readFigures(context, organization_id, today),
			before:
				day === null
					? null
					: await readFigures(context, organization_id, day, endsAt),
			decisions: await readDecisions(client, organization_id),
		};
	},
});

interface Compared {
	today: string;
	day: string | null;
	/** The last millisecond of the day in the organization's time zone. */
	ends_at: string;
}

/** Finds the day to compare with: the wanted one, but none before the records are known. */
async function findDay(
	client: PoolClient,
	organizationId: string,
	wanted: string,
): Promise<Compared> {
	const { rows } = await client.query<Compared>({
		name: "board.day",
		text: `
			select d.today::text, case when d.day < d.today then d.day::text end as day,
				(d.day + 1)::timestamp at time zone d.time_zone - interval '1 millisecond' as ends_at
			from (
				select o.time_zone, ${TODAY} as today,
					greatest($2::date, (o.records_known_since at time zone o.time_zone)::date) as day
				from organizations o where o.id = $1
			) d`,
		values: [organizationId, wanted],
	});
	const [row] = rows;
	if (!row) throw new Error("the organization has no row");
	return row;
}

/** Reads the figures of a day: those of the moment `asOf`, or those of the present. */
async function readFigures(
	context: Context,
	organizationId: string,
	day: string,
	asOf?: string,
): Promise<Figures> {
	const { client } = context;
	const then = (await contextAsOf(context, asOf)).client;
	const moment = asOf && endOfMillisecond(asOf);
	const work = await countWork(then, organizationId, day);
	return {
		coverage: await readCoverages(then, organizationId, {
			limit: MAX_FRAMEWORKS,
		}),
		risks: await countRisks(then, organizationId),
		fleet: await readFleet(client, organizationId, moment),
		work: work.map(({ major: _, ...counts }) => counts),
		major_nonconformities: work.reduce((sum, { major }) => sum + major, 0),
		exceptions_in_force: await countExceptions(client, organizationId, moment),
	};
}

async function readFleet(
	client: PoolClient,
	organizationId: string,
	moment: string | undefined,
): Promise<Figures["fleet"]> {
	const counts = await countFleet(client, organizationId, moment);
	return {
		active_devices: counts.active,
		devices_by_compliance: counts.compliance,
		compliant_by_exception: counts.compliantByException,
		pass_percent: fleetPassPercent(counts),
	};
}

interface Work {
	register: string;
	open: number;
	overdue: number;
	major: number;
}

const WORK = recordKinds
	.flatMap(({ kind, table, fields, due }) => {
		if (!due) return [];
		const isMajor = "severity" in fields ? "t.severity = 'MAJOR'" : "false";
		return `
			select '${kind}' as register, count(*)::int as open,
				(count(*) filter (where t.${due.date} < $2::date))::int as overdue,
				(count(*) filter (where ${isMajor}))::int as major
			from ${table} t
			where t.organization_id = $1 and t.${due.done.field} <> '${due.done.value}'`;
	})
	.join(" union all ");

async function countWork(
	client: PoolClient,
	organizationId: string,
	day: string,
): Promise<Work[]> {
	const { rows } = await client.query<Work>({
		name: "board.work",
		text: WORK,
		values: [organizationId, day],
	});
	return rows;
}

async function countExceptions(
	client: PoolClient,
	organizationId: string,
	moment: string | undefined,
): Promise<number> {
	const { rows } = await client.query<{ count: number }>({
		name: "board.exceptions",
		text: `select count(*)::int as count from device_exceptions e
			where e.organization_id = $1 and ${isInForce("coalesce($2::timestamptz, now())")}`,
		values: [organizationId, moment ?? null],
	});
	return rows[0]?.count ?? 0;
}
