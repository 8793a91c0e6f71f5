import type { PoolClient } from "pg";
import { textArray } from "../../db/array.ts";
import { takeTransactionLocks } from "../../db/transaction-locks.ts";
import { devicesOfGroup, type IdRange } from "../device-groups.ts";
import { deviceListing } from "../device-listing.ts";
import type { Steps } from "../steps.ts";

/**
 * Waits until no other transaction changes the policies of groups, or which devices they apply to.
 * A caller that also locks a group locks the group first.
 */
export function lockGroupPolicies(
	client: PoolClient,
	organizationId: string,
): Promise<void> {
	return takeTransactionLocks(client, `group policies ${organizationId}`);
}

/** Most devices that a call looks at in one statement. */
const CALL_SIZE = 5_000;

/** A call assigns policies until this many devices have another one. The upkeep does the rest. */
export const MAX_ASSIGNED = 10_000;

/** How far the upkeep has come with the policies of an organization's devices. */
export interface PolicyPass extends Steps {
	/** The last device that was looked at. */
	device: string;
}

export const PASS_START: PolicyPass = {
	size: 2_000,
	device: "",
	isMore: false,
};

/**
 * Notes which policy applies to each device now: of the policies of its groups, the one with the
 * lowest priority number, or else the organization's. Runs when a policy or the list of a group's
 * devices changes. Everything that judges devices reads `devices.group_policy_id`, or for a time in
 * the past the spans that are stored here. Until then, a device keeps the policy that it has. If that
 * policy was removed, the device keeps its thresholds and `max_silence_days`, but not its rules.
 *
 * Returns true if it stopped after many changes. The upkeep looks at the rest of the devices, some
 * of which may need another policy.
 */
export async function assignGroupPolicies(
	client: PoolClient,
	organizationId: string,
	{ size, max } = { size: CALL_SIZE, max: MAX_ASSIGNED },
): Promise<boolean> {
	await lockGroupPolicies(client, organizationId);
	if (!(await hasGroupPolicies(client, organizationId))) return false;
	let assigned = 0;
	let after: string | undefined = "";
	while (after !== undefined && assigned < max) {
		const step = await assignNext(client, organizationId, after, size);
		assigned += step.changed;
		after = step.last;
	}
	return after !== undefined;
}

/**
 * Does one step of a pass that notes which policy applies to each device. Once a minute, a pass
 * begins for groups whose devices change by themselves, and for what a call left. Returns the pass
 * for the next step, or undefined if the step was the last one.
 */
export async function keepGroupPolicies(
	client: PoolClient,
	organizationId: string,
	pass = PASS_START,
): Promise<PolicyPass | undefined> {
	if (!(await hasGroupPolicies(client, organizationId))) return;
	await lockGroupPolicies(client, organizationId);
	const { changed, last } = await assignNext(
		client,
		organizationId,
		pass.device,
		pass.size,
	);
	return last === undefined
		? undefined
		: { ...pass, device: last, isMore: changed > 0 };
}

/** After the last policy is removed, devices may still have it. */
async function hasGroupPolicies(
	client: PoolClient,
	organizationId: string,
): Promise<boolean> {
	const { rows } = await client.query<{ has: boolean }>(
		`select exists (
			select from device_group_policies
			where organization_id = $1 and priority is not null
		) or exists (
			select from devices where organization_id = $1 and group_policy_id is not null
		) as has`,
		[organizationId],
	);
	return rows[0]?.has ?? false;
}

/**
 * Assigns the policies of the next devices. Returns how many have another one now, and the last
 * device, unless no devices come after it.
 */
async function assignNext(
	client: PoolClient,
	organizationId: string,
	after: string,
	size: number,
): Promise<{ changed: number; last: string | undefined }> {
	const { rows: next } = await client.query<{
		last: string | null;
		devices: number;
	}>(
		`select max(id::text collate "C") as last, count(*)::int as devices from (
			select id from devices where organization_id = $1 and id > $2::text
			order by id limit $3
		) d`,
		[organizationId, after, size],
	);
	const { last, devices } = next[0] ?? { last: null, devices: 0 };
	if (last === null) return { changed: 0, last: undefined };
	const policies = await policiesOf(client, organizationId, { after, last });
	const { rows } = await client.query<{ changed: number }>({
		name: "group_policies.assign",
		text: ASSIGN,
		values: [
			organizationId,
			textArray([...policies.keys()]),
			textArray([...policies.values()]),
			after,
			last,
		],
	});
	return {
		changed: rows[0]?.changed ?? 0,
		last: devices < size ? undefined : last,
	};
}

/** Returns the id of the policy that should apply to each device of a range. */
async function policiesOf(
	client: PoolClient,
	organizationId: string,
	range: IdRange,
): Promise<Map<string, string>> {
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
			range,
		);
		for (const device of devices) {
			if (!policies.has(device)) policies.set(device, id);
		}
	}
	return policies;
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
		where d.organization_id = $1 and d.id > $4::text and d.id <= $5::text
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
	), begun as (
		insert into device_group_policy_spans (organization_id, device_id, since, policy_id)
		select $1, c.id, m.now, c.group_policy_id
		from changed c cross join moment m
		where c.group_policy_id is not null
			-- Reads what was ended, so that it has ended before another span begins.
			and (select count(*) from ended) >= 0
	)
	select count(*)::int as changed from changed`;
