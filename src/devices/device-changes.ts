import { textArray } from "../db/array.ts";
import { badFields } from "../errors.ts";
import { notFound } from "../invoke.ts";
import type { Change, Context } from "../operation.ts";
import { findDevice } from "./device-postures.ts";
import type { Device } from "./device-record.ts";

/**
 * Returns the device and locks its row until the end of the transaction. Throws not_found if there
 * is no such device.
 */
export async function lockDevice(
	context: Context,
	id: string,
): Promise<Device> {
	await context.client.query(
		"select from devices where organization_id = $1 and id = $2 for update",
		[context.membership.organizationId, id],
	);
	return readDevice(context, id);
}

/**
 * Locks the rows of devices until the end of the transaction. Returns the organization and the ids
 * as parameters of statements. Throws bad_request if a device does not exist.
 */
export async function lockDevices(
	context: Context,
	ids: readonly string[],
): Promise<unknown[]> {
	const { client, membership } = context;
	const given = [membership.organizationId, textArray([...new Set(ids)])];
	// The rows are locked in the order of their ids, so two calls cannot deadlock.
	await client.query(
		`select from devices d
		where d.organization_id = $1 and d.id = any($2::text[]) order by d.id for update`,
		given,
	);
	await requireDevices(context, ids);
	return given;
}

/**
 * Revokes the enrollment tokens of devices. Call this before locking the devices' rows, because
 * exchanging a token locks the token first and the device second.
 */
export async function revokeTokens(
	{ client, membership }: Context,
	deviceIds: readonly string[],
): Promise<void> {
	await client.query(
		`update enrollment_tokens set revoked_at = now()
		where organization_id = $1 and device_id = any($2::text[]) and revoked_at is null`,
		[membership.organizationId, textArray(deviceIds)],
	);
}

/** Returns the device. Throws not_found if there is no such device. */
export async function readDevice(
	{ client, membership }: Context,
	id: string,
): Promise<Device> {
	const found = await findDevice(client, membership.organizationId, id);
	if (!found) throw notFound(id);
	return found;
}

/**
 * Reads the device after a change. Notes for the audit log how the device differs from `before`.
 */
export async function readChangedDevice(
	context: Context,
	before: Device,
): Promise<Device> {
	const after = await readDevice(context, before.id);
	noteChange(context, before, after);
	return after;
}

/**
 * The fields that people change. Changes by the agent are recorded by the code that stores them.
 */
const AUDITED = [
	"name",
	"owner_id",
	"claimed_owner_id",
	"status",
	"hardware_uuid",
] as const;

/**
 * Notes a change for the audit log. An added device has no `before`, and a removed one has no
 * `after`.
 */
export function noteChange(
	context: Context,
	before: Device | undefined,
	after: Device | undefined,
	more: Change["fields"] = {},
): void {
	const record = (after ?? before) as Device;
	const fields: Change["fields"] = {};
	for (const field of AUDITED) {
		if ((before?.[field] ?? null) === (after?.[field] ?? null)) continue;
		fields[field] = {
			...(before && { before: before[field] }),
			...(after && { after: after[field] }),
		};
	}
	context.changed({
		kind: "device",
		id: record.id,
		name: record.name ?? record.hostname,
		fields: { ...fields, ...more },
	});
}

/** Throws a bad_request that names the first devices that do not exist. */
export async function requireDevices(
	{ client, membership }: Context,
	ids: readonly string[],
	field = "device_ids",
): Promise<void> {
	const { rows } = await client.query<{ ordinal: number; id: string }>(
		`select n::int as ordinal, g.id from unnest($2::text[]) with ordinality g (id, n)
		where not exists (select from devices d where d.organization_id = $1 and d.id = g.id)
		order by n limit 5`,
		[membership.organizationId, textArray(ids)],
	);
	if (rows.length === 0) return;
	throw badFields(
		rows.map(({ ordinal, id }) => ({
			field: `${field}[${ordinal - 1}]`,
			message: `there is no device ${id} in this organization (listDevices returns the ids)`,
		})),
	);
}
