import type { PoolClient } from "pg";

/** Returns the open nonconformities that list the device, by the key of the check. */
export async function openNonconformities(
	client: PoolClient,
	organizationId: string,
	deviceId: string,
) {
	const { rows } = await client.query<{
		check_key: string;
		nonconformity_id: string;
		nonconformity_reference_id: string;
	}>({
		name: "device.nonconformities",
		text: `
			select p.check_key, n.id as nonconformity_id, n.reference_id as nonconformity_reference_id
			from nonconformity_devices p
			join nonconformities n on n.organization_id = p.organization_id and n.id = p.nonconformity_id
			where p.organization_id = $1 and p.device_id = $2 and p.until is null`,
		values: [organizationId, deviceId],
	});
	return new Map(rows.map(({ check_key, ...found }) => [check_key, found]));
}
