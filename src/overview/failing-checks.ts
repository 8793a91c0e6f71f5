import type { PoolClient } from "pg";
import { z } from "zod";
import {
	checkName,
	DEVICES,
	FRESHNESS,
	isReporting,
} from "../devices/device-record.ts";
import { excusesAt, IS_EXCUSED } from "../devices/span-states.ts";
import { MAX_NAMED } from "./max-named.ts";

export const failingCheck = z.object({
	device_id: z.string(),
	device_name: z.string().nullable(),
	check_key: z.string(),
	check_name: z.string().nullable(),
	since: z.string(),
});

const LISTS = {
	LONGEST: { name: "overview.failing", since: "true", order: "s.since" },
	NEWEST: {
		name: "overview.newly_failing",
		since: "s.since > now() - interval '24 hours'",
		order: "s.since desc",
	},
};

/**
 * Lists the checks that ONLINE devices fail, without exceptions: those that fail longest, or the
 * newest of the last 24 hours.
 */
export async function findFailingChecks(
	client: PoolClient,
	organization: string,
	which: keyof typeof LISTS,
) {
	const { name, since, order } = LISTS[which];
	const { rows } = await client.query<
		Omit<z.output<typeof failingCheck>, "check_name">
	>({
		name,
		// With `limit 1`, PostgreSQL walks the failing checks by age and looks up their devices one by
		// one. A join would read the whole fleet, because the planner expects few devices to match.
		text: `
			with ${excusesAt()}
			select s.device_id, d.device_name, s.check_key, s.since
			from posture_spans s
			cross join lateral (
				select coalesce(t.name, t.hostname) as device_name
				from ${DEVICES}
				where t.organization_id = s.organization_id and t.id = s.device_id
					and t.status = 'ACTIVE' and (${FRESHNESS}) = 'ONLINE' and ${isReporting()}
				limit 1
			) d
			where s.organization_id = $1 and s.is_current and s.status = 'FAIL'
				and ${since} and not ${IS_EXCUSED}
			order by ${order}, s.device_id, s.check_key
			limit ${MAX_NAMED}`,
		values: [organization],
	});
	return rows.map((row) => ({ ...row, check_name: checkName(row.check_key) }));
}
