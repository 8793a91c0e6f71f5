import { z } from "zod";
import { AppError } from "../errors.ts";
import { makeId } from "../id.ts";
import { type Context, defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { lockDevice, noteChange, readDevice } from "./device-changes.ts";
import { device } from "./device-record.ts";

/**
 * An unknown key that was used while such keys get 503. The service has not verified the other
 * fields.
 */
export interface UnknownKey {
	/** The SHA-256 of the key, in hexadecimal. */
	key_hash: string;
	first_seen_at: string;
	last_seen_at: string;
	requests: string;
	address: string | null;
	hardware_uuid: string | null;
	serial_number: string | null;
	hostname: string | null;
	platform: string | null;
}

/** SQL of the columns of an unknown key `u`. */
export const UNKNOWN_KEY_COLUMNS = `
	encode(u.key_hash, 'hex') as key_hash, u.first_seen_at, u.last_seen_at, u.requests, u.address,
	u.hardware_uuid, u.serial_number, u.hostname, u.platform`;

/**
 * Gives an unknown key to a device of the organization: to the live device with the hardware that
 * the key's heartbeats named, or else to a new PENDING device. Only the command line offers this,
 * because somebody with access to the server must decide which keys to trust.
 */
export const adoptDevice = defineOperation({
	name: "adoptDevice",
	title: "Adopt a device",
	description: "Give a device an unknown key that is in use.",
	toolset: "devices",
	access: "admin",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		key_hash: z.string().regex(/^[0-9a-f]{64}$/),
	}),
	output: z.object({ device }),
	run: async (context, { organization_id, key_hash }) => {
		const { client } = context;
		const { rows } = await client.query<UnknownKey>(
			`select ${UNKNOWN_KEY_COLUMNS} from take_unknown_device_key($1) u`,
			[`\\x${key_hash}`],
		);
		const [key] = rows;
		if (!key) {
			throw new AppError(
				"not_found",
				`no device uses the unknown key ${key_hash.slice(0, 12)}`,
			);
		}
		const adopted = { adopted_key: { after: key_hash.slice(0, 12) } };
		const { rows: found } = await client.query<{ id: string }>(
			`select id from devices
			where organization_id = $1 and hardware_uuid = $2 and status <> 'REVOKED'
			limit 1`,
			[organization_id, key.hardware_uuid],
		);
		const id = found[0]?.id;
		if (id === undefined) {
			const added = await addDeviceWithKey(context, organization_id, key_hash);
			noteChange(context, undefined, added, adopted);
			return { device: added };
		}
		const before = await lockDevice(context, id);
		await client.query(
			`update devices set key_hash = $3, enrolled_at = now(), updated_at = now()
			where organization_id = $1 and id = $2`,
			[organization_id, id, `\\x${key_hash}`],
		);
		const after = await readDevice(context, id);
		noteChange(context, before, after, adopted);
		return { device: after };
	},
});

async function addDeviceWithKey(
	context: Context,
	organization: string,
	keyHash: string,
) {
	const id = makeId(organization, "device");
	await context.client.query(
		`insert into devices (organization_id, id, key_hash, enrolled_at)
		values ($1, $2, $3, now())`,
		[organization, id, `\\x${keyHash}`],
	);
	return readDevice(context, id);
}
