import type { PoolClient } from "pg";
import { z } from "zod";
import { checkStates } from "../devices/check-states.ts";
import { checkName } from "../devices/device-record.ts";
import { MAX_NAMED } from "./max-named.ts";

const failingCheck = z.object({
	device_id: z.string(),
	device_name: z.string().nullable(),
	check_key: z.string(),
	check_name: z.string().nullable(),
	since: z.string(),
	in_grace_until: z.string().nullable().describe("null: no grace is left"),
});

export const ownFailingChecks = z
	.array(failingCheck)
	.describe(
		`Required checks that the person's ACTIVE devices fail, without exceptions, at most ${MAX_NAMED}`,
	);

/**
 * Lists the required checks that a person's ACTIVE devices fail. Those without grace come first, and
 * then those whose grace ends soonest.
 */
export async function readOwnFailingChecks(
	client: PoolClient,
	organizationId: string,
	personId: string,
): Promise<z.output<typeof ownFailingChecks>> {
	const { rows: devices } = await client.query<{
		id: string;
		name: string | null;
	}>({
		name: "overview.own_devices",
		text: `
			select d.id, coalesce(d.name, d.hostname) as name from devices d
			where d.organization_id = $1 and d.owner_id = $2 and d.status = 'ACTIVE'`,
		values: [organizationId, personId],
	});
	if (devices.length === 0) return [];
	const nameOf = new Map(devices.map(({ id, name }) => [id, name]));
	const { rows } = await client.query<
		Pick<
			z.output<typeof failingCheck>,
			"device_id" | "check_key" | "since" | "in_grace_until"
		>
	>({
		name: "overview.own_failing_checks",
		text: `
			select c.device_id, c.check_key, c.since,
				case when c.state = 'IN_GRACE' then c.grace_until end as in_grace_until
			from (${checkStates({ ids: "$2::text[]", statuses: ["FAIL"] })}) c
			where c.state in ('FAILING', 'IN_GRACE')
			order by in_grace_until nulls first, c.device_id, c.check_key
			limit ${MAX_NAMED}`,
		values: [organizationId, [...nameOf.keys()]],
	});
	return rows.map(({ device_id, check_key, ...times }) => ({
		device_id,
		device_name: nameOf.get(device_id) ?? null,
		check_key,
		check_name: checkName(check_key),
		...times,
	}));
}
