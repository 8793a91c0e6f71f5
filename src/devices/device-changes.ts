import { notFound } from "../invoke.ts";
import type { Change, Context } from "../operation.ts";
import { type Device, findDevice } from "./device-record.ts";

/** The device, which must exist, locked until the transaction ends. */
export async function locked(context: Context, id: string): Promise<Device> {
	await context.client.query(
		"select from devices where organization_id = $1 and id = $2 for update",
		[context.membership.organizationId, id],
	);
	return existing(context, id);
}

export async function existing(
	{ client, membership }: Context,
	id: string,
): Promise<Device> {
	const found = await findDevice(client, membership.organizationId, id);
	if (!found) throw notFound(id);
	return found;
}

/** The device as it is now; notes what differs. */
export async function changed(
	context: Context,
	before: Device,
): Promise<Device> {
	const after = await existing(context, before.id);
	noteChange(context, before, after);
	return after;
}

/** The fields that people change; what an agent says of its device it logs itself. */
const AUDITED = ["name", "owner_id", "status", "hardware_uuid"] as const;

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
