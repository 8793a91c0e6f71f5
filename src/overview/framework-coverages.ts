import type { PoolClient } from "pg";
import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { asOfShape, contextAsOf } from "../records/as-of.ts";
import { COVERAGE, MEASURES } from "../records/control-coverage.ts";
import { organizationId } from "../records/list-pages.ts";
import { idSchema } from "../records/text-schemas.ts";

/** Most frameworks of the home page, and most that a list asks about. */
const MAX_FRAMEWORKS = 6;
const MAX_ASKED = 100;

/** How many included controls of each framework are covered, for the home page. */
export const coverages = z
	.array(
		z.object({
			framework_id: z.string(),
			name: z.string(),
			included: z.int(),
			covered: z.int(),
			partly_covered: z.int(),
		}),
	)
	.describe(
		"Controls of each framework, those whose measures are all IMPLEMENTED and not contradicted, and those with some",
	);
type Coverages = z.output<typeof coverages>;

/** The home page of a past day and the list of frameworks read this. Clients read one framework with getFramework. */
export const getCoverages = defineOperation({
	name: "getCoverages",
	title: "Get the coverage of the frameworks",
	description: `Count the covered controls of the given frameworks, or of the first ${MAX_FRAMEWORKS} by name.`,
	toolset: "counts",
	access: "read",
	surface: "console",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		framework_ids: z.array(idSchema("framework")).max(MAX_ASKED).optional(),
		...asOfShape,
	}),
	output: z.object({ coverage: coverages }),
	run: async (context, { organization_id, framework_ids, as_of }) => {
		const { client } = await contextAsOf(context, as_of);
		return {
			coverage: await readCoverages(client, organization_id, {
				ids: framework_ids,
			}),
		};
	},
});

export async function readCoverages(
	client: PoolClient,
	organization: string,
	{
		ids,
		limit = ids?.length ?? MAX_FRAMEWORKS,
	}: { ids?: readonly string[] | undefined; limit?: number } = {},
) {
	const { rows } = await client.query<Coverages[number]>({
		name: "overview.coverage",
		text: `
			select f.id as framework_id, f.name, count(c.id)::int as included,
				(count(*) filter (where linked.is_covered))::int as covered,
				(count(*) filter (where linked.is_partly_covered))::int as partly_covered
			from (
				select f.organization_id, f.id, f.name, f.name_key from frameworks f
				where f.organization_id = $1 and ($2::text[] is null or f.id = any($2))
				order by f.name_key, f.id limit $3
			) f
			left join controls c on c.organization_id = f.organization_id
				and c.framework_id = f.id and c.status = 'INCLUDED'
			left join lateral (select ${COVERAGE} from ${MEASURES} m) linked on true
			group by f.id, f.name, f.name_key
			order by f.name_key, f.id`,
		values: [organization, ids ?? null, limit],
	});
	return rows;
}
