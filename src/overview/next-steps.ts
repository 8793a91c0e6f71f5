import type { PoolClient } from "pg";
import { z } from "zod";
import { defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { countListed } from "./count-records.ts";

/** Records that wait for somebody, in the order in which a compliance lead meets them. */
const GAPS = {
	UNDECIDED_RISKS: { kind: "risk", filter: { is_undecided: true } },
	RISKS_WITHOUT_OWNER: { kind: "risk", filter: { owner_id: null } },
	MEASURES_WITHOUT_OWNER: { kind: "measure", filter: { owner_id: null } },
	CONTROLS_WITHOUT_MEASURE: {
		kind: "control",
		filter: { status: "INCLUDED", without_linked: "measure" },
	},
} as const;

const KEYS = Object.keys(GAPS) as (keyof typeof GAPS)[];

/**
 * Counts what the console's home page names as next. Each gap is the filter of a list, so the list
 * has exactly the records that are counted.
 */
export const getNextSteps = defineOperation({
	name: "getNextSteps",
	title: "Get the next steps",
	description:
		"Count the records that wait for a decision, an owner or a link.",
	toolset: "counts",
	access: "read",
	surface: "console",
	tenant: "organization_id",
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({
		gaps: z
			.array(
				z.object({
					key: z.enum(KEYS),
					kind: z.string(),
					filter: z.record(
						z.string(),
						z.union([z.string(), z.boolean(), z.null()]),
					),
					count: z.int(),
				}),
			)
			.describe("Only what there is, with the filter of the kind's list"),
		is_alone: z
			.boolean()
			.describe("The organization has one member and no open invitation"),
	}),
	run: async ({ client }, { organization_id }) => {
		const [counted, isAlone] = await Promise.all([
			Promise.all(
				KEYS.map(async (key) => {
					const { kind, filter } = GAPS[key];
					const count = await countListed(
						client,
						organization_id,
						kind,
						filter,
					);
					return { key, kind, filter, count };
				}),
			),
			readIsAlone(client, organization_id),
		]);
		return {
			gaps: counted.filter(({ count }) => count > 0),
			is_alone: isAlone,
		};
	},
});

async function readIsAlone(
	client: PoolClient,
	organizationId: string,
): Promise<boolean> {
	const { rows } = await client.query<{ is_alone: boolean }>({
		name: "next_steps.people",
		text: `
			select (select count(*) from memberships m where m.organization_id = $1) <= 1
				and not exists (
					select from invitations i
					where i.organization_id = $1 and i.accepted_at is null and i.revoked_at is null
						and i.expires_at > now()
				) as is_alone`,
		values: [organizationId],
	});
	return rows[0]?.is_alone ?? false;
}
