import { textArray } from "../db/array.ts";
import { makeId } from "../id.ts";
import type { Context } from "../operation.ts";
import { noteException } from "./exceptions/exception-changes.ts";
import { eventData, readException } from "./exceptions/exception-record.ts";
import { noteGroupDevices } from "./exceptions/group-exceptions.ts";
import {
	assignGroupPolicies,
	lockGroupPolicies,
} from "./group-policies/assign.ts";

/** A device and the earlier record of the same machine. */
export interface Succession {
	id: string;
	predecessor_id: string;
}

/**
 * Locks the groups of devices that may be replaced, and then the policies of groups. A change of a
 * group takes both before it takes devices, so call this before devices are locked.
 */
export async function lockGroupsOfReplaced(
	{ client, membership }: Context,
	ids: readonly string[],
): Promise<void> {
	await client.query(
		`select from device_groups g
		where g.organization_id = $1 and g.id in (
			select m.group_id from device_group_members m
			where m.organization_id = $1 and m.device_id = any($2::text[])
		)
		order by g.id for key share`,
		[membership.organizationId, textArray(ids)],
	);
	await lockGroupPolicies(client, membership.organizationId);
}

/**
 * Adds the devices to the groups that list their predecessors. The policies and the exceptions of
 * these groups then count for them.
 */
export async function takeOverGroups(
	context: Context,
	pairs: readonly Succession[],
): Promise<void> {
	const { client, membership } = context;
	const { rows } = await client.query<{
		id: string;
		name: string;
		added: string[];
	}>(
		`with added as (
			insert into device_group_members (organization_id, group_id, device_id)
			select $1, m.group_id, p.id
			from unnest($2::text[], $3::text[]) p (id, predecessor_id)
			join device_group_members m on m.organization_id = $1 and m.device_id = p.predecessor_id
			order by m.group_id, p.id
			on conflict do nothing
			returning group_id, device_id
		)
		select g.id, g.name, array_agg(a.device_id::text order by a.device_id) as added
		from added a
		join device_groups g on g.organization_id = $1 and g.id = a.group_id
		group by g.id, g.name
		order by g.id`,
		[
			membership.organizationId,
			textArray(pairs.map(({ id }) => id)),
			textArray(pairs.map(({ predecessor_id }) => predecessor_id)),
		],
	);
	for (const { id, name, added } of rows) {
		await noteGroupDevices(client, membership.organizationId, id);
		context.changed({
			kind: "device_group",
			id,
			name,
			fields: { added_device_ids: { after: added } },
		});
	}
	if (rows.length > 0) {
		await assignGroupPolicies(client, membership.organizationId);
	}
}

/**
 * Gives the devices the exceptions of their predecessors. An exception that has begun ends, and a
 * copy with the same approval goes on for the new device, so the past of both stays as it was. One
 * that has not begun, or waits for its approval, moves to the new device.
 */
export async function takeOverExceptions(
	context: Context,
	pairs: readonly Succession[],
): Promise<void> {
	const { client, membership } = context;
	const { organizationId } = membership;
	const { rows } = await client.query<{
		id: string;
		device_id: string;
		has_begun: boolean;
	}>(
		`select e.id, p.id as device_id,
			e.decision is not null and e.starts_at <= now() as has_begun
		from unnest($2::text[], $3::text[]) p (id, predecessor_id)
		join device_exceptions e on e.organization_id = $1 and e.device_id = p.predecessor_id
		where e.scope = 'DEVICE' and e.ends_at > now() and e.decision is distinct from 'REJECTED'
		order by e.id
		for update of e`,
		[
			organizationId,
			textArray(pairs.map(({ id }) => id)),
			textArray(pairs.map(({ predecessor_id }) => predecessor_id)),
		],
	);
	for (const { id, device_id, has_begun } of rows) {
		const before = await readException(context, id);
		if (!has_begun) {
			await client.query(
				`update device_exceptions set device_id = $3, updated_at = now()
				where organization_id = $1 and id = $2`,
				[organizationId, id, device_id],
			);
			noteException(context, before, await readException(context, id));
			continue;
		}
		const copy = makeId(organizationId, "device_exception");
		await client.query(
			`with ended as (
				update device_exceptions set ends_at = now(), updated_at = now()
				where organization_id = $1 and id = $2
			)
			insert into device_exceptions (
				organization_id, id, device_id, starts_at, check_key, scope, reason, ends_at,
				requested_by_id, requested_by_name, requested_by_person_id, link_copied_by_id,
				decision, decided_at, decided_by_id, decided_by_name, decision_note, reminded_days,
				needs_two_people, is_self_approved
			)
			select
				organization_id, $3, $4, now(), check_key, scope, reason, ends_at,
				requested_by_id, requested_by_name, requested_by_person_id, link_copied_by_id,
				decision, decided_at, decided_by_id, decided_by_name, decision_note, reminded_days,
				needs_two_people, is_self_approved
			from device_exceptions where organization_id = $1 and id = $2`,
			[organizationId, id, copy, device_id],
		);
		noteException(context, before, await readException(context, id));
		const added = await readException(context, copy);
		noteException(context, undefined, added, {
			continues_exception_id: { after: id },
		});
		context.happened({
			type: "exception.approved",
			record_id: copy,
			data: eventData(added),
		});
	}
}
