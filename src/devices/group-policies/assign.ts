import type { PoolClient } from "pg";
import { textArray } from "../../db/array.ts";
import { devicesOfGroup } from "../device-groups.ts";
import { deviceListing } from "../device-listing.ts";

/**
 * Waits until no other transaction changes the policies of groups, or which devices they apply to.
 * A caller that also locks a group locks the group first.
 */
export async function lockGroupPolicies(
	client: PoolClient,
	organizationId: string,
): Promise<void> {
	await client.query(
		"select pg_advisory_xact_lock(hashtextextended('group policies ' || $1, 0))",
		[organizationId],
	);
}

/**
 * Notes which policy applies to each device now: of the policies of its groups, the one with the
 * lowest priority number, or else the organization's. Runs when a policy or the list of a group's
 * devices changes, and once a minute for groups with a filter. Everything that judges devices reads
 * `devices.group_policy_id`, or for a time in the past the spans that are stored here.
 */
export async function assignGroupPolicies(
	client: PoolClient,
	organizationId: string,
): Promise<void> {
	await lockGroupPolicies(client, organizationId);
	const { rows } = await client.query<{ id: string; group_id: string }>(
		`select p.id, p.group_id from device_group_policies p
		where p.organization_id = $1 and p.priority is not null
		order by p.priority`,
		[organizationId],
	);
	const policies = new Map<string, string>();
	for (const { id, group_id } of rows) {
		const devices = await devicesOfGroup(
			client,
			organizationId,
			group_id,
			deviceListing.filters,
		);
		for (const device of devices) {
			if (!policies.has(device)) policies.set(device, id);
		}
	}
	await client.query({
		name: "group_policies.assign",
		text: ASSIGN,
		values: [
			organizationId,
			textArray([...policies.keys()]),
			textArray([...policies.values()]),
		],
	});
}

/** Assigns the policies if the organization has some, for groups whose devices change by themselves. */
export async function keepGroupPolicies(
	client: PoolClient,
	organizationId: string,
): Promise<void> {
	const { rowCount } = await client.query(
		`select from device_group_policies
		where organization_id = $1 and priority is not null limit 1`,
		[organizationId],
	);
	if (rowCount) await assignGroupPolicies(client, organizationId);
}

// Locks the devices in the order of their ids, as every change of several devices does.
const ASSIGN = `
	with moment as materialized (
		select clock_timestamp() as now
	), wanted as materialized (
		select w.device_id, w.policy_id from unnest($2::text[], $3::text[]) w (device_id, policy_id)
	), changing as materialized (
		select d.id, w.policy_id
		from devices d
		left join wanted w on w.device_id = d.id
		where d.organization_id = $1
			and (d.group_policy_id is not null or d.id in (select x.device_id from wanted x))
			and d.group_policy_id::text is distinct from w.policy_id
		order by d.id
		for no key update of d
	), changed as (
		update devices d set group_policy_id = c.policy_id
		from changing c
		where d.organization_id = $1 and d.id = c.id
		returning d.id, d.group_policy_id
	), ended as (
		update device_group_policy_spans s set until = m.now
		from changed c, moment m
		where s.organization_id = $1 and s.device_id = c.id and s.until is null
		returning s.device_id
	)
	insert into device_group_policy_spans (organization_id, device_id, since, policy_id)
	select $1, c.id, m.now, c.group_policy_id
	from changed c cross join moment m
	where c.group_policy_id is not null
		-- Reads what was ended, so that it has ended before another span begins.
		and (select count(*) from ended) >= 0`;
