import type { PoolClient } from "pg";
import {
	CHOICE_NAMES,
	DEFAULT_THRESHOLDS,
	THRESHOLD_NAMES,
	type Thresholds,
} from "./thresholds.ts";

const COLUMNS = [...THRESHOLD_NAMES, ...CHOICE_NAMES]
	.map(
		(name) =>
			`coalesce(g.${name}, p.${name}, '${DEFAULT_THRESHOLDS[name]}') as ${name}`,
	)
	.join(", ");

/**
 * Returns the thresholds in force for these devices: those of the group's policy that applies to the
 * device, otherwise those of the organization.
 */
export async function readDeviceThresholds(
	client: PoolClient,
	organizationId: string,
	deviceIds: readonly string[],
): Promise<Map<string, Thresholds>> {
	const { rows } = await client.query<Thresholds & { device_id: string }>({
		name: "device_thresholds",
		text: `
			select d.id as device_id, ${COLUMNS}
			from devices d
			left join device_policies p on p.organization_id = d.organization_id
			left join device_group_policies g on g.organization_id = d.organization_id
				and g.id = d.group_policy_id
			where d.organization_id = $1 and d.id = any($2::text[])`,
		values: [organizationId, deviceIds],
	});
	return new Map(
		rows.map(({ device_id, ...thresholds }) => [device_id, thresholds]),
	);
}
