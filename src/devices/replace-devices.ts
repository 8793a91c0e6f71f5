import { z } from "zod";
import { textArray } from "../db/array.ts";
import { badFields } from "../errors.ts";
import { type Context, defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { idSchema } from "../records/text-schemas.ts";
import { requireDevices } from "./device-changes.ts";
import { deviceId } from "./device-record.ts";
import { fleetOperation } from "./fleet-input.ts";
import { MAX_DEVICES_OF_CALL } from "./fleet-limits.ts";
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
	hardware_uuid: string | null;
}

/** A device, and the earlier record that the caller means. */
interface Expected {
	device_id: string;
	predecessor_id: string;
}

export const replaceDevices = defineOperation({
	...fleetOperation,
	name: "replaceDevices",
	title: "Same device, set up again",
	description:
		"Say that approved devices with the conflict DUPLICATE_HARDWARE are machines with an earlier record, set up again. That record is revoked. The new one takes over groups, exceptions, and name and owner unless it has its own, and is ACTIVE from its next heartbeat.",
	isDestructive: true,
	input: z.strictObject({
		organization_id: organizationId(),
		devices: z
			.array(
				z.strictObject({
					device_id: deviceId(),
					predecessor_id: idSchema("device").describe(
						"Its duplicate_of; rejected if that changed",
					),
				}),
			)
			.min(1)
			.max(MAX_DEVICES_OF_CALL)
			.describe(`Up to ${MAX_DEVICES_OF_CALL}`),
	}),
	output: z.object({
		replaced: z.array(
			z.object({ device_id: z.string(), predecessor_id: z.string() }),
		),
		unchanged_device_ids: z
			.array(z.string())
			.describe("Devices that had replaced it before"),
	}),
	run: async (context, { devices }) => {
		const { client } = context;
		requireDistinct(devices);
		const given = parametersOf(context, devices);
		await lockGroupsOfReplaced(
			context,
			devices.map(({ predecessor_id }) => predecessor_id),
		);
		// Exchanging a token locks the token first and the device second, so this does the same.
		await client.query(
			`update enrollment_tokens t set revoked_at = now()
			from unnest($2::text[], $3::text[]) g (id, predecessor_id)
			join device_conflicts c on c.organization_id = $1 and c.device_id = g.id
				and c.other_device_id = g.predecessor_id and c.kind = 'DUPLICATE_HARDWARE'
			where t.organization_id = $1 and t.device_id = g.predecessor_id and t.revoked_at is null`,
			given,
		);
		// A heartbeat locks its device before it changes the conflict, so the conflicts stay as they are.
		await client.query(
			`select from devices d
			where d.organization_id = $1 and d.id = any($2::text[] || $3::text[])
			order by d.id for update`,
			given,
		);
		await requireDevices(
			context,
			devices.map(({ device_id }) => device_id),
			"devices",
		);
		const due = await requireExpected(context, devices);
		const { rows } = await client.query<Pair>(
			REPLACE,
			parametersOf(context, due),
		);
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
			unchanged_device_ids: devices
				.map(({ device_id }) => device_id)
				.filter((id) => !replaced.has(id)),
		};
	},
});

const parametersOf = (
	{ membership }: Context,
	devices: readonly Expected[],
): unknown[] => [
	membership.organizationId,
	textArray(devices.map(({ device_id }) => device_id)),
	textArray(devices.map(({ predecessor_id }) => predecessor_id)),
];

/**
 * Throws bad_request if a device occurs twice. A record has one successor, and a device that the
 * call revokes cannot replace another one.
 */
function requireDistinct(devices: readonly Expected[]): void {
	const seen = new Set<string>();
	const issues = devices.flatMap((pair, index) =>
		(["device_id", "predecessor_id"] as const).flatMap((name) => {
			const id = pair[name];
			if (!seen.has(id)) {
				seen.add(id);
				return [];
			}
			const field = `devices[${index}].${name}`;
			return [{ field, message: `${id} occurs twice in this call` }];
		}),
	);
	if (issues.length > 0) throw badFields(issues.slice(0, MAX_ISSUES));
}

const MAX_ISSUES = 5;

