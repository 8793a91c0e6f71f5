import type { PoolClient } from "pg";

export const CONFLICT_KINDS = ["DUPLICATE_HARDWARE", "POSSIBLE_CLONE"] as const;

export interface DeviceConflict {
	kind: (typeof CONFLICT_KINDS)[number];
	/** The live device that uses the same hardware. Null for a possible clone. */
	other_device_id: string | null;
	/**
	 * Hardware of the machine that last caused the conflict. The platform and the hostname are also
	 * those of that machine.
	 */
	hardware_uuid: string;
	platform: string;
	hostname: string;
	occurrences: number;
	first_seen_at: string;
	last_seen_at: string;
}

/**
 * Returns the conflicts of a device that an administrator must look at, at most one of each kind.
 */
export async function listConflicts(
	client: PoolClient,
	organizationId: string,
	deviceId: string,
): Promise<DeviceConflict[]> {
	const { rows } = await client.query<DeviceConflict>({
		name: "device_conflicts",
		text: `
			select
				kind, other_device_id, hardware_uuid, platform, hostname,
				occurrences::float8 as occurrences, first_seen_at, last_seen_at
			from device_conflicts
			where organization_id = $1 and device_id = $2
			order by kind`,
		values: [organizationId, deviceId],
	});
	return rows;
}
