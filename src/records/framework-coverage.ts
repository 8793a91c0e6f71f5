import type { PoolClient } from "pg";
import { z } from "zod";
import { checksOfControl, mappingOf } from "../devices/check-controls.ts";
import { checkResult, resultOf } from "../devices/check-results/counts.ts";
import { readLatest } from "../devices/check-results/operations.ts";
import { notFound } from "../invoke.ts";
import { defineOperation } from "../operation.ts";
import { TODAY } from "../organizations/time-zone.ts";
import { framework } from "../registers/framework.ts";
import { percentSql } from "../units.ts";
import { asOfShape, contextAsOf } from "./as-of.ts";
import { COVERAGE, firstMeasureNames, MEASURES } from "./control-coverage.ts";
import { recordOperations } from "./operations.ts";
import { obvious } from "./shown-in-tool-list.ts";
import { idSchema } from "./text-schemas.ts";

const [list, getWithoutCoverage, add, update, remove] =
	recordOperations(framework);

const coverage = z.object({
	controls: z.int().describe("Controls of the framework"),
	included: z.int().describe("Controls that apply"),
	covered: z
		.int()
		.describe(
			"Included controls whose linked measures that apply are all IMPLEMENTED and not contradicted by a device check",
		),
	partly_covered: z
		.int()
		.describe("Included controls with some such measures, but not all"),
	contradicted: z
		.int()
		.describe(
			"Other included controls linked to a contradicted measure; they have no such measure",
		),
	with_evidence: z
		.int()
		.describe("Included controls with valid evidence, own or of a measure"),
	coverage_percent: z
		.number()
		.nullable()
		.describe("Share of covered in included, 0 to 100; null: none is included"),
});

const endsOf = (id: string) => `
	select k.second_id as id from record_links k
	where k.organization_id = c.organization_id and k.first_id = ${id}
	union all
	select k.first_id from record_links k
	where k.organization_id = c.organization_id and k.second_id = ${id}`;

/** Counts the evidence of the control `c` and of its measures that still counts today. */
const EVIDENCE = `(
	select count(*)::int from evidence e
	where e.organization_id = c.organization_id and e.archived_at is null
		and (e.valid_until is null or e.valid_until >= ${TODAY})
		and e.id in (
			${endsOf("c.id")}
			union all
			select n.id from (${endsOf("c.id")}) l
			join measures m on m.organization_id = c.organization_id and m.id = l.id
			cross join lateral (${endsOf("m.id")}) n
		)
)`;

/**
 * Replaces the ordinary getFramework. Its result also contains the number of controls and how many
 * of them are covered.
 */
const getFramework = defineOperation({
	...getWithoutCoverage,
	description:
		"Read a framework with the number of its controls and its coverage: the share of included controls whose measures that apply are all IMPLEMENTED and not contradicted by a device check.",
	output: getWithoutCoverage.output.extend({ coverage }),
	run: async (context, input) => {
		const { client, membership } = await contextAsOf(context, input.as_of);
		const [found, covered] = await Promise.all([
			getWithoutCoverage.run(context, input),
			readCoverage(client, membership.organizationId, input.id),
		]);
		return { ...found, coverage: covered };
	},
});

/**
 * Largest number of controls of one framework that the page shows. The largest common catalog, NIST
 * SP 800-53, has about 1,200.
 */
const MAX_CONTROLS = 2000;

/** Number of measures that are named beside a control. The page of the control lists all. */
const NAMED_MEASURES = 2;

/**
 * Returns the content of a framework's page: all its controls in one result, each with its
 * coverage.
 */
