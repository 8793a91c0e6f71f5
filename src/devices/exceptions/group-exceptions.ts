import type { PoolClient } from "pg";
import { textArray } from "../../db/array.ts";
import { devicesOfGroup } from "../device-groups.ts";
import { deviceListing } from "../device-listing.ts";

/**
 * Notes which devices the groups of approved exceptions contain now. The state of a device, also at
 * a time in the past, reads these rows. They are noted when an exception is approved, when a list
 * of devices changes, and once a minute for groups with a filter.
 *
 * A group whose filter depends on the states of checks keeps the devices it had, because its own
 * exception changes those states.
 */
export async function noteGroupDevices(
	client: PoolClient,
	organizationId: string,
	groupId?: string,
): Promise<void> {
	const { rows } = await client.query<{ id: string; group_id: string }>(
		`select e.id, e.group_id from device_exceptions e
		join device_groups g on g.organization_id = e.organization_id and g.id = e.group_id
		where e.organization_id = $1 and e.decision = 'APPROVED' and e.ends_at > now()
			and ($2::text is null or e.group_id = $2)
			and not coalesce(g.filter ?| array['check_state', 'compliance'], false)
		order by e.id`,
		[organizationId, groupId ?? null],
	);
	const devices = new Map<string, string[]>();
	for (const { id, group_id } of rows) {
		const known =
			devices.get(group_id) ??
			(await devicesOfGroup(
				client,
				organizationId,
				group_id,
				deviceListing.filters,
			));
		devices.set(group_id, known);
		await store(client, organizationId, id, known);
	}
}

async function store(
	client: PoolClient,
	organizationId: string,
	exceptionId: string,
	deviceIds: string[],
): Promise<void> {
	await client.query(
		`with wanted as (select unnest($3::text[]) as device_id), gone as (
			update device_exception_members m set until = now()
			where m.organization_id = $1 and m.exception_id = $2 and m.until is null
				and m.device_id <> all (select w.device_id from wanted w)
		)
		insert into device_exception_members (organization_id, exception_id, device_id)
		select $1, $2, w.device_id from wanted w
		where not exists (
			select from device_exception_members m
			where m.organization_id = $1 and m.exception_id = $2 and m.device_id = w.device_id
				and m.until is null
		)
		on conflict do nothing`,
		[organizationId, exceptionId, textArray(deviceIds)],
	);
}
