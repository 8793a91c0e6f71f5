import { z } from "zod";
import { coveringStateSql } from "../devices/check-results/verification.ts";
import { defineOperation } from "../operation.ts";
import { asOfShape, contextAsOf } from "../records/as-of.ts";
import { organizationId } from "../records/list-pages.ts";
import { idSchema } from "../records/text-schemas.ts";
import { MAX_RISKS } from "./max-risks.ts";

/** Most measures that are named for one risk. */
const MAX_MEASURES = 100;

/** The report of the risk register reads this. Clients read one risk with listLinkedRecords. */
export const getMeasuresOfRisks = defineOperation({
	name: "getMeasuresOfRisks",
	title: "Get the measures of risks",
	description:
		"Read the measures linked to each of several risks, with their state. Archived measures are left out.",
	toolset: "links",
	access: "read",
	surface: "console",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		risk_ids: z.array(idSchema("risk")).max(MAX_RISKS),
		...asOfShape,
	}),
	output: z.object({
		risks: z
			.array(
				z.object({
					risk_id: z.string(),
					measures: z.array(
						z.object({
							name: z.string(),
							state: z
								.string()
								.describe(
									"CONTRADICTED: IMPLEMENTED, but device checks differ",
								),
						}),
					),
				}),
			)
			.describe("Risks with at least one measure"),
	}),
	run: async (context, { organization_id, risk_ids, as_of }) => {
		const { client } = await contextAsOf(context, as_of);
		const { rows } = await client.query<{
			risk_id: string;
			measures: { name: string; state: string }[];
		}>({
			name: "measures_of_risks",
			text: `
				select r.id as risk_id, m.measures
				from unnest($2::text[]) r (id)
				cross join lateral (
					select jsonb_agg(
						jsonb_build_object('name', x.name, 'state', x.state) order by x.name_key, x.id
					) as measures
					from (
						select m.id, m.name, m.name_key, ${coveringStateSql("m")} as state
						from (
							select k.second_id as id from record_links k
							where k.organization_id = $1 and k.first_id = r.id
							union all
							select k.first_id from record_links k
							where k.organization_id = $1 and k.second_id = r.id
						) l
						join measures m on m.organization_id = $1 and m.id = l.id
						where m.archived_at is null
						order by m.name_key, m.id
						limit ${MAX_MEASURES}
					) x
				) m
				where m.measures is not null`,
			values: [organization_id, risk_ids],
		});
		return { risks: rows };
	},
});