const getFrameworkCoverage = defineOperation({
	name: "getFrameworkCoverage",
	title: "Get a framework's coverage",
	description: `Read the controls of a framework by section, each with its device checks and its measures by state; at most ${MAX_CONTROLS}. covered counts those with all measures that apply IMPLEMENTED.`,
	toolset: "frameworks",
	access: "read",
	tenant: "id",
	input: z.strictObject({
		id: idSchema("framework").meta(obvious("Id of the framework")),
		only_gaps: z
			.boolean()
			.optional()
			.describe("Only controls that apply and are not fully covered"),
		...asOfShape,
	}),
	output: z.object({
		coverage,
		controls: z
			.array(
				z.object({
					id: z.string(),
					section_title: z.string(),
					name: z.string(),
					status: z.enum(["INCLUDED", "EXCLUDED"]),
					measures: z.int(),
					measure_names: z
						.array(z.string())
						.describe(`The first ${NAMED_MEASURES} of them by name`),
					implemented_measures: z
						.int()
						.describe("IMPLEMENTED and not contradicted by a device check"),
					contradicted_measures: z
						.int()
						.describe("IMPLEMENTED, but their device check does not show it"),
					started_measures: z.int().describe("IN_PROGRESS"),
					planned_measures: z.int().describe("NOT_STARTED"),
					is_covered: z
						.boolean()
						.describe(
							"Its measures that apply are all implemented; also said if it is EXCLUDED",
						),
					is_partly_covered: z.boolean().describe("Some are, not all"),
					evidence: z
						.int()
						.describe("Its valid evidence, and that of its measures"),
					checks: z
						.array(z.string())
						.describe("Keys of the device checks that test it"),
				}),
			)
			.describe(
				"Fewer than coverage.controls with only_gaps, or when there are too many",
			),
		checks: z
			.array(checkResult)
			.describe("Last results of the checks that test these controls"),
		checks_counted_at: z
			.string()
			.nullable()
			.describe("null: not counted within a day, so nothing is known"),
	}),
	run: async (context, input) => {
		const { client, membership } = await contextAsOf(context, input.as_of);
		const { organizationId } = membership;
		const found = await client.query(
			"select from frameworks where organization_id = $1 and id = $2",
			[organizationId, input.id],
		);
		if (found.rowCount === 0) throw notFound(input.id);
		const [total, { rows }, latest] = await Promise.all([
			readCoverage(client, organizationId, input.id),
			client.query<ControlRow>({
				name: "framework_controls",
				text: `
					with mapping as materialized (
						select x.* from frameworks f cross join lateral (${mappingOf("f")}) x
						where f.organization_id = $1 and f.id = $2
					)
					select c.id, c.section_title, c.name, c.status, linked.*, ${EVIDENCE} as evidence,
						${firstMeasureNames(NAMED_MEASURES)} as measure_names,
						${checksOfControl("c", "mapping")} as checks
					from controls c, lateral (
						select count(m.state)::int as measures,
							(count(*) filter (where m.state = 'IMPLEMENTED'))::int as implemented_measures,
							(count(*) filter (where m.state = 'CONTRADICTED'))::int as contradicted_measures,
							(count(*) filter (where m.state = 'IN_PROGRESS'))::int as started_measures,
							(count(*) filter (where m.state = 'NOT_STARTED'))::int as planned_measures,
							${COVERAGE}
						from ${MEASURES} m
					) linked
					where c.organization_id = $1 and c.framework_id = $2
						and (not $3 or c.status = 'INCLUDED' and not linked.is_covered)
					order by c.section_title_key, c.name_key, c.id
					limit ${MAX_CONTROLS}`,
				values: [organizationId, input.id, input.only_gaps ?? false],
			}),
			readLatest(client),
		]);
		const keys = new Set(rows.flatMap(({ checks }) => checks));
		return {
			coverage: total,
			controls: rows,
			checks: [...keys].sort().map((key) => resultOf(key, latest.counts)),
			// A count of the past is that of the day's end.
			checks_counted_at:
				latest.counted_at && (input.as_of ?? latest.counted_at),
		};
	},
});

interface ControlRow {
	id: string;
	section_title: string;
	name: string;
	status: "INCLUDED" | "EXCLUDED";
	measures: number;
	measure_names: string[];
	implemented_measures: number;
	contradicted_measures: number;
	started_measures: number;
	planned_measures: number;
	is_covered: boolean;
	is_partly_covered: boolean;
	evidence: number;
	checks: string[];
}

export const frameworkOperations = [
	list,
	getFramework,
	add,
	update,
	remove,
	getFrameworkCoverage,
] as const;

async function readCoverage(
	client: PoolClient,
	organizationId: string,
	frameworkId: string,
): Promise<z.output<typeof coverage>> {
	const { rows } = await client.query<z.output<typeof coverage>>({
		name: "framework_coverage",
		text: `
			with control as (
				select c.status = 'INCLUDED' as is_included, linked.*, ${EVIDENCE} > 0 as has_evidence
				from controls c, lateral (
					select ${COVERAGE},
						coalesce(bool_or(m.state = 'CONTRADICTED'), false) as is_contradicted
					from ${MEASURES} m
				) linked
				where c.organization_id = $1 and c.framework_id = $2
			), total as (
				select
					count(*)::int as controls,
					count(*) filter (where is_included)::int as included,
					count(*) filter (where is_included and is_covered)::int as covered,
					count(*) filter (where is_included and is_partly_covered)::int as partly_covered,
					count(*) filter (
						where is_included and is_contradicted and not is_partly_covered
					)::int as contradicted,
					count(*) filter (where is_included and has_evidence)::int as with_evidence
				from control
			)
			select *, ${percentSql("covered", "included")} as coverage_percent from total`,
		values: [organizationId, frameworkId],
	});
	const [row] = rows;
	if (!row) throw new Error("the query that counts controls returned no row");
	return row;
}
