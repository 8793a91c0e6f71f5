import type { PoolClient } from "pg";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { defineOperation } from "../operation.ts";
import { findPersonOf } from "../organizations/person-of-member.ts";
import { lockDevice, readChangedDevice } from "./device-changes.ts";
import { device, deviceId } from "./device-record.ts";

/** Most devices for which a person is asked at a time. */
export const MAX_CLAIMS = 10;

export const claimedDevice = z.object({
	id: z.string(),
	name: z.string().nullable(),
	platform: z.string().nullable(),
	serial_number: z.string().nullable(),
	enrolled_at: z.string().nullable(),
});

/**
 * Lists the devices without an owner whose installers named this person. These are not among them:
 *
 * - A device that has an owner, because the person must not take it from somebody else.
 * - A device that awaits approval, because an administrator may still reject it.
 * - A device without a name and a serial number, because nobody can recognize it.
 *
 * The enrollment keys take turns, each with its newest device first. Somebody who enrolls many
 * devices with one key therefore takes the places of no device of another key.
 */
export async function readClaimedDevices(
	client: PoolClient,
	organizationId: string,
	personId: string,
): Promise<{ devices: z.output<typeof claimedDevice>[]; hasMore: boolean }> {
	const { rows } = await client.query<z.output<typeof claimedDevice>>({
		name: "devices.claimed",
		text: `
			select c.id, c.name, c.platform, c.serial_number, c.enrolled_at
			from (
				select
					d.id, coalesce(d.name, d.hostname) as name, d.platform, d.serial_number, d.enrolled_at,
					row_number() over (
						partition by d.enrollment_key_id order by d.enrolled_at desc nulls last, d.id
					) as turn
				from devices d
				where d.organization_id = $1 and d.claimed_owner_id = $2 and d.owner_id is null
					and d.status <> 'REVOKED' and not d.awaits_approval
					and coalesce(d.name, d.hostname, d.serial_number) is not null
			) c
			order by c.turn, c.enrolled_at desc nulls last, c.id
			limit ${MAX_CLAIMS + 1}`,
		values: [organizationId, personId],
	});
	return {
		devices: rows.slice(0, MAX_CLAIMS),
		hasMore: rows.length > MAX_CLAIMS,
	};
}

/**
 * Needs a session, so neither an API token nor a connected AI client can adopt a device for its
 * user.
 */
export const answerDeviceClaim = defineOperation({
	name: "answerDeviceClaim",
	title: "Say whether a device is yours",
	description:
		"Say whether a device whose installer named you as its owner is yours. If it is, you become its owner. If it is not, the device stays without an owner.",
	toolset: "devices",
	surface: "console",
	access: "read",
	isReadOnly: false,
	isIdempotent: true,
	tenant: "id",
	input: z.strictObject({ id: deviceId(), is_mine: z.boolean() }),
	output: z.object({ device }),
	run: async (context, { id, is_mine }) => {
		const { client, membership, principal } = context;
		const person = await findPersonOf(
			client,
			membership.organizationId,
			principal.userId,
		);
		const before = await lockDevice(context, id);
		const { owner_id: owner, claimed_owner_id: claimed } = before;
		const wanted = is_mine ? person : null;
		if (person && claimed === null && owner === wanted) {
			return { device: before };
		}
		const isAsked =
			claimed === person &&
			owner === null &&
			!before.awaits_approval &&
			before.status !== "REVOKED";
		if (!isAsked) {
			throw new AppError(
				"not_found",
				`device ${id} does not wait for your answer: its installer did not name you, somebody has settled its owner, or an administrator has to approve it first`,
			);
		}
		await client.query(
			`update devices set owner_id = $3, claimed_owner_id = null, updated_at = now()
			where organization_id = $1 and id = $2`,
			[membership.organizationId, id, wanted],
		);
		return { device: await readChangedDevice(context, before) };
	},
});
