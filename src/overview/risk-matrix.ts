import type { PoolClient } from "pg";
import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { asOfShape, contextAsOf } from "../records/as-of.ts";
import { organizationId } from "../records/list-pages.ts";

const cells = z.array(
	z.object({ likelihood: z.int(), impact: z.int(), risks: z.int() }),
);

/** The number of risks for each likelihood and impact, before and after treatment. */
export const riskCells = z.object({ inherent: cells, residual: cells });

/** Clients count risks with countRecords, by one field at a time. */
export const getRiskMatrix = defineOperation({
	name: "getRiskMatrix",
	title: "Get the risk matrix",
	description:
		"Count risks by likelihood and impact, before and after treatment. Archived risks do not count.",
	toolset: "counts",
	access: "read",
	surface: "console",
	tenant: "organization_id",
	input: z.strictObject({ organization_id: organizationId(), ...asOfShape }),
	output: riskCells,
	run: async (context, { organization_id, as_of }) => {
		const { client } = await contextAsOf(context, as_of);
		return countRisks(client, organization_id);
	},
});

/**
 * Counts each combination of the four scores once, which reads the register once, and only an index
 * that has all of them. There are at most 625 combinations to add up.
 */
export async function countRisks(
	client: PoolClient,
	organization: string,
): Promise<z.output<typeof riskCells>> {
	const cellsOf = (which: string) => `
		select '${which}' as which, c.${which}_likelihood as likelihood, c.${which}_impact as impact,
			sum(c.risks)::int as risks
		from counted c group by 2, 3`;
	const { rows } = await client.query<
		z.output<typeof cells>[number] & { which: "inherent" | "residual" }
	>({
		name: "overview.risks",
		text: `
			with counted as (
				select t.inherent_likelihood, t.inherent_impact, t.residual_likelihood, t.residual_impact,
					count(*) as risks
				from risks t where t.organization_id = $1 and t.archived_at is null
				group by 1, 2, 3, 4
			)
			${cellsOf("inherent")} union all ${cellsOf("residual")} order by likelihood, impact`,
		values: [organization],
	});
	const of = (wanted: string) =>
		rows
			.filter(({ which }) => which === wanted)
			.map(({ which: _, ...cell }) => cell);
	return { inherent: of("inherent"), residual: of("residual") };
}
