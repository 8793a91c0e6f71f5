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
 * Lists the devices without an owner whose installers named this person, the newest first. A device
 * that has an owner is not among them, because the person must not take it from somebody else. One
 * without a name and a serial number is not either, because nobody can recognize it.
 */
export async function readClaimedDevices(
	client: PoolClient,
	organizationId: string,
	personId: string,
): Promise<z.output<typeof claimedDevice>[]> {
	const { rows } = await client.query<z.output<typeof claimedDevice>>({
		name: "devices.claimed",
		text: `
			select d.id, coalesce(d.name, d.hostname) as name, d.platform, d.serial_number, d.enrolled_at
			from devices d
			where d.organization_id = $1 and d.claimed_owner_id = $2 and d.owner_id is null
				and d.status <> 'REVOKED'
				and coalesce(d.name, d.hostname, d.serial_number) is not null
			order by d.enrolled_at desc nulls last, d.id
			limit ${MAX_CLAIMS}`,
		values: [organizationId, personId],
	});
	return rows;
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
			claimed === person && owner === null && before.status !== "REVOKED";
		if (!isAsked) {
			throw new AppError(
				"not_found",
				`device ${id} does not wait for your answer: its installer did not name you, or somebody has settled its owner`,
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
