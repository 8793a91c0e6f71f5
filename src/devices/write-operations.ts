import { z } from "zod";
import { badFields } from "../errors.ts";
import { type Change, type Context, defineOperation } from "../operation.ts";
import {
	linkedRecordIds,
	requireWanted,
	storeLinks,
} from "../records/link-new-records.ts";
import { noteLostLinks } from "../records/links.ts";
import { organizationId } from "../records/list-pages.ts";
import { idSchema, nameSchema } from "../records/text-schemas.ts";
import { requireUnchanged, unchangedShape } from "../records/unchanged.ts";
import {
	lockDevice,
	noteChange,
	readChangedDevice,
	readDevice,
	revokeTokens,
} from "./device-changes.ts";
import { device, deviceId } from "./device-record.ts";
import {
	type CreatedToken,
	createDevice,
	createEnrollmentToken,
	DEFAULT_TOKEN_DAYS,
	MAX_TOKEN_DAYS,
} from "./enrollment.ts";

export const tokenDays = z
	.int()
	.min(1)
	.max(MAX_TOKEN_DAYS)
	.optional()
	.describe(
		`Days until the enrollment token expires, ${DEFAULT_TOKEN_DAYS} by default`,
	);

const name = nameSchema().nullable().optional();
const ownerId = idSchema("people")
	.nullable()
	.optional()
	.describe("Person who uses it");

const withToken = z.object({
	device,
	enrollment_token_id: z.string(),
	enrollment_token: z
		.string()
		.describe(
			"A secret that works once and is shown only now. Keep it out of logs",
		),
	enrollment_token_expires_at: z.string(),
	server_url: z
		.string()
		.describe("Address of the service, which the agent needs too"),
});

export const addDevice = defineOperation({
	name: "addDevice",
	title: "Add a device",
	description:
		"Add a device and get the one-shot enrollment token that its agent needs, shown only now. It is PENDING until its agent's first heartbeat.",
	toolset: "devices",
	access: "admin",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		name: name.describe("The name that people give it"),
		owner_id: ownerId,
		enrollment_token_expires_in_days: tokenDays,
		linked_record_ids: linkedRecordIds(),
	}),
	output: withToken,
	run: async (context, input) => {
		const linked = await requireWanted(context, input.linked_record_ids);
		const created = await explainMissingOwner(input.owner_id, () =>
			createDevice(context.client, {
				organizationId: input.organization_id,
				name: input.name ?? undefined,
				ownerId: input.owner_id,
				tokenDays: input.enrollment_token_expires_in_days ?? DEFAULT_TOKEN_DAYS,
				createdBy: context.principal.name,
			}),
		);
		const added = await readDevice(context, created.device_id);
		noteChange(context, undefined, added, expiryOf(created));
		await storeLinks(
			context,
			{ kind: "device", id: added.id, name: added.name },
			linked,
		);
		return { device: added, ...tokenResult(context, created) };
	},
});

export const updateDevice = defineOperation({
	name: "updateDevice",
	title: "Update a device",
	description:
		"Change the name or owner of a device. Only the given fields change; null clears one. The agent reports everything else.",
	toolset: "devices",
	access: "write",
	isIdempotent: true,
	tenant: "id",
	input: z.strictObject({
		id: deviceId(),
		name: name.describe("The name that people give it"),
		owner_id: ownerId,
		...unchangedShape,
	}),
	output: z.object({ device }),
	run: async (context, input) => {
		const before = await lockDevice(context, input.id);
		requireUnchanged("device", before, input.if_updated_at);
		const wanted = {
			name: input.name === undefined ? before.name : input.name,
			owner_id: input.owner_id === undefined ? before.owner_id : input.owner_id,
		};
		// Naming an owner, or nobody, settles what the installer claimed.
		const settles =
			input.owner_id !== undefined && before.claimed_owner_id !== null;
		if (
			wanted.name === before.name &&
			wanted.owner_id === before.owner_id &&
			!settles
		) {
			return { device: before };
		}
		await explainMissingOwner(wanted.owner_id, () =>
			context.client.query(
				`update devices t
				set
					name = $3, owner_id = $4, updated_at = now(),
					claimed_owner_id = case when not $5 then t.claimed_owner_id end,
					search_text = search_text($3, t.hostname, t.serial_number)
				where t.organization_id = $1 and t.id = $2`,
				[
					before.organization_id,
					before.id,
					wanted.name,
					wanted.owner_id,
					settles,
				],
			),
		);
		return { device: await readChangedDevice(context, before) };
	},
});

