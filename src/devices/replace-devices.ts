import { z } from "zod";
import { textArray } from "../db/array.ts";
import { badFields } from "../errors.ts";
import { type Context, defineOperation } from "../operation.ts";
import { requireDevices } from "./device-changes.ts";
import { fleetInput, fleetOperation } from "./fleet-input.ts";
import {
	lockGroupsOfReplaced,
	type Succession,
	takeOverExceptions,
	takeOverGroups,
} from "./take-over.ts";

interface Pair extends Succession {
	name: string | null;
	predecessor_name: string | null;
	before: Kept;
	after: Kept;
	predecessor_status: string;
}

/** The values that the new record may take over from the earlier one. */
interface Kept {
	name: string | null;
	owner_id: string | null;
	claimed_owner_id: string | null;
	awaits_approval: boolean;
	hardware_uuid: string | null;
}

export const replaceDevices = defineOperation({
	...fleetOperation,
	name: "replaceDevices",
	title: "Same device, set up again",
	description:
		"Say that PENDING devices with the conflict DUPLICATE_HARDWARE are machines that already have a record, set up again. Each earlier device is revoked and becomes the predecessor. The new one takes over its groups, its exceptions, and its name and owner unless it has its own, counts as approved, and becomes ACTIVE with its next heartbeat.",
	isDestructive: true,
	input: fleetInput,
	output: z.object({
		replaced: z.array(
			z.object({ device_id: z.string(), predecessor_id: z.string() }),
		),
		unchanged_device_ids: z
			.array(z.string())
			.describe("Devices without such a conflict"),
	}),
	run: async (context, { device_ids }) => {
		const { client, membership } = context;
		const given = [membership.organizationId, textArray(device_ids)];
		await lockGroupsOfReplaced(context, device_ids);
		// Exchanging a token locks the token first and the device second, so this does the same.
		await client.query(
			`update enrollment_tokens t set revoked_at = now()
			from device_conflicts c
			where t.organization_id = $1 and t.device_id = c.other_device_id and t.revoked_at is null
				and c.organization_id = $1 and c.device_id = any($2::text[])
				and c.kind = 'DUPLICATE_HARDWARE'`,
			given,
		);
		await client.query(
			`select from devices d
			where d.organization_id = $1 and d.id = any(
				select unnest(array[c.device_id, c.other_device_id]) from device_conflicts c
				where c.organization_id = $1 and c.device_id = any($2::text[])
			)
			order by d.id for update`,
			given,
		);
		await requireDevices(context, device_ids);
		await requireNoOtherRecord(context, device_ids);
		const { rows } = await client.query<Pair>(REPLACE, given);
		for (const pair of rows) {
			context.changed({
				kind: "device",
				id: pair.predecessor_id,
				name: pair.predecessor_name,
				fields: {
					status: { before: pair.predecessor_status, after: "REVOKED" },
					successor_id: { after: pair.id },
				},
			});
			const fields = Object.keys(pair.before) as (keyof Kept)[];
			context.changed({
				kind: "device",
				id: pair.id,
				name: pair.name,
				fields: {
					predecessor_id: { after: pair.predecessor_id },
					...Object.fromEntries(
						fields
							.filter((field) => pair.before[field] !== pair.after[field])
							.map((field) => [
								field,
								{ before: pair.before[field], after: pair.after[field] },
							]),
					),
				},
			});
		}
		await takeOverGroups(context, rows);
		await takeOverExceptions(context, rows);
		const replaced = new Set(rows.map(({ id }) => id));
		return {
			replaced: rows.map(({ id, predecessor_id }) => ({
				device_id: id,
				predecessor_id,
			})),
			unchanged_device_ids: device_ids.filter((id) => !replaced.has(id)),
		};
	},
});

/**
 * Throws bad_request if a device already has another predecessor or a successor. A device has one
 * predecessor, so the earlier record would lose its successor.
 */
