import type { PoolClient } from "pg";
import { z } from "zod";
import { defineOperation } from "./operation.ts";
import { framework } from "./records/framework.ts";

const [list, getWithoutCoverage, add, update, remove] = framework.operations;

const coverage = z.object({
	controls: z.int().describe("Controls of the framework"),
	included: z.int().describe("Controls that apply"),
	covered: z
		.int()
		.describe("Included controls linked to at least one IMPLEMENTED measure"),
	coverage_percent: z
		.number()
		.nullable()
		.describe("covered of included, 0 to 100; null when none is included"),
});

/** getFramework: as every record, and how far its controls are met. */
const getFramework = defineOperation({
	...getWithoutCoverage,
	description:
		"Read a framework by its id, with the number of its controls and its coverage: the share of included controls that are linked to an IMPLEMENTED measure.",
	output: getWithoutCoverage.output.extend({ coverage }),
	run: async (context, input) => {
		const [found, covered] = await Promise.all([
			getWithoutCoverage.run(context, input),
			readCoverage(context.client, context.membership.organizationId, input.id),
		]);
		return { ...found, coverage: covered };
	},
});

export const frameworkOperations = [
	list,
	getFramework,
	add,
	update,
	remove,
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
				select c.status = 'INCLUDED' as is_included, c.status = 'INCLUDED' and exists (
					select from record_links l
					join measures m on m.organization_id = l.organization_id
						and m.id = case when l.first_id = c.id then l.second_id else l.first_id end
					where l.organization_id = c.organization_id
						and (l.first_id = c.id or l.second_id = c.id)
						and m.state = 'IMPLEMENTED'
				) as is_covered
				from controls c
				where c.organization_id = $1 and c.framework_id = $2
			), total as (
				select
					count(*)::int as controls,
					count(*) filter (where is_included)::int as included,
					count(*) filter (where is_covered)::int as covered
				from control
			)
			select *, round(100.0 * covered / nullif(included, 0), 1)::float8 as coverage_percent from total`,
		values: [organizationId, frameworkId],
	});
	const [row] = rows;
	if (!row) throw new Error("an aggregate has one row");
	return row;
}
