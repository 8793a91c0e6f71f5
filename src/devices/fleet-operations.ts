import { z } from "zod";
import { type Context, defineOperation } from "../operation.ts";
import { lockDevices, revokeTokens } from "./device-changes.ts";
import { fleetInput, fleetOperation } from "./fleet-input.ts";
import { reissueEnrollmentTokens } from "./reissue-tokens.ts";
import { replaceDevices } from "./replace-devices.ts";

const output = z.object({
	changed_device_ids: z.array(z.string()),
	unchanged_device_ids: z
		.array(z.string())
		.describe("Devices that the call does not concern"),
});

interface Changed {
	id: string;
	name: string | null;
	/** The values of `fields` in the order in which a call names them. */
	before: (string | boolean | null)[];
	after: (string | boolean | null)[];
}

export const approveDevices = defineOperation({
	...fleetOperation,
	name: "approveDevices",
	title: "Approve devices",
	description:
		"Approve devices whose enrollment key requires it. Each becomes ACTIVE with its next heartbeat. listDevices finds them with the filter awaits_approval.",
	input: fleetInput,
	output,
	run: (context, { device_ids }) =>
		changeDevices(
			context,
			device_ids,
			["awaits_approval"],
			`update devices d set awaits_approval = false, updated_at = now()
			from locked b
			where d.organization_id = $1 and d.id = b.id and b.awaits_approval and b.status = 'PENDING'
			returning d.id, coalesce(d.name, d.hostname) as name,
				jsonb_build_array(true) as before, jsonb_build_array(false) as after`,
		),
});

export const rejectDevices = defineOperation({
	...fleetOperation,
	name: "rejectDevices",
	title: "Reject devices",
	description:
		"Reject devices that wait for approval. They are revoked, and their keys stop working at once.",
	isDestructive: true,
	input: fleetInput,
	output,
	run: (context, { device_ids }) =>
		changeDevices(
			context,
			device_ids,
			["status"],
			`update devices d
			set status = 'REVOKED', revoked_at = now(), updated_at = now(), key_hash = null
			from locked b
			where d.organization_id = $1 and d.id = b.id and b.awaits_approval and b.status = 'PENDING'
			returning d.id, coalesce(d.name, d.hostname) as name,
				jsonb_build_array(b.status) as before, jsonb_build_array(d.status) as after`,
		),
});

export const confirmDeviceOwners = defineOperation({
	...fleetOperation,
	name: "confirmDeviceOwners",
	title: "Confirm claimed owners",
	description:
		"Make the person whom the installer named (claimed_owner_id) the owner of each device. To turn a claim down, set the owner with updateDevice.",
	input: fleetInput,
	output,
	run: (context, { device_ids }) =>
		changeDevices(
			context,
			device_ids,
			["owner_id", "claimed_owner_id"],
			`update devices d
			set owner_id = b.claimed_owner_id, claimed_owner_id = null, updated_at = now()
			from locked b
			where d.organization_id = $1 and d.id = b.id and b.claimed_owner_id is not null
			returning d.id, coalesce(d.name, d.hostname) as name,
				jsonb_build_array(b.owner_id, b.claimed_owner_id) as before,
				jsonb_build_array(d.owner_id, null) as after`,
		),
});

export const revokeDevices = defineOperation({
	...fleetOperation,
	name: "revokeDevices",
	title: "Revoke devices",
	description:
		"Take devices out of service, as revokeDevice does for one. Their keys and open enrollment tokens stop working at once. Their history stays.",
	isDestructive: true,
	input: fleetInput,
	output,
	run: async (context, { device_ids }) => {
		await revokeTokens(context, device_ids);
		return changeDevices(
			context,
			device_ids,
			["status"],
			`update devices d
			set status = 'REVOKED', revoked_at = now(), updated_at = now(), key_hash = null
			from locked b
			where d.organization_id = $1 and d.id = b.id and b.status <> 'REVOKED'
			returning d.id, coalesce(d.name, d.hostname) as name,
				jsonb_build_array(b.status) as before, jsonb_build_array(d.status) as after`,
		);
	},
});

/**
 * Changes devices with one statement and notes a change of each for the audit log. The statement
 * finds the locked rows of the devices, as they were, in `locked`, and the values of `more` from $3
 * on. `fields` names what it returns in
 * `before` and `after`. Throws bad_request if a device does not exist.
 */
export async function changeDevices(
	context: Context,
	ids: readonly string[],
	fields: readonly string[],
	statement: string,
	more: readonly unknown[] = [],
): Promise<z.output<typeof output>> {
	const { client } = context;
	const given = await lockDevices(context, ids);
	const { rows } = await client.query<Changed>(
		`with locked as materialized (
			select * from devices where organization_id = $1 and id = any($2::text[])
		) ${statement}`,
		[...given, ...more],
	);
	for (const { id, name, before, after } of rows) {
		context.changed({
			kind: "device",
			id,
			name,
			fields: Object.fromEntries(
				fields.map((field, at) => [
					field,
					{ before: before[at], after: after[at] },
				]),
			),
		});
	}
	const changed = new Set(rows.map(({ id }) => id));
	return {
		changed_device_ids: [...changed],
		unchanged_device_ids: [...new Set(ids)].filter((id) => !changed.has(id)),
	};
}

export const fleetOperations = [
	approveDevices,
	rejectDevices,
	confirmDeviceOwners,
	revokeDevices,
	reissueEnrollmentTokens,
	replaceDevices,
] as const;
