import { notFound } from "../invoke.ts";
import type { Change, Context } from "../operation.ts";
import { type Device, findDevice } from "./device-record.ts";

/** Returns the device and locks its row until the transaction ends. Throws not_found. */
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

/** Returns the device. Throws not_found. */
export async function readDevice(
	{ client, membership }: Context,
	id: string,
): Promise<Device> {
	const found = await findDevice(client, membership.organizationId, id);
	if (!found) throw notFound(id);
	return found;
}

/** Reads the device after a change and notes for the audit log what differs from `before`. */
export async function readChangedDevice(
	context: Context,
	before: Device,
): Promise<Device> {
	const after = await readDevice(context, before.id);
	noteChange(context, before, after);
	return after;
}

/** The fields that people change. The agent's own changes are logged where they are stored. */
const AUDITED = ["name", "owner_id", "status", "hardware_uuid"] as const;

/** Notes a change for the audit log: an addition without `before`, a removal without `after`. */
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
