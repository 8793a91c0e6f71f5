import type { PoolClient } from "pg";
import { z } from "zod";
import { findNames } from "../records/names-by-id.ts";
import { parts } from "./fleet-states.ts";

/** Largest number of groups in the summary. Those with the most failing devices come first. */
const MAX_GROUPS = 100;

/** Largest number of checks that a group lists. The most common come first. */
const MAX_CHECKS = 20;

const GROUPS = ["platform", "owner_id"] as const;
export type GroupBy = (typeof GROUPS)[number];

export const groupBy = () => z.enum(GROUPS);

const byCheck = z.record(z.string(), z.int());

/** The fields of the summary with the numbers of each group. */
export const groupsShape = {
	groups: z
		.array(
			z.object({
				value: z.string().nullable().describe("null: devices without one"),
				name: z.string().nullable().optional().describe("Name of the owner"),
				active_devices: z.int(),
				stale_devices: z.int().describe("Those that are not ONLINE"),
				failing_devices: z
					.int()
					.describe("Those that are ONLINE and fail a check"),
				failing: byCheck.describe("ONLINE devices that fail, by check"),
				unknown: byCheck.describe("ONLINE devices by check that is unknown"),
			}),
		)
		.describe(
			`The ${MAX_GROUPS} with most failing devices; empty without group_by`,
		),
	omitted_groups: z.int(),
};

export interface Group
	extends Omit<z.input<typeof groupsShape.groups>[number], "name"> {
	all_groups: number;
}

/**
 * Returns the parts of a statement over `fleetStates` that count the fleet by platform or owner:
 * its devices, and which checks fail or are unknown.
 */
export function groupParts(column: GroupBy) {
	const checksWith = (status: string) => `(
		select coalesce(jsonb_object_agg(c.check_key, c.devices), '{}')
		from (
			select * from group_checks c
			where c.value is not distinct from g.value and c.status = '${status}'
			order by c.devices desc, c.check_key
			limit ${MAX_CHECKS}
		) c
	)`;
	return {
		name: column,
		with: `
			grouped as materialized (
				select
					f.${column} as value, count(*)::int as active_devices,
					(count(*) filter (where f.is_stale))::int as stale_devices,
					(count(*) filter (where f.fails and not f.is_stale))::int as failing_devices,
					(count(*) over ())::int as all_groups
				from fleet f
				group by 1
				order by failing_devices desc, active_devices desc, value
				limit ${MAX_GROUPS}
			), group_checks as materialized (
				select f.value, f.status, f.check_key, count(*)::int as devices
				from (
					select f.${column} as value, ${parts("c")}
					from fleet f cross join unnest(f.others) c
					where not f.is_stale and exists (
						select from grouped g where coalesce(g.value, '') = coalesce(f.${column}, '')
					)
				) f
				where f.status in ('FAIL', 'UNKNOWN')
				group by 1, 2, 3
			)`,
		columns: `(
			select jsonb_agg(x order by x.failing_devices desc, x.active_devices desc, x.value)
			from (
				select g.*, ${checksWith("FAIL")} as failing, ${checksWith("UNKNOWN")} as unknown
				from grouped g
			) x
		) as groups`,
	};
}

/** Returns the groups that the statement with `groupParts` counted, with the names of owners. */
export async function readGroups(
	client: PoolClient,
	organizationId: string,
	column: GroupBy,
	groups: Group[],
): Promise<z.input<z.ZodObject<typeof groupsShape>>> {
	const ids = groups.flatMap(({ value }) => value ?? []);
	const named =
		column === "owner_id" ? await findNames(client, organizationId, ids) : [];
	const names = new Map(named.map(({ id, name }) => [id, name]));
	return {
		groups: groups.map(({ all_groups: _, ...group }) => ({
			...group,
			...(column === "owner_id" && {
				name: names.get(group.value ?? "") ?? null,
			}),
		})),
		omitted_groups: (groups[0]?.all_groups ?? 0) - groups.length,
	};
}