async function requireNoOtherRecord(
	{ client, membership }: Context,
	ids: readonly string[],
): Promise<void> {
	const { rows } = await client.query<{
		ordinal: number;
		linked_id: string;
		other_id: string;
	}>(
		`select g.n::int as ordinal, coalesce(s.id, d.predecessor_id) as linked_id, o.id as other_id
		from unnest($2::text[]) with ordinality g (id, n)
		join devices d on d.organization_id = $1 and d.id = g.id and d.status = 'PENDING'
		join device_conflicts c on c.organization_id = $1 and c.device_id = d.id
			and c.kind = 'DUPLICATE_HARDWARE'
		join devices o on o.organization_id = $1 and o.id = c.other_device_id and o.status <> 'REVOKED'
		left join lateral (
			select x.id from devices x
			where x.organization_id = $1 and x.predecessor_id = d.id
			order by x.created_at desc limit 1
		) s on true
		where d.predecessor_id <> o.id or s.id is not null
		order by g.n limit 5`,
		[membership.organizationId, textArray(ids)],
	);
	if (rows.length === 0) return;
	throw badFields(
		rows.map(({ ordinal, linked_id, other_id }) => ({
			field: `device_ids[${ordinal - 1}]`,
			message: `already shares its machine with the record ${linked_id}; to give it the hardware of ${other_id}, revoke ${other_id}`,
		})),
	);
}

const kept = (alias: string) => `jsonb_build_object(
	'name', ${alias}.name, 'owner_id', ${alias}.owner_id,
	'claimed_owner_id', ${alias}.claimed_owner_id, 'awaits_approval', ${alias}.awaits_approval,
	'hardware_uuid', left(${alias}.hardware_uuid, 1000)
)`;

// If several new devices have the hardware of one earlier device, the one that was seen last
// replaces it. It takes over the hardware at once, before its next heartbeat, so no other device can
// take the place of the earlier one. The claim ends when the new device is revoked or deleted. The
// others keep their conflict, which is then with the new device.
//
// A device that another one of the call replaces does not replace a third one.
const REPLACE = `
	with pairs as materialized (
		select distinct on (o.id)
			n.id, n.name, n.owner_id, n.claimed_owner_id, n.awaits_approval, n.hardware_uuid,
			o.id as old_id, o.name as old_name, o.owner_id as old_owner_id, o.status as old_status,
			o.hostname as old_hostname, o.hardware_uuid as old_hardware_uuid, o.hardware_hash,
			-- An owner of the new device settles the claim of the earlier one.
			case
				when n.owner_id is null then coalesce(n.claimed_owner_id, o.claimed_owner_id)
				else n.claimed_owner_id
			end as new_claim
		from device_conflicts c
		join devices n on n.organization_id = $1 and n.id = c.device_id and n.status = 'PENDING'
		join devices o on o.organization_id = $1 and o.id = c.other_device_id and o.status <> 'REVOKED'
			and o.hardware_hash = sha256(convert_to(c.hardware_uuid, 'UTF8'))
		where c.organization_id = $1 and c.kind = 'DUPLICATE_HARDWARE'
			and c.device_id = any($2::text[])
			and not exists (
				select from device_conflicts b
				where b.organization_id = $1 and b.device_id = o.id and b.device_id = any($2::text[])
					and b.kind = 'DUPLICATE_HARDWARE'
			)
		order by o.id, c.last_seen_at desc
	), revoked as (
		update devices d
		set status = 'REVOKED', revoked_at = now(), updated_at = now(), key_hash = null
		from pairs p
		where d.organization_id = $1 and d.id = p.old_id
		returning d.id
	), settled as (
		delete from device_conflicts c using pairs p
		where c.organization_id = $1 and c.device_id = p.id and c.kind = 'DUPLICATE_HARDWARE'
	), moved as (
		update device_conflicts c set other_device_id = p.id
		from pairs p
		where c.organization_id = $1 and c.other_device_id = p.old_id and c.device_id <> p.id
			and c.kind = 'DUPLICATE_HARDWARE'
			and p.hardware_hash = sha256(convert_to(c.hardware_uuid, 'UTF8'))
	)
	update devices d
	set
		predecessor_id = p.old_id,
		hardware_uuid = p.old_hardware_uuid,
		hardware_hash = p.hardware_hash,
		awaits_approval = false,
		name = coalesce(d.name, p.old_name),
		owner_id = coalesce(d.owner_id, p.old_owner_id),
		claimed_owner_id = case
			when p.new_claim is distinct from coalesce(d.owner_id, p.old_owner_id) then p.new_claim
		end,
		updated_at = now(),
		search_text = search_text(coalesce(d.name, p.old_name), d.hostname, d.serial_number)
	from pairs p
	where d.organization_id = $1 and d.id = p.id
		-- Reads what was revoked, so that the hardware is free before another device takes it.
		and (select count(*) from revoked) >= 0
	returning
		d.id, p.old_id as predecessor_id, coalesce(d.name, d.hostname) as name,
		coalesce(p.old_name, p.old_hostname) as predecessor_name, p.old_status as predecessor_status,
		${kept("p")} as before, ${kept("d")} as after`;