interface Found extends Expected {
	ordinal: number;
	awaits_approval: boolean;
	/** The device in service that has the hardware which the new one reports. */
	other_id: string | null;
	/** The device shares its machine with this record already. */
	linked_id: string | null;
	is_done: boolean;
}

/**
 * Returns the devices that are to be replaced, without those for which a call did so before. Throws
 * bad_request if a device reports the hardware of another record than the caller expects, if it
 * awaits approval, or if it already has another predecessor or a successor. A device has one
 * predecessor, so the earlier record would lose its successor.
 */
async function requireExpected(
	context: Context,
	devices: readonly Expected[],
): Promise<Expected[]> {
	const { rows } = await context.client.query<Found>(
		`select
			g.n::int as ordinal, g.id as device_id, g.predecessor_id, d.awaits_approval,
			o.id as other_id,
			coalesce(s.id, case when d.predecessor_id <> g.predecessor_id then d.predecessor_id end)
				as linked_id,
			d.predecessor_id is not distinct from g.predecessor_id
				and o.id is distinct from g.predecessor_id as is_done
		from unnest($2::text[], $3::text[]) with ordinality g (id, predecessor_id, n)
		join devices d on d.organization_id = $1 and d.id = g.id
		left join device_conflicts c on c.organization_id = $1 and c.device_id = d.id
			and c.kind = 'DUPLICATE_HARDWARE' and d.status = 'PENDING'
		left join devices o on o.organization_id = $1 and o.id = c.other_device_id
			and o.status <> 'REVOKED'
			and o.hardware_hash = sha256(convert_to(c.hardware_uuid, 'UTF8'))
		left join lateral (
			select x.id from devices x
			where x.organization_id = $1 and x.predecessor_id = d.id
			order by x.created_at desc limit 1
		) s on true
		order by g.n`,
		parametersOf(context, devices),
	);
	const due = rows.filter(({ is_done }) => !is_done);
	const issues = due.flatMap((one) => {
		const message = reasonAgainst(one);
		const field = `devices[${one.ordinal - 1}]`;
		return message ? [{ field, message: `${one.device_id} ${message}` }] : [];
	});
	if (issues.length > 0) throw badFields(issues.slice(0, MAX_ISSUES));
	return due;
}

/** Says why a device does not take the place of the earlier record. */
function reasonAgainst(found: Found): string | undefined {
	const { other_id, predecessor_id, linked_id, awaits_approval } = found;
	if (!other_id) {
		return `is not PENDING with the hardware of ${predecessor_id}`;
	}
	if (other_id !== predecessor_id) {
		return `reports the hardware of ${other_id}, not of ${predecessor_id}`;
	}
	if (linked_id) {
		return `already shares its machine with the record ${linked_id}; to give it the hardware of ${other_id}, revoke ${other_id}`;
	}
	return awaits_approval ? "awaits approval: approve it first" : undefined;
}

const kept = (alias: string) => `jsonb_build_object(
	'name', ${alias}.name, 'owner_id', ${alias}.owner_id,
	'claimed_owner_id', ${alias}.claimed_owner_id,
	'hardware_uuid', left(${alias}.hardware_uuid, 1000)
)`;

// The new device takes over the hardware at once, before its next heartbeat, so no other device can
// take the place of the earlier one. The claim ends when the new device is revoked or deleted. Others
// with the hardware keep their conflict, which is then with the new device.
const REPLACE = `
	with pairs as materialized (
		select
			n.id, n.name, n.owner_id, n.claimed_owner_id, n.hardware_uuid,
			o.id as old_id, o.name as old_name, o.owner_id as old_owner_id, o.status as old_status,
			o.hostname as old_hostname, o.hardware_uuid as old_hardware_uuid, o.hardware_hash,
			-- An owner of the new device settles the claim of the earlier one.
			case
				when n.owner_id is null then coalesce(n.claimed_owner_id, o.claimed_owner_id)
				else n.claimed_owner_id
			end as new_claim
		from unnest($2::text[], $3::text[]) g (id, predecessor_id)
		join devices n on n.organization_id = $1 and n.id = g.id
		join devices o on o.organization_id = $1 and o.id = g.predecessor_id
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
