import type { PoolClient } from "pg";
import { z } from "zod";
import { findNames } from "../records/name-lookup.ts";
import {
	DEVICES,
	FRESHNESS,
	isReporting,
	staleAfter,
} from "./device-record.ts";
import { silencesAt } from "./silences.ts";

/** Largest number of groups in the summary. Those with the most failing devices come first. */
const MAX_GROUPS = 100;

/** Largest number of checks that a group lists. The most common come first. */
const MAX_CHECKS = 20;

const GROUPS = ["platform", "owner_id"] as const;
type GroupBy = (typeof GROUPS)[number];

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
				failing: byCheck.describe("Failing ONLINE devices by check"),
				unknown: byCheck.describe("ONLINE devices by check that is unknown"),
			}),
		)
		.describe(
			`The ${MAX_GROUPS} with most failing devices; empty without group_by`,
		),
	omitted_groups: z.int(),
};

/**
 * Returns two common table expressions for the organization $1. `fleet` has the ACTIVE devices,
 * whether they are stale, and the columns that groups can be made by. `state` has the last status
 * of each check of each device.
 *
 * At a time in the past, $2, only observations are known. A device belongs to the fleet if it had
 * been activated by then and was not yet revoked. It is stale if its last observation was older
 * than `staleAfter` of its posture interval. If a span of the history covers the time, that counts
 * as an observation, unless the device was silent.
 */
export function fleetAndState(asOf: string | undefined): string {
	if (asOf === undefined) {
		return `
			state as (
				select s.device_id, s.check_key, s.status
				from posture_spans s
				where s.organization_id = $1 and s.is_current
			), known as (
				select
					t.id, t.platform, t.owner_id, (${FRESHNESS}) = 'ONLINE' as is_online,
					${isReporting()} as is_reporting
				from ${DEVICES}
				where t.organization_id = $1 and t.status = 'ACTIVE'
			), fleet as (
				select
					k.id, k.platform, k.owner_id, k.is_online,
					(k.is_online and k.is_reporting) is not true as is_stale
				from known k
			)`;
	}
	return `
		state as (
			select distinct on (s.device_id, s.check_key)
				s.device_id, s.check_key, s.status, least(s.last_observed_at, $2) as observed_at
			from posture_spans s
			where s.organization_id = $1 and s.since <= $2
			order by s.device_id, s.check_key, s.since desc
		), observed as (
			select s.device_id as id, max(s.observed_at) as at from state s group by 1
		), fleet as (
			select
				t.id, t.platform, t.owner_id, false as is_online,
				s.at is null or least(s.at, quiet.since) < $2::timestamptz
					- ${staleAfter("o.posture_interval_seconds")} as is_stale
			from ${DEVICES}
			left join observed s on s.id = t.id
			left join ${silencesAt("$2::timestamptz")} quiet on quiet.device_id = t.id
			where t.organization_id = $1
				and (t.activated_at <= $2 or s.at is not null)
				and (t.revoked_at is null or t.revoked_at > $2)
		)`;
}

interface Group
	extends Omit<z.input<typeof groupsShape.groups>[number], "name"> {
	all_groups: number;
}

/** Counts the fleet by platform or owner: its devices, and which checks fail or are unknown. */
export async function countGroups(
	client: PoolClient,
	organizationId: string,
	column: GroupBy,
	asOf: string | undefined,
): Promise<z.input<z.ZodObject<typeof groupsShape>>> {
	const checksWith = (status: string) => `(
		select coalesce(jsonb_object_agg(c.check_key, c.devices), '{}')
		from (
			select * from checks c
			where c.value is not distinct from g.value and c.status = '${status}'
			order by c.devices desc, c.check_key
			limit ${MAX_CHECKS}
		) c
	)`;
	const { rows } = await client.query<Group>({
		name: `summary.${column}${asOf ? ".as_of" : ""}`,
		text: `
			with ${fleetAndState(asOf)}, failing as (
				select distinct s.device_id from state s where s.status = 'FAIL'
			), checks as (
				select f.${column} as value, s.check_key, s.status, count(*)::int as devices
				from fleet f join state s on s.device_id = f.id
				where not f.is_stale and s.status in ('FAIL', 'UNKNOWN')
				group by 1, 2, 3
			), grouped as (
				select
					f.${column} as value, count(*)::int as active_devices,
					(count(*) filter (where f.is_stale))::int as stale_devices,
					(count(x.device_id) filter (where not f.is_stale))::int as failing_devices,
					(count(*) over ())::int as all_groups
				from fleet f left join failing x on x.device_id = f.id
				group by 1
				order by failing_devices desc, active_devices desc, value
				limit ${MAX_GROUPS}
			)
			select g.*, ${checksWith("FAIL")} as failing, ${checksWith("UNKNOWN")} as unknown
			from grouped g
			order by g.failing_devices desc, g.active_devices desc, g.value`,
		values: asOf ? [organizationId, asOf] : [organizationId],
	});
	const ids = rows.flatMap(({ value }) => value ?? []);
	const named =
		column === "owner_id" ? await findNames(client, organizationId, ids) : [];
	const names = new Map(named.map(({ id, name }) => [id, name]));
	return {
		groups: rows.map(({ all_groups: _, ...group }) => ({
			...group,
			...(column === "owner_id" && {
				name: names.get(group.value ?? "") ?? null,
			}),
		})),
		omitted_groups: (rows[0]?.all_groups ?? 0) - rows.length,
	};
}