export const revokeDevice = defineOperation({
	name: "revokeDevice",
	title: "Revoke a device",
	description:
		"Take a device out of service. Its key and open enrollment tokens stop working at once. Its history stays. reissueEnrollmentToken brings it back.",
	toolset: "devices",
	access: "admin",
	isDestructive: true,
	isIdempotent: true,
	tenant: "id",
	input: z.strictObject({ id: deviceId() }),
	output: z.object({ device }),
	run: async (context, { id }) => {
		await revokeTokens(context, [id]);
		const before = await lockDevice(context, id);
		if (before.status === "REVOKED") return { device: before };
		await context.client.query(
			`update devices
			set status = 'REVOKED', revoked_at = now(), updated_at = now(), key_hash = null
			where organization_id = $1 and id = $2`,
			[before.organization_id, id],
		);
		return { device: await readChangedDevice(context, before) };
	},
});

export const reissueEnrollmentToken = defineOperation({
	name: "reissueEnrollmentToken",
	title: "Reissue an enrollment token",
	description:
		"Get a new one-shot enrollment token for an existing device whose agent was reinstalled, whose token expired, or which was revoked. Earlier open tokens stop working. A key in use works until the new token is exchanged. A revoked device becomes PENDING. A device that waits for approval keeps waiting.",
	toolset: "devices",
	access: "admin",
	tenant: "id",
	input: z.strictObject({
		id: deviceId(),
		enrollment_token_expires_in_days: tokenDays,
	}),
	output: withToken,
	run: async (context, input) => {
		await revokeTokens(context, [input.id]);
		const before = await lockDevice(context, input.id);
		if (before.status === "REVOKED") {
			// Another device may use the hardware by now, so the row no longer claims it. The device's
			// first heartbeat claims the hardware again.
			await context.client.query(
				`update devices
				set
					status = 'PENDING', revoked_at = null, updated_at = now(),
					hardware_uuid = null, hardware_hash = null
				where organization_id = $1 and id = $2`,
				[before.organization_id, before.id],
			);
		}
		const token = await createEnrollmentToken(context.client, {
			organizationId: before.organization_id,
			deviceId: before.id,
			name: before.name ?? before.hostname?.slice(0, 200).toWellFormed(),
			tokenDays: input.enrollment_token_expires_in_days ?? DEFAULT_TOKEN_DAYS,
			createdBy: context.principal.name,
		});
		const after = await readDevice(context, before.id);
		noteChange(context, before, after, expiryOf(token));
		return { device: after, ...tokenResult(context, token) };
	},
});

export const deleteDevice = defineOperation({
	name: "deleteDevice",
	title: "Delete a device",
	description:
		"Delete a device permanently, with its posture history, reports and links. To keep the history as proof, revoke the device instead.",
	toolset: "devices",
	access: "admin",
	isDestructive: true,
	isIdempotent: true,
	tenant: "id",
	input: z.strictObject({ id: deviceId() }),
	output: z.object({ deleted_device_id: z.string() }),
	run: async (context, { id }) => {
		const { client, membership } = context;
		const of = [membership.organizationId, id];
		// The statement takes the same lock as agent_store_postures, which stores the device's reports.
		// A report that is being stored finishes first, and the next report finds no device. Storing a
		// report takes this lock before it locks a row, so this code does the same.
		await client.query(
			`select pg_advisory_xact_lock(('x' || encode(substring(key_hash for 8), 'hex'))::bit(64)::bigint)
			from devices where organization_id = $1 and id = $2 and key_hash is not null`,
			of,
		);
		await client.query(
			"delete from enrollment_tokens where organization_id = $1 and device_id = $2",
			of,
		);
		const before = await lockDevice(context, id);
		const links = await noteLostLinks(context, {
			kind: "device",
			id,
			name: before.name ?? before.hostname,
		});
		for (const table of ["posture_reports", "packed_posture_reports"]) {
			await client.query(
				`delete from ${table} where organization_id = $1 and device_id = $2`,
				of,
			);
		}
		await client.query(
			"delete from devices where organization_id = $1 and id = $2",
			of,
		);
		noteChange(context, before, undefined, links);
		return { deleted_device_id: id };
	},
});

function expiryOf(token: CreatedToken): Change["fields"] {
	return { enrollment_token_expires_at: { after: token.expires_at } };
}

function tokenResult({ services }: Context, token: CreatedToken) {
	return {
		enrollment_token_id: token.enrollment_token_id,
		enrollment_token: token.enrollment_token,
		enrollment_token_expires_at: token.expires_at,
		server_url: services.baseUrl,
	};
}

/**
 * Runs `work` and turns the database's error about an owner who does not exist into a bad_request.
 */
async function explainMissingOwner<Result>(
	ownerId: string | null | undefined,
	work: () => Promise<Result>,
): Promise<Result> {
	try {
		return await work();
	} catch (error) {
		if (
			(error as { constraint?: string }).constraint === "devices_owner_id_fkey"
		) {
			throw badFields([
				{
					field: "owner_id",
					message: `must be the id of a person in this organization, not ${ownerId}; listPeople returns the ids`,
				},
			]);
		}
		throw error;
	}
}
